#include "../../../close.hpp"
#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor;

namespace {

const nn::CallArguments training{.training = true};

/// Returns a number between 0 and 1 as a factor that is always drawn.
nn::Factor always(double factor) { return {factor, factor}; }

/// Returns the row 1 2 3 4, moved to the right by some pixels.
Values moved(double pixels, const char* fill_mode, const char* interpolation = "bilinear") {
  const nn::RandomTranslation layer(
      always(0), always(pixels / 4),
      {.fill_mode = fill_mode, .interpolation = interpolation, .fill_value = 9, .dtype = "float64"});
  return values(layer(counted({1, 4, 1}) + 1, training));
}

double pixel(const Values& image, int height, int width, int row, int column, const std::string& mode) {
  const auto inside = [&](int i, int n) {
    if (mode == "nearest") return std::clamp(i, 0, n - 1);
    if (mode == "wrap") return ((i % n) + n) % n;
    while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;  // reflect
    return i;
  };
  if (mode == "constant" && (row < 0 || row >= height || column < 0 || column >= width)) return -7;
  return image[static_cast<std::size_t>(inside(row, height) * width + inside(column, width))];
}

/// Returns the interpolated value at a place between pixels.
double seen(const Values& image, int height, int width, double y, double x, const std::string& mode) {
  const int top = static_cast<int>(std::floor(y)), left = static_cast<int>(std::floor(x));
  const double v = y - top, u = x - left;
  const auto at = [&](int row, int column) { return pixel(image, height, width, row, column, mode); };
  return (1 - v) * ((1 - u) * at(top, left) + u * at(top, left + 1)) +
         v * ((1 - u) * at(top + 1, left) + u * at(top + 1, left + 1));
}

template <class Place>
void check_positions(const nn::Layer& layer, const std::string& mode, Place place) {
  const int height = 4, width = 6;
  const Tensor image = normal({height, width, 1});
  const Values got = values(layer(image, training));
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      const auto [y, x] = place(row - 1.5, column - 2.5);  // from the middle
      CAPTURE(row);
      CAPTURE(column);
      CHECK(close(got[static_cast<std::size_t>(row * width + column)],
                  seen(values(image), height, width, y + 1.5, x + 2.5, mode), {.rtol = 1e-9}));
    }
}

const char* const fill_modes[] = {"constant", "reflect", "wrap", "nearest"};

}  // namespace

TEST_CASE("pixels from outside of the border are filled as the mode says") {
  CHECK(moved(1, "constant") == Values{9, 1, 2, 3});
  CHECK(moved(1, "reflect") == Values{1, 1, 2, 3});
  CHECK(moved(1, "wrap") == Values{4, 1, 2, 3});
  CHECK(moved(1, "nearest") == Values{1, 1, 2, 3});
  CHECK(moved(3, "reflect") == Values{3, 2, 1, 1});
  CHECK(moved(-3, "reflect") == Values{4, 4, 3, 2});
  CHECK(moved(-3, "wrap") == Values{4, 1, 2, 3});
  CHECK(moved(3, "nearest") == Values{1, 1, 1, 1});
  CHECK(moved(-4, "constant") == Values{9, 9, 9, 9});
}

TEST_CASE("half a pixel is the mean of two, across the border too, or the nearer one") {
  CHECK(moved(0.5, "constant") == Values{5, 1.5, 2.5, 3.5});
  CHECK(moved(0.5, "reflect") == Values{1, 1.5, 2.5, 3.5});
  CHECK(moved(0.5, "wrap") == Values{2.5, 1.5, 2.5, 3.5});
  CHECK(moved(0.4, "nearest", "nearest") == Values{1, 2, 3, 4});
  CHECK(moved(0.6, "wrap", "nearest") == Values{4, 1, 2, 3});
}

TEST_CASE("a quarter turn is counter-clockwise, corners and all") {
  const Tensor x = counted({3, 3, 1});
  const nn::RandomRotation layer(always(0.25), {.interpolation = "nearest", .dtype = "float64"});
  CHECK(values(layer(x, training)) == Values{2, 5, 8, 1, 4, 7, 0, 3, 6});
  const Values half = values(nn::RandomRotation(always(0.5), {.dtype = "float64"})(x, training));
  for (std::size_t i = 0; i < 9; ++i) CHECK(close(half[i], 8. - static_cast<double>(i), {.atol = 1e-12}));
}

