#include "../../../close.hpp"
#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

#include <cmath>
#include <limits>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor;

namespace {

/// Returns mean and variance of the elements at the positions with each key.
template <class F>
std::pair<Values, Values> moments(const Values& x, std::size_t keys, F key) {
  Values mean(keys), variance(keys), count(keys);
  for (std::size_t i = 0; i < x.size(); ++i) mean[key(i)] += x[i], ++count[key(i)];
  for (std::size_t k = 0; k < keys; ++k) mean[k] /= count[k];
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = x[i] - mean[key(i)];
    variance[key(i)] += difference * difference / count[key(i)];
  }
  return {mean, variance};
}

nn::Layer from(const char* json) { return nn::Layer::from_value(nn::from_json(json)); }

}  // namespace

TEST_CASE("normalization learns a mean and a variance for each index of its axes") {
  const Tensor data = normal({6, 3, 4}), x = normal({2, 3, 4}, 2);
  struct Case {
    ktape::Axes axis;
    Shape shape;
    std::size_t (*key)(std::size_t);
  };
  for (const Case& c : {Case{-1, {4}, [](std::size_t i) { return i % 4; }},
                        Case{1, {3}, [](std::size_t i) { return i / 4 % 3; }},
                        Case{{2, 1}, {3, 4}, [](std::size_t i) { return i % 12; }},
                        Case{None, {}, [](std::size_t) { return std::size_t{0}; }}}) {
    const nn::Normalization layer({.axis = c.axis, .dtype = "float64"});
    const nn::Normalization back({.axis = c.axis, .invert = true, .dtype = "float64"});
    layer.adapt(data), back.adapt(data);
    const auto [mean, variance] = moments(values(data), static_cast<std::size_t>(c.shape.count()), c.key);
    CHECK(layer.get_weights()[0].shape() == c.shape);
    const Values y = values(layer(x)), given = values(x), again = values(back(layer(x)));
    for (std::size_t i = 0; i < y.size(); ++i) {
      CHECK(close(y[i], (given[i] - mean[c.key(i)]) / std::sqrt(variance[c.key(i)]), {.rtol = 1e-5}));
      CHECK(close(again[i], given[i], {.rtol = 1e-5}));
    }
    CHECK(values(layer.get_weights()[2])[0] == static_cast<double>(72 / c.shape.count()));
  }
}

TEST_CASE("normalization learns equal statistics from batches and from all data, far from zero too") {
  const Tensor data = normal({90, 2}) + 1e6;
  const nn::Normalization whole({.dtype = "float64"}), batches({.dtype = "float64"});
  whole.adapt(data);
  batches.reset_state();
  for (const auto& [start, stop] : {std::pair{0, 1}, {1, 40}, {40, 90}})
    batches.update_state(data[{ktape::Slice(start, stop)}]);
  batches.finalize_state();
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(close(values(batches.get_weights()[0])[i], values(whole.get_weights()[0])[i], {.rtol = 1e-5}));
    CHECK(close(values(batches.get_weights()[1])[i], values(whole.get_weights()[1])[i], {.rtol = 1e-9}));
  }
  whole.adapt(data[{ktape::Slice(0, 40)}] * 0);  // earlier statistics are discarded
  CHECK(values(whole.get_weights()[0]) == Values{0, 0});
}

TEST_CASE("normalization takes a mean and a variance that broadcast, and divides by 1e-7 at least") {
  const Tensor x = counted({1, 2, 2});
  CHECK(values(nn::Normalization({.mean = 1, .variance = 4, .dtype = "float64"})(x)) ==
        Values{-0.5, 0, 0.5, 1});
  CHECK(values(nn::Normalization({.axis = 1, .mean = {0, 2}, .variance = {1, 4}, .dtype = "float64"})(x)) ==
        Values{0, 1, 0, 0.5});
  CHECK(values(nn::Normalization(
            {.axis = {1, 2}, .mean = {{0, 1}, {2, 3}}, .variance = {{1, 1}, {1, 1}}, .dtype = "float64"})(
            x)) == Values{0, 0, 0, 0});
  CHECK(close(values(nn::Normalization({.mean = 0, .variance = 0, .dtype = "float64"})(x))[1], 1e7,
              {.rtol = 1e-5}));
  const Tensor pixels = ints({{1, 2}}, "uint8");
  CHECK(nn::Normalization({.mean = 0, .variance = 1})(pixels).dtype() == "float32");
}

