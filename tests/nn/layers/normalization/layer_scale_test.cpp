#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/layers/normalization/layer_scale.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("each channel is multiplied by its factor, which begins small") {
  const nn::LayerScale layer(2, {.dtype = "float64"});
  CHECK(values(layer(doubles({{1, 2}, {3, -4}}))) == Values{1e-6, 2e-6, 3e-6, -4e-6});
  REQUIRE(layer.weights().size() == 1);
  CHECK(layer.weights()[0].name() == layer.name() + "/gamma");
  layer.set_weights({doubles({10, 0.5})});
  CHECK(values(layer(doubles({{{1, 2}}, {{3, -4}}}))) == Values{10, 1, 30, -2});
  CHECK(values(nn::LayerScale(1, {.init_values = 3})(K::constant({2.f}))) == Values{6});
}

TEST_CASE("the gradients are the gradients of a product") {
  const nn::LayerScale layer(3, {.init_values = 0.5, .dtype = "float64"});
  layer.build({None, 3});
  check_gradients([&](In x) { return K::tanh(layer(x[0])); }, {normal({2, 3})});
  const Tensor x = doubles({{1, 2, 3}, {10, 20, 30}});
  CHECK(values(ktape::gradients(K::sum(layer(x)), layer.weights())[0]) == Values{11, 22, 33});
}

TEST_CASE("a config has the number of channels and the initial value") {
  const nn::LayerScale layer(4, {.init_values = 0.25, .name = "scale"});
  CHECK(layer.get_config().at("projection_dim") == nn::Value(4));
  CHECK(layer.get_config().at("init_values") == nn::Value(0.25));
  const nn::Layer again = nn::Layer::from_value(layer.to_value());
  CHECK(again.get_config() == layer.get_config());
  CHECK(values(again(K::ones({1, 4}))) == Values{0.25, 0.25, 0.25, 0.25});
}

TEST_CASE("bad numbers of channels are errors") {
  CHECK_THROWS_WITH_AS(nn::LayerScale(0),
                       "[LayerScale] projection_dim must be at least 1: received projection_dim=0",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::LayerScale(3, {.name = "scale"})(K::ones({2, 4})),
                       "[scale] the input must have min_ndim=1, shape[-1]=3: received shape=(2, 4)",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::LayerScale(3, {.name = "scale"})(K::ones({})),
                       Contains("[scale] the input must have min_ndim=1"), ValueError);
}