TEST_CASE("turned, zoomed and moved images show the places that the formulas say") {
  for (const std::string mode : fill_modes) {
    CAPTURE(mode);
    const nn::RandomRotationOptions turned{.fill_mode = mode, .fill_value = -7, .dtype = "float64"};
    const nn::RandomTranslationOptions moved{.fill_mode = mode, .fill_value = -7, .dtype = "float64"};
    const double turn = 2 * 3.14159265358979323846 * 0.07;
    check_positions(nn::RandomRotation(always(0.07), turned), mode, [&](double y, double x) {
      return std::pair(std::sin(turn) * x + std::cos(turn) * y, std::cos(turn) * x - std::sin(turn) * y);
    });
    check_positions(nn::RandomTranslation(always(0.3), always(-0.2), moved), mode,
                    [](double y, double x) { return std::pair(y - 0.3 * 4, x + 0.2 * 6); });
    nn::RandomZoomOptions zoom{.fill_mode = mode, .fill_value = -7, .dtype = "float64"};
    check_positions(nn::RandomZoom(always(0.7), zoom), mode,
                    [](double y, double x) { return std::pair(1.7 * y, 1.7 * x); });
    zoom.width_factor = always(0.4);
    check_positions(nn::RandomZoom(always(-0.3), zoom), mode,
                    [](double y, double x) { return std::pair(0.7 * y, 1.4 * x); });
  }
}

TEST_CASE("images are mirrored, each by itself, about half of them in each direction") {
  const Tensor x = counted({1, 2, 2, 1});
  const Tensor batch = K::tile(x, {200, 1, 1, 1});
  const auto counts = [&](const char* mode) {
    std::map<Values, int> seen;
    const Values y = values(nn::RandomFlip(mode, {.seed = 1})(batch, training));
    for (std::size_t i = 0; i < y.size(); i += 4) ++seen[{y[i], y[i + 1], y[i + 2], y[i + 3]}];
    return seen;
  };
  const std::map<Values, int> both = counts("horizontal_and_vertical");
  CHECK(both.size() == 4);
  for (const auto& [image, count] : both) {
    CHECK(count > 20);
    CHECK(count < 80);
  }
  CHECK(counts("horizontal").count({1, 0, 3, 2}) == 1);
  CHECK(counts("horizontal").size() == 2);
  CHECK(counts("vertical").count({2, 3, 0, 1}) == 1);
  CHECK(counts("vertical").size() == 2);
}

TEST_CASE("contrast and brightness change the pixels around their mean, and all of them") {
  const Tensor x = doubles({{{10, 0}, {30, 100}}});
  CHECK(values(nn::RandomContrast({0, 0}, {.dtype = "float64"})(x, training)) == values(x));
  const Tensor half = nn::RandomContrast(always(0.5), {.seed = 4, .dtype = "float64"})(x, training);
  const double contrast = (values(half)[2] - values(half)[0]) / 20;  // between 0.5 and 1.5
  CHECK(contrast > 0.5);
  CHECK(contrast < 1.5);
  CHECK(close(values(half)[0], 20 - 10 * contrast, {.rtol = 1e-5}));
  CHECK(close(values(half)[1], std::max(50 - 50 * contrast, 0.), {.rtol = 1e-5}));
  CHECK(values(nn::RandomBrightness(always(0.2), {.dtype = "float64"})(x, training)) ==
        Values{61, 51, 81, 151});
  CHECK(values(nn::RandomBrightness(always(-1))(x, training)) == Values{0, 0, 0, 0});
  CHECK(values(nn::RandomBrightness(always(0.5), {.value_range = {0, 1}, .dtype = "float64"})(
            doubles({{{0.25}, {0.75}}}), training)) == Values{0.75, 1});
}

TEST_CASE("a crop is a window of the image, the whole range of places is drawn") {
  const Tensor x = counted({2, 4, 3, 1});
  const nn::RandomCrop layer(2, 2, {.seed = 1, .dtype = "float64"});
  std::set<std::pair<double, double>> places;
  for (int i = 0; i < 100; ++i) {
    const Values y = values(layer(x, training));
    const double corner = y[0];
    places.emplace(std::floor(corner / 3), std::fmod(corner, 3));
    const Values want{corner,      corner + 1,  corner + 3,  corner + 4,
                      corner + 12, corner + 13, corner + 15, corner + 16};
    CHECK(y == want);
  }
  CHECK(places == std::set<std::pair<double, double>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}});
  const nn::Resizing resized(2, 2, {.crop_to_aspect_ratio = true, .dtype = "float64"});
  CHECK(values(layer(x)) == values(resized(x)));
  CHECK(layer(counted({1, 5, 1}), training).shape() == Shape{2, 2, 1});
}