TEST_CASE("one mean for all axes fits data of every rank") {
  const nn::Normalization layer({.axis = ktape::None});
  layer.adapt(K::constant({1., 3.}));
  const nn::Sequential model({nn::Input({1}), layer, nn::Dense(1)});
  CHECK(values(layer(K::constant({{3.}, {1.}}))) == Values{1, -1});
  layer.adapt(K::constant({{1., 3.}, {3., 1.}}));
}

TEST_CASE("normalization learns from data without a batch axis as Keras does") {
  using ktape::data::Dataset;
  const nn::Normalization one({.axis = None});
  one.adapt(std::vector{1., 2., 3.});
  CHECK(values(one.mean()) == Values{2});
  // The regression tutorial of TensorFlow: one feature as a vector.
  const nn::Sequential model({nn::Input({1}), one, nn::Dense(1, {.kernel_initializer = "ones"})});
  CHECK(
      close(values(model.predict(K::constant({2., 4.}), {.verbose = 0}))[1], std::sqrt(6.), {.rtol = 1e-5}));
  // The mean of each element of a vector is learned; the means broadcast to a batch.
  const nn::Normalization each;
  each.adapt(K::constant({1., 2.}));
  CHECK(values(each(K::constant({1., 2.}))) == Values{0, 0});
  CHECK(close(values(each(K::constant({{1., 2.}, {2., 2.}}))), Values{0, 0, 1e7, 0}, {.rtol = 1e-5}));
  // The vectors of a dataset are samples.
  const nn::Normalization rows, whole;
  const Tensor data = K::constant({{1., 2.}, {3., 6.}});
  rows.adapt(Dataset::from_tensor_slices({data})), whole.adapt(data);
  CHECK(values(rows(data)) == values(whole(data)));
  CHECK(values(rows(data[0])) == values(whole(data[{ktape::Slice(0, 1)}])));
  CHECK_THROWS_WITH_AS(rows(K::ones({2, 3})), doctest::Contains("must have min_ndim=1, shape[-1]=2"),
                       ktape::ValueError);
  const nn::Normalization scalars({.axis = None});
  scalars.adapt(Dataset::from_tensor_slices({K::constant({1., 2., 3.})}));
  CHECK(values(scalars.mean()) == Values{2});
  const nn::Normalization built({.axis = None});
  built.build({None, 3});
  built.adapt(K::constant({{1., 3.}, {2., 2.}}));
  CHECK(values(built.mean()) == Values{2});
}

TEST_CASE("layers adapt to lists of numbers") {
  nn::Discretization bins({.num_bins = 2});
  bins.adapt({{1., 2.}, {3., 4.}});
  CHECK(values(bins(K::constant({0., 9.}))) == Values{0, 1});
  nn::Discretization same({.num_bins = 2});
  same.adapt(std::vector<std::vector<float>>{{1, 2}, {3, 4}});
  CHECK(values(same(K::constant({0., 9.}))) == Values{0, 1});
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  nn::IntegerLookup lookup;
  lookup.adapt({large, large, std::int64_t{7}});
  CHECK(lookup.get_vocabulary() == std::vector<std::int64_t>{-1, large, 7});
  lookup.adapt(std::vector<int>{5, 5, 6});
  CHECK(lookup.get_vocabulary() == std::vector<std::int64_t>{-1, 5, 6});
  lookup.adapt({{8, 8}, {9, 8}});
  CHECK(lookup.get_vocabulary() == std::vector<std::int64_t>{-1, 8, 9});
  CHECK_THROWS_AS(lookup.adapt({{1, 2}, {3}}), ktape::ValueError);
  CHECK_THROWS_AS(lookup.adapt(Tensor()), ktape::ValueError);
  CHECK(lookup.get_vocabulary() == std::vector<std::int64_t>{-1, 8, 9});
}

TEST_CASE("normalization is made from the configs that Keras writes") {
  const nn::Layer layer = from(R"({"class_name": "Normalization", "config": {"name": "n", "trainable": true,
      "dtype": {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}},
      "axis": [-1], "invert": true, "mean": [1.0, 2.0], "variance": [4.0, 4.0]}})");
  CHECK(values(layer(K::ones({1, 2}))) == Values{3, 4});
  CHECK(values(from(R"({"class_name": "Normalization", "config": {"axis": [], "mean": 1, "variance": 4}})")(
            K::ones({2}) * 5)) == Values{2, 2});
}

