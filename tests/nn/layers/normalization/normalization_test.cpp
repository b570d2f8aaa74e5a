#include "../../../close.hpp"
#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Shape, ktape::Tensor;

TEST_CASE("batch normalization counts the unmasked steps only, and moves its statistics in training") {
  const nn::BatchNormalization layer({.momentum = 0.5, .dtype = "float64"});
  const Tensor x =
      K::constant(std::vector<double>{1, 2, 3, 4, 5, 6, 700, 800}, {.dtype = "float64", .shape = {1, 4, 2}});
  const Tensor mask = K::constant(std::vector<double>{1, 1, 1, 0}, {.dtype = "bool", .shape = {1, 4}});
  const Tensor y = layer(x, {.training = true, .mask = mask});
  CHECK(nn::mask_of(y).defined());
  const std::vector<Tensor> after = layer.get_weights();
  CHECK(close(values(after[2])[0], 1.5, {.rtol = 1e-5}));
  CHECK(close(values(after[2])[1], 2, {.rtol = 1e-5}));
  CHECK(close(values(after[3])[0], 0.5 + 0.5 * 8 / 3, {.rtol = 1e-5}));
  CHECK(close(values(y)[2], 0, {.atol = 1e-6}));
}

TEST_CASE("batch normalization in inference, and frozen, leaves its statistics alone") {
  const nn::BatchNormalization layer;
  const Tensor x = K::ones({4, 3}) * 2;
  layer(x, {.training = false});
  CHECK(values(layer.get_weights()[2])[0] == 0);
  layer.set_trainable(false);
  layer(x, {.training = true});
  CHECK(values(layer.get_weights()[2])[0] == 0);
  layer.set_trainable(true);
  layer(x, {.training = true});
  CHECK(close(values(layer.get_weights()[2])[0], 0.02, {.rtol = 1e-5}));
}

TEST_CASE("normalizations refuse axes that the input does not have, and groups that do not divide") {
  CHECK_THROWS_WITH_AS(nn::BatchNormalization({.axis = 3, .name = "b"})(K::ones({2, 3})),
                       doctest::Contains("[b] axis must be one of the input: received axis=3"),
                       ktape::ValueError);
  CHECK_THROWS_WITH_AS(nn::LayerNormalization({.axis = {1, -1}, .name = "l"})(K::ones({2, 3})),
                       doctest::Contains("[l] axis must name each axis once"), ktape::ValueError);
  CHECK_THROWS_WITH_AS(nn::GroupNormalization({.groups = 0}),
                       doctest::Contains("groups must be at least 1: received groups=0"), ktape::ValueError);
  CHECK_THROWS_WITH_AS(nn::GroupNormalization({.groups = 2, .name = "g"})(K::ones({2, 3})),
                       doctest::Contains("[g] the channels must divide into the groups"), ktape::ValueError);
}

TEST_CASE("unit normalization keeps zeros, without NaN in value or gradient") {
  const nn::UnitNormalization layer;
  const ktape::Variable x = K::variable(K::zeros({2, 3}));
  const Tensor y = layer(x);
  for (const double value : values(y)) CHECK(value == 0);
  for (const double value : values(ktape::gradients(K::sum(y), {x})[0])) CHECK(std::isfinite(value));
}