TEST_CASE("each image is changed at random, and a seed fixes the sequence") {
  const Tensor x = K::tile(normal({1, 5, 5, 1}, 1, "float32"), {3, 1, 1, 1});
  const std::function<nn::Layer(int)> makers[] = {
      [](int seed) { return nn::RandomRotation(0.3, {.seed = seed}); },
      [](int seed) { return nn::RandomTranslation(0.3, 0.3, {.seed = seed}); },
      [](int seed) { return nn::RandomZoom(0.3, {.seed = seed}); },
      [](int seed) {
        return nn::RandomContrast(0.3, {.value_range = {-9, 9}, .seed = seed});
      },
      [](int seed) {
        return nn::RandomBrightness(0.3, {.value_range = {-9, 9}, .seed = seed});
      }};
  for (const auto& make : makers) {
    const nn::Layer layer = make(7), same = make(7), other = make(8);
    CAPTURE(layer.name());
    const Values first = values(layer(x, training)), second = values(layer(x, training));
    CHECK(first != second);
    CHECK(first == values(same(x, training)));
    CHECK(second == values(same(x, training)));
    CHECK(first != values(other(x, training)));
    CHECK(Values(first.begin(), first.begin() + 25) != Values(first.begin() + 25, first.begin() + 50));
    CHECK(values(layer(x)) == values(x));
    CHECK(layer(K::cast(x, "int32")).dtype() == "float32");
    const nn::Layer again = nn::Layer::from_value(layer.to_value());
    CHECK(first == values(again(x, training)));
  }
}

TEST_CASE("channels may come first, and one image may come alone") {
  const Tensor x = normal({2, 4, 5, 3}), first = K::permute_dimensions(x, {0, 3, 1, 2});
  const auto check = [&](const nn::Layer& last, const nn::Layer& channels_first) {
    CAPTURE(last.name());
    const Values got = values(K::permute_dimensions(channels_first(first, training), {0, 2, 3, 1}));
    const Values want = values(last(x, training));
    REQUIRE(got.size() == want.size());
    CHECK(close(got, want, {.rtol = 1e-5}));
  };
  check(nn::RandomFlip("horizontal", {.seed = 1}),
        nn::RandomFlip("horizontal", {.seed = 1, .data_format = "channels_first"}));
  check(nn::RandomRotation(0.2, {.seed = 1}),
        nn::RandomRotation(0.2, {.seed = 1, .data_format = "channels_first"}));
  check(nn::RandomContrast(0.2, {.value_range = {-9, 9}, .seed = 1}),
        nn::RandomContrast(0.2, {.value_range = {-9, 9}, .seed = 1, .data_format = "channels_first"}));
  check(nn::RandomCrop(2, 3, {.seed = 1}),
        nn::RandomCrop(2, 3, {.seed = 1, .data_format = "channels_first"}));
  const nn::RandomZoom alone(0.2, {.seed = 1}), batched(0.2, {.seed = 1});
  CHECK(values(alone(x[0], training)) == values(batched(x[{ktape::Slice(0, 1)}], training)));
}

TEST_CASE("gradients reach the images, to any order") {
  const Tensor x = normal({2, 3, 4, 2});
  for (const char* mode : fill_modes)
    for (const char* format : {"channels_last", "channels_first"}) {
      const nn::RandomRotation turned(
          always(0.1), {.fill_mode = mode, .fill_value = 2, .data_format = format, .dtype = "float64"});
      check_gradients([&](In in) { return K::square(turned(in[0], training)); }, {x});
    }
  const nn::RandomBrightness brighter(always(0.1), {.value_range = {-9, 9}, .dtype = "float64"});
  check_gradients([&](In in) { return K::square(brighter(in[0], training)); }, {x});
  const ktape::Variable image = K::variable(x);
  const Tensor y = nn::RandomCrop(2, 2, {.dtype = "float64"})(
      nn::RandomFlip("horizontal", {.dtype = "float64"})(image, training), training);
  const Values slopes = values(ktape::gradients(K::sum(y), {image})[0]);
  CHECK(std::count(slopes.begin(), slopes.end(), 1) == 2 * 2 * 2 * 2);
  CHECK(std::count(slopes.begin(), slopes.end(), 0) == 2 * 2 * 2 * 4);
}

