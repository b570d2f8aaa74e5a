#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError, ktape::Variable;

namespace {

/// y = x * scale + shift, with a scale for each feature.
struct AffineImpl : nn::LayerImpl {
  double shift;
  Variable scale;
  explicit AffineImpl(double shift, nn::LayerOptions options = {})
      : nn::LayerImpl("Affine", options), shift(shift) {}
  void build(const Shape& input) override {
    scale = add_weight("scale", {input[-1]}, {.initializer = "ones", .regularizer = nn::L2(0.5)});
  }
  Tensor call(const Tensor& x) override { return x * scale + shift; }
  nn::Config get_config() const override { return {{"shift", shift}}; }
};
using Affine = nn::LayerOf<AffineImpl>;

/// Sum and difference of two tensors.
struct BothImpl : nn::LayerImpl {
  BothImpl() : nn::LayerImpl("Both") {}
  std::vector<Tensor> call(const std::vector<Tensor>& x) { return {x[0] + x[1], x[0] - x[1]}; }
};
using Both = nn::LayerOf<BothImpl>;

}  // namespace

TEST_CASE("a layer is built by its first call, once") {
  const Affine affine(1.0, nn::LayerOptions{.name = "affine"});
  CHECK(!affine.built());
  CHECK(affine.weights().empty());
  CHECK(values(affine(K::constant({{1.f, 2.f}}))) == Values{2, 3});
  CHECK(affine.built());
  CHECK(affine->shift == 1);
  CHECK(affine.count_params() == 2);
  CHECK(affine.weights()[0].name() == "affine/scale");
  affine.set_weights({K::constant({2.f, 3.f})});
  CHECK(values(affine(K::constant({{1.f, 2.f}}))) == Values{3, 7});
  const nn::Layer same = affine;
  CHECK(same.weights()[0].is(affine.weights()[0]));
  CHECK(values(same.get_weights()[0]) == Values{2, 3});
}

TEST_CASE("names are Keras's, counted") {
  K::clear_session();
  CHECK(nn::Dense(1).name() == "dense");
  CHECK(nn::Dense(1).name() == "dense_1");
  CHECK(Affine(0.0).name() == "affine");
  K::clear_session();
  CHECK(nn::Dense(1).name() == "dense");
}

TEST_CASE("a first call that fails leaves the layers that it called as they were") {
  struct FlatImpl : nn::LayerImpl {
    nn::Dense dense{2};
    FlatImpl() : nn::LayerImpl("Flat") {}
    Tensor call(const Tensor& x) override {
      const Tensor y = dense(x);
      if (x.shape()[-1] != 3) ktape::fail("[Flat] x must have 3 columns: received shape=", x.shape());
      return y;
    }
  };
  const nn::LayerOf<FlatImpl> layer;
  CHECK_THROWS_AS(layer(K::ones({1, 4})), ValueError);
  CHECK(!layer.built());
  CHECK(!layer->dense.built());
  CHECK(layer(K::ones({1, 3})).shape() == Shape({1, 2}));
  CHECK(layer.weights().size() == 2);
}

TEST_CASE("apply takes and returns any number of tensors") {
  const Both both;
  const Tensor a = K::constant({{3.f}}), b = K::constant({{1.f}});
  const std::vector<Tensor> outputs = both.apply({a, b});
  CHECK(values(outputs[0]) == Values{4});
  CHECK(values(outputs[1]) == Values{2});
  CHECK_THROWS_WITH_AS(both({a, b}), Contains("[both] layer(x) is for one output"), ValueError);
  CHECK_THROWS_WITH_AS(nn::Dense(1, {.name = "one"}).apply({a, b}),
                       "[one] the layer takes one input: received 2", ValueError);
}

TEST_CASE("losses are those of the weights and of the last call") {
  const Affine affine(0.0);
  affine(K::ones({1, 2}));
  CHECK(affine.losses().size() == 1);
  CHECK(affine.losses()[0].item() == 1);
  const nn::Dense active(1, {.kernel_initializer = "ones", .activity_regularizer = nn::L1(1.0)});
  for (int call = 0; call < 2; ++call) active(K::ones({4, 3}));
  CHECK(active.losses().size() == 1);
  CHECK(active.losses()[0].item() == 3);
}

TEST_CASE("gradients reach the weights, and inputs take the layer's dtype") {
  const Affine affine(0.0, nn::LayerOptions{.dtype = "float64"});
  const Tensor x = doubles({{1, 2}, {3, 4}});
  const Tensor y = affine(x);
  CHECK(values(ktape::gradients(y, affine.weights())[0]) == Values{4, 6});
  check_gradients([&](In in) { return K::tanh(affine(in[0])); }, {x});
  CHECK(affine(K::ones({1, 2})).dtype() == "float64");
}

TEST_CASE("layers with kernels take integers, as data often are") {
  const Tensor pixels = K::ones({1, 4, 4, 1}, {.dtype = "uint8"});
  const Tensor floats = K::cast(pixels, "float32");
  for (const nn::Layer& layer :
       {nn::Layer(nn::Dense(2)), nn::Layer(nn::Conv2D(2, {3, 3})), nn::Layer(nn::DepthwiseConv2D({3, 3})),
        nn::Layer(nn::EinsumDense("abcd,de->abce", {4, 4, 2})),
        nn::Layer(nn::LocallyConnected2D(2, {3, 3}))}) {
    CAPTURE(layer.name());
    CHECK(values(layer(pixels)) == values(layer(floats)));
  }
}