TEST_CASE("normalization refuses bad arguments") {
  using Error = ktape::ValueError;
  CHECK_THROWS_WITH_AS(nn::Normalization({.mean = 1}),
                       doctest::Contains("[Normalization] mean and variance must be given together"), Error);
  CHECK_THROWS_WITH_AS(nn::Normalization({.mean = {1, 2}, .variance = 1}),
                       doctest::Contains("must have one shape"), Error);
  CHECK_THROWS_WITH_AS(nn::Normalization({.mean = {1, 2}, .variance = {1, 2}, .name = "n"})(K::ones({2, 3})),
                       doctest::Contains("[n] mean and variance must broadcast to axis: received mean=(2,)"),
                       Error);
  CHECK_THROWS_WITH_AS(nn::Normalization({.axis = 2, .name = "n"})(K::ones({2, 3})),
                       doctest::Contains("[n] axis must be of the input: received axis=2"), Error);
  CHECK_THROWS_WITH_AS(nn::Normalization({.name = "n"}).build({None, None}),
                       doctest::Contains("[n] the extents of axis must be known"), Error);
  CHECK_THROWS_WITH_AS(nn::Normalization({.mean = 1, .variance = 1, .name = "n"}).adapt(K::ones({2, 3})),
                       doctest::Contains("[n] adapt is for a layer without mean"), Error);
  const nn::Normalization layer({.name = "n"});
  layer.adapt(K::ones({2, 3}));
  CHECK_THROWS_WITH_AS(
      layer.update_state(K::ones({2, 4})),
      doctest::Contains("[n] all data must have the same rank, and the same extents on axis"), Error);
  CHECK_THROWS_WITH_AS(layer.finalize_state(), doctest::Contains("[n] adapt must have data"), Error);
  CHECK_THROWS_WITH_AS(nn::Dense(2, {.name = "d"}).adapt(K::ones({2, 3})),
                       doctest::Contains("[d] adapt is for layers that learn from data: received "
                                         "class_name=Dense"),
                       ktape::TypeError);
}

TEST_CASE("rescaling is x * scale + offset, with numbers or for each channel") {
  const Tensor pixels = ints({{0, 51, 255}}, "uint8");
  CHECK(close(values(nn::Rescaling(1. / 255, {.dtype = "float64"})(pixels))[1], 0.2, {.rtol = 1e-5}));
  CHECK(values(nn::Rescaling({1, 10}, {.offset = {0, 1}})(K::ones({2, 2}))) == Values{1, 11, 1, 11});
  K::set_image_data_format("channels_first");
  const Tensor y = nn::Rescaling({1, 10})(K::ones({1, 2, 1, 2}));
  K::set_image_data_format("channels_last");
  CHECK(values(y) == Values{1, 1, 10, 10});
  CHECK_THROWS_WITH_AS(nn::Rescaling({{1, 2}}, {.name = "r"})(K::ones({2})),
                       doctest::Contains("[r] scale and offset must broadcast to the input"),
                       ktape::ValueError);
}

TEST_CASE("discretization counts the boundaries that are not above a number") {
  const Tensor x = doubles({{-1.5, 1, 3.4, 0.5}, {0, 3, 1.3, 0}});
  const nn::Discretization layer({.bin_boundaries = {{0, 1, 2}}});
  CHECK(layer(x).dtype() == "int64");
  CHECK(values(layer(x)) == Values{0, 2, 3, 1, 1, 3, 2, 1});
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(values(layer(doubles({-inf, inf, std::nan("")}))) == Values{0, 3, 3});
  // 0.7f is below the double 0.7, but not below the boundary as a float.
  CHECK(values(nn::Discretization({.bin_boundaries = {{0.7}}})(K::constant({0.7f}))) == Values{1});
  CHECK(values(layer(ints({-1, 0, 1, 7}))) == Values{0, 1, 2, 3});
}

TEST_CASE("discretization gives bins as vectors, too") {
  const Tensor x = doubles({{-1, 0.5}, {0.5, 0.6}});
  const auto made = [](const char* mode) {
    return nn::Discretization({.bin_boundaries = {{0, 1}}, .output_mode = mode});
  };
  CHECK(made("count")(x).dtype() == "float32");
  CHECK(values(made("count")(x)) == Values{1, 1, 0, 0, 2, 0});
  CHECK(values(made("multi_hot")(x)) == Values{1, 1, 0, 0, 1, 0});
  CHECK(made("one_hot")(x).shape() == Shape{2, 2, 3});
  CHECK(values(made("one_hot")(doubles({{-1}, {0.5}}))) == Values{1, 0, 0, 0, 1, 0});
}