TEST_CASE("a model draws new numbers at each run, for any batch and size, in training only") {
  const Tensor in = nn::Input({None, None, 1});
  const Tensor moved = nn::RandomTranslation(0.4, 0.4)(nn::RandomFlip()(in));
  CHECK(moved.shape() == Shape{None, None, None, 1});
  const nn::Model model(in, nn::RandomCrop(3, 3)(moved));
  CHECK(model.outputs()[0].shape() == Shape{None, 3, 3, 1});
  const Tensor x = normal({5, 6, 4, 1}, 1, "float32");
  const Values first = values(model(x, training));
  CHECK(first != values(model(x, training)));
  CHECK(values(model(x)) == values(model(x)));
  CHECK(model(normal({2, 9, 9, 1}, 1, "float32"), training).shape() == Shape{2, 3, 3, 1});

  const Tensor p = K::placeholder({None, 4, 4, 1});
  const nn::RandomRotation turned(0.5);
  auto f = K::function({p, K::learning_phase()}, {turned(p)});
  const Tensor image = normal({2, 4, 4, 1}, 1, "float32");
  CHECK(values(f({image, 1})[0]) != values(f({image, 1})[0]));
  CHECK(values(f({image, 0})[0]) == values(image));
  auto waiting = K::symbolic([&] { return turned(image, training); })();
  auto g = K::function(std::vector<Tensor>(), {waiting});
  CHECK(values(g(std::vector<Tensor>())[0]) != values(g(std::vector<Tensor>())[0]));
}

TEST_CASE("random layers are made from the configs that Keras writes") {
  const nn::Layer layer = nn::Layer::from_value(nn::from_json(
      R"({"class_name": "RandomZoom", "config": {"name": "z", "trainable": true, "dtype": "float32",
          "height_factor": [0.1, 0.3], "width_factor": null, "fill_mode": "constant",
          "interpolation": "nearest", "seed": 3, "fill_value": 1.0, "data_format": "channels_last"}})"));
  CHECK(layer.get_config().at("height_factor").as<Values>() == Values{0.1, 0.3});
  CHECK(nn::RandomContrast(0.2).get_config().at("factor").as<Values>() == Values{0.2, 0.2});
  CHECK(nn::RandomRotation(0.2).get_config().at("factor").as<Values>() == Values{-0.2, 0.2});
}

TEST_CASE("random layers refuse bad arguments") {
  using Error = ktape::ValueError;
  CHECK_THROWS_WITH_AS(
      nn::RandomRotation(1.5),
      doctest::Contains(
          "[RandomRotation] factor must be one number or two in [-1, 1]: received factor=[1.5]"),
      Error);
  CHECK_THROWS_WITH_AS(nn::RandomContrast(-0.5), doctest::Contains("in [0, 1]"), Error);
  CHECK_THROWS_WITH_AS(nn::RandomZoom({0.1, 0.2, 0.3}),
                       doctest::Contains("height_factor must be one number or two"), Error);
  CHECK_THROWS_WITH_AS(nn::RandomRotation(0.1, {.fill_mode = "mirror"}),
                       doctest::Contains("or 'nearest': received fill_mode=\"mirror\""), Error);
  CHECK_THROWS_WITH_AS(nn::RandomZoom(0.1, {.interpolation = "bicubic"}),
                       doctest::Contains("interpolation must be 'nearest' or 'bilinear'"), Error);
  CHECK_THROWS_WITH_AS(nn::RandomFlip("horizontl"), doctest::Contains("did you mean 'horizontal'"), Error);
  CHECK_THROWS_WITH_AS(nn::RandomBrightness(0.1, {.value_range = {1, 0}}),
                       doctest::Contains("value_range must be (low, high)"), Error);
  CHECK_THROWS_WITH_AS(nn::RandomCrop(2, 0), doctest::Contains("width must be at least 1"), Error);
  CHECK_THROWS_WITH_AS(nn::RandomFlip("vertical", {.dtype = "uint8"}),
                       doctest::Contains("dtype must be floating"), ktape::TypeError);
  const nn::Value whole =
      nn::from_json(R"({"class_name": "RandomRotation", "config": {"factor": 0.1, "dtype": "int32"}})");
  CHECK_THROWS_WITH_AS(nn::Layer::from_value(whole), doctest::Contains("dtype must be floating"),
                       ktape::TypeError);
}
