#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("activation layers apply their function to each element") {
  const Tensor x = doubles({{-2, -0.5, 0, 3}});
  CHECK(values(nn::ReLU()(x)) == Values{0, 0, 0, 3});
  CHECK(values(nn::ReLU({.max_value = 2.0, .negative_slope = 0.5})(x)) == Values{-1, -0.25, 0, 2});
  CHECK(values(nn::LeakyReLU({.negative_slope = 0.25})(x)) == Values{-0.5, -0.125, 0, 3});
  CHECK(values(nn::Activation("relu")(x)) == values(nn::ReLU()(x)));
  CHECK(close(nn::ELU()(x), K::elu(x)));
  CHECK(close(nn::Softmax()(x), K::softmax(x)));
}

TEST_CASE("PReLU trains a slope for each element, or one for shared axes") {
  const nn::PReLU own({.alpha_initializer = nn::initializers::Constant(0.5)});
  CHECK(values(own(K::cast(doubles({{-2, 4}}), "float32"))) == Values{-1, 4});
  CHECK(own.weights()[0].shape() == Shape{2});
  const nn::PReLU shared({.shared_axes = {1, 2}});
  shared(K::ones({1, 5, 6, 3}));
  CHECK(shared.weights()[0].shape() == Shape{1, 1, 3});
}

TEST_CASE("an activation that does not exist is named, with the nearest") {
  CHECK_THROWS_WITH_AS(nn::Activation("rellu"), doctest::Contains("relu"), ValueError);
}