TEST_CASE("discretization learns quantiles as boundaries, and keeps them in its config") {
  const Tensor x = doubles({{-1.5, 1, 3.4, 0.5}, {0, 3, 1.3, 0}});
  const nn::Discretization layer({.num_bins = 4});
  layer.adapt(x);
  CHECK(values(layer(x)) == Values{0, 2, 3, 2, 1, 3, 3, 1});  // as Keras's example
  CHECK(layer.get_config().at("bin_boundaries").as<Values>() == Values{0, 0.5, 1.3});
  const nn::Layer again = nn::Layer::from_value(layer.to_value());
  CHECK(values(again(x)) == values(layer(x)));

  const Tensor many = K::random_uniform({20000}, {.dtype = "float64", .seed = 1});
  const nn::Discretization tenths({.num_bins = 10});
  tenths.reset_state();
  for (int i = 0; i < 4; ++i) tenths.update_state(many[{ktape::Slice(5000 * i, 5000 * (i + 1))}]);
  tenths.finalize_state();
  const Values boundaries = tenths.get_config().at("bin_boundaries").as<Values>();
  REQUIRE(boundaries.size() == 9);
  for (std::size_t i = 0; i < 9; ++i)
    CHECK(close(boundaries[i], 0.1 * static_cast<double>(i + 1), {.rtol = 0.03}));
}

TEST_CASE("discretization refuses bad arguments") {
  using Error = ktape::ValueError;
  CHECK_THROWS_WITH_AS(nn::Discretization(), doctest::Contains("bin_boundaries or num_bins must be given"),
                       Error);
  CHECK_THROWS_WITH_AS(nn::Discretization({.bin_boundaries = {{1}}, .num_bins = 2}),
                       doctest::Contains("received both"), Error);
  CHECK_THROWS_WITH_AS(nn::Discretization({.bin_boundaries = {{1, 0}}}),
                       doctest::Contains("bin_boundaries must ascend"), Error);
  CHECK_THROWS_WITH_AS(nn::Discretization({.num_bins = 0}), doctest::Contains("num_bins must be at least 1"),
                       Error);
  CHECK_THROWS_WITH_AS(
      nn::Discretization({.num_bins = 2, .output_mode = "tf_idf"}),
      doctest::Contains(
          "output_mode must be 'int', 'one_hot', 'multi_hot' or 'count': received output_mode=\"tf_idf\""),
      Error);
  CHECK_THROWS_WITH_AS(nn::Discretization({.num_bins = 2, .name = "d"})(K::ones({2})),
                       doctest::Contains("[d] adapt must come before a call"), Error);
  CHECK_THROWS_WITH_AS(nn::Discretization({.bin_boundaries = {{1}}, .name = "d"}).adapt(K::ones({2})),
                       doctest::Contains("[d] adapt is for a layer with num_bins"), Error);
}

TEST_CASE("layers adapt to the batches of a dataset as to all data") {
  using ktape::data::Dataset;
  const Tensor x = normal({40, 3}, 1, "float32");
  const Dataset batches = Dataset::from_tensor_slices({x}).batch(7);
  nn::Normalization whole, parts;
  whole.adapt(x), parts.adapt(batches);
  CHECK(close(parts(x), whole(x), {.atol = 1e-5}));
  nn::Discretization bins({.num_bins = 4}), same({.num_bins = 4});
  bins.adapt(x), same.adapt(batches);
  // Quantiles of batches are approximate.
  CHECK(K::mean(K::cast(K::equal(bins(x), same(x)), "float32")).item<double>() > 0.9);
  const Tensor numbers = K::constant({{3, 5}, {5, 5}, {7, 3}}, {.dtype = "int64"});
  nn::IntegerLookup lookup, by_batch;
  lookup.adapt(numbers), by_batch.adapt(Dataset::from_tensor_slices({numbers}).batch(2));
  CHECK(by_batch.get_vocabulary() == lookup.get_vocabulary());
  nn::Layer handle = parts;
  handle.adapt(std::vector<std::vector<Tensor>>{{x}, {x}});
  CHECK(close(parts(x), whole(x), {.atol = 1e-5}));
  CHECK_THROWS_WITH_AS(nn::Normalization({.name = "n"}).adapt(Dataset::from_tensor_slices({x, x})),
                       doctest::Contains("[n] adapt takes elements of one tensor"), ktape::ValueError);
  CHECK_THROWS_WITH_AS(nn::Dense(2, {.name = "d"}).adapt(batches),
                       doctest::Contains("[d] adapt is for layers that learn"), ktape::TypeError);
}
