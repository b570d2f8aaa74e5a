#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("dropout passes its input when it predicts, and keeps the mean when it trains") {
  const Tensor x = K::ones({100, 100});
  const nn::Dropout layer(0.25, {.seed = 1});
  CHECK(values(layer(x)) == values(x));
  const Tensor y = layer(x, {.training = true});
  CHECK(close(K::mean(y).item<double>(), 1.0, {.rtol = 0.03}));
  for (const double value : values(y)) CHECK((value == 0 || std::abs(value - 1 / 0.75) < 1e-6));
}

TEST_CASE("a noise shape and spatial dropout drop whole slices") {
  const Tensor y = nn::SpatialDropout1D(0.5)(K::ones({8, 16, 4}), {.training = true});
  CHECK(values(K::std(y, 1)) == Values(32, 0));
  const Tensor z = nn::Dropout(0.5, {.noise_shape = Shape{1, 6}})(K::ones({9, 6}), {.training = true});
  CHECK(values(K::std(z, 0)) == Values(6, 0));
}

TEST_CASE("gaussian noise has mean 0 and is absent from predictions") {
  const Tensor x = K::zeros({200, 50});
  CHECK(values(nn::GaussianNoise(2)(x)) == values(x));
  const Tensor y = nn::GaussianNoise(2, {.seed = 3})(x, {.training = true});
  CHECK(close(K::std(y).item<double>(), 2.0, {.rtol = 0.05}));
}

TEST_CASE("a rate outside of [0, 1] is refused") {
  CHECK_THROWS_AS(nn::Dropout(1.5), ValueError);
  CHECK_THROWS_AS(nn::Dropout(-0.1), ValueError);
}
