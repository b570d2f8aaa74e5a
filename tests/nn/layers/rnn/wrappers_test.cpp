#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor;

TEST_CASE("the layer that is distributed over time gets the mask of each step") {
  const nn::LSTM words(3, {.dtype = "float64"});
  const nn::TimeDistributed sentences(words, {.dtype = "float64"});
  const Tensor x = normal({2, 3, 4, 5}, 1);
  const Tensor mask = K::cast(normal({2, 3, 4}, 2) > -0.5, "bool");
  const Tensor y = sentences(x, {.mask = mask});
  CHECK(values(nn::mask_of(y)) == values(mask));
  for (std::int64_t t = 0; t < 3; ++t) {
    const Tensor step = K::squeeze(K::slice(x, {0, t, 0, 0}, {-1, 1, -1, -1}), 1);
    const Tensor seen = K::squeeze(K::slice(mask, {0, t, 0}, {-1, 1, -1}), 1);
    const Tensor got = K::squeeze(K::slice(y, {0, t, 0}, {-1, 1, -1}), 1);
    CHECK(values(got) == values(words(step, {.mask = seen})));
  }
}

TEST_CASE("steps that a mask leaves out do not count in a normalization over time") {
  const nn::BatchNormalization norm({.dtype = "float64"});
  const nn::TimeDistributed layer(norm, {.dtype = "float64"});
  const Tensor x = normal({2, 3, 4}, 1), mask = K::constant({{1, 1, 0}, {1, 0, 0}}, {.dtype = "bool"});
  layer(x, {.training = true, .mask = mask});
  const nn::BatchNormalization flat({.dtype = "float64"});
  flat(K::reshape(x, {6, 4}), {.training = true, .mask = K::reshape(mask, {6})});
  CHECK(values(norm.get_weights()[2]) == values(flat.get_weights()[2]));
}

TEST_CASE("a mask that does not fit the steps is refused") {
  const nn::TimeDistributed layer(nn::Dense(2), {.name = "steps"});
  const Tensor x = K::ones({2, 3, 4});
  CHECK_THROWS_WITH_AS(layer(x, {.mask = K::cast(K::ones({2, 4}), "bool")}),
                       doctest::Contains("[steps] mask must be (batch, steps, ...), as the input: received "
                                         "mask=(2, 4) for shape=(2, 3, 4)"),
                       ktape::ValueError);
  CHECK(nn::mask_of(layer(x, {.mask = K::cast(K::ones({2, 3}), "bool")})).defined());
}