TEST_CASE("masks pass through layers that support them, and end at others") {
  const Tensor ids = ints({{1, 2, 0}, {3, 0, 0}});
  const Tensor words = nn::Embedding(4, 2, {.mask_zero = true})(ids);
  const Values mask = {1, 1, 0, 1, 0, 0};
  CHECK(values(nn::mask_of(words)) == mask);
  CHECK(values(nn::mask_of(nn::Dense(3, {.activation = "relu"})(words))) == mask);
  CHECK(values(nn::mask_of(nn::Dropout(0.2)(words))) == mask);
  CHECK(!nn::mask_of(Affine(0.0)(words)).defined());
  CHECK(!nn::mask_of(K::relu(words)).defined());
  const Tensor other = K::cast(K::ones({2, 3}), "bool");
  CHECK(nn::mask_of(nn::Identity()(words, {.mask = other})).get() == other.get());
  CHECK(values(nn::mask_of(words)) == mask);
  CHECK(values(nn::mask_of(nn::Masking(1.0)(K::constant({{{1.f, 1.f}, {1.f, 2.f}}})))) == Values{0, 1});
}

TEST_CASE("an embedding starts with the weights it is given") {
  const Tensor table = K::constant({{1., 2.}, {3., 4.}, {5., 6.}}, {.dtype = "float64"});
  const nn::Embedding words(3, 2, {.weights = table, .trainable = false});
  CHECK(values(words(K::constant({2, 0}, {.dtype = "int32"}))) == std::vector<double>{5, 6, 1, 2});
  CHECK_THROWS_WITH_AS(nn::Embedding(4, 2, {.weights = table}),
                       "[Embedding] weights must have the shape (4, 2): received weights=(3, 2)", ValueError);
}

TEST_CASE("a config remakes a layer") {
  const nn::Dense dense(3, {.activation = "relu", .kernel_regularizer = nn::L2(0.1), .name = "scores"});
  const nn::Layer again = nn::Layer::from_value(dense.to_value());
  CHECK(again.name() == "scores");
  CHECK(again.class_name() == "Dense");
  CHECK(again.get_config() == dense.get_config());
  CHECK(dense.get_config().at("activation").string() == "relu");
  CHECK_THROWS_WITH_AS(nn::Layer::from_value("Dens"), Contains("did you mean 'Dense'"), ValueError);

  nn::register_object("Affine", [](const nn::Config& config) { return Affine(config.at("shift").number()); });
  const Affine affine(2.0, nn::LayerOptions{.trainable = false, .name = "mine"});
  const nn::Layer mine = nn::Layer::from_value(affine.to_value());
  CHECK(mine.name() == "mine");
  CHECK(!mine.trainable());
  CHECK(mine.get_config() == affine.get_config());
}

TEST_CASE("symbolic calls give exact shapes and remember their layer") {
  const Tensor in = nn::Input({4});
  const nn::Dense dense(3);
  const Tensor out = dense(in);
  CHECK(K::int_shape(out) == Shape{None, 3});
  CHECK(K::is_keras_tensor(out));
  CHECK(dense.output().shape() == Shape{None, 3});
  CHECK(dense.input().shape() == Shape{None, 4});
  const auto f = K::function({in}, {out, K::gradients(K::sum(out), {in})[0]});
  const auto results = f({K::ones({2, 4})});
  CHECK(values(results[0]) == values(dense(K::ones({2, 4}))));
  CHECK(close(results[1][0], K::sum(dense.weights()[0], 1), {.atol = 1e-6}));
}

TEST_CASE("errors name the layer and change nothing") {
  const nn::Dense dense(3, {.name = "scores"});
  CHECK_THROWS_WITH_AS(dense(K::ones({3})), "[scores] the input must have min_ndim=2: received shape=(3,)",
                       ValueError);
  CHECK_THROWS_WITH_AS(dense(Tensor()), "[scores] the input must be a tensor: received None", ValueError);
  dense(K::ones({2, 4}));
  CHECK_THROWS_WITH_AS(dense(K::ones({2, 5})),
                       "[scores] the input must have min_ndim=2, shape[-1]=4: received shape=(2, 5)",
                       ValueError);

  struct Silent : nn::LayerImpl {
    Silent() : nn::LayerImpl("Silent") {}
  };
  CHECK_THROWS_WITH_AS(nn::LayerOf<Silent>()(K::ones({1})),
                       Contains("[silent] an overload of call must be overridden"), ValueError);

  const nn::Lambda broken([](const Tensor& x) { return K::reshape(x, {7}); }, {.name = "broken"});
  CHECK_THROWS_WITH_AS(broken(K::ones({2, 2})), Contains("(in layer 'broken', called on shape (2, 2))"),
                       ValueError);
  CHECK_THROWS_AS(nn::Dense(0), ValueError);
}
