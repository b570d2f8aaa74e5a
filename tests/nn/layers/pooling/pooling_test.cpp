#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("pooling takes the largest or the mean of each window") {
  const Tensor x = doubles({{{1}, {5}, {2}, {4}, {9}}});
  CHECK(values(nn::MaxPooling1D()(x)) == Values{5, 4});
  CHECK(values(nn::AveragePooling1D()(x)) == Values{3, 3});
  CHECK(values(nn::MaxPooling1D(2, {.padding = "same"})(x)) == Values{5, 4, 9});
  CHECK(values(nn::AveragePooling1D(2, {.padding = "same"})(x)) == Values{3, 3, 9});
  CHECK(values(nn::MaxPooling1D(3, {.strides = 1})(x)) == Values{5, 5, 9});
}

TEST_CASE("global pooling leaves a number for each channel, keepdims keeps the axes") {
  const Tensor x = counted({2, 2, 2, 3});
  CHECK(values(nn::GlobalMaxPooling2D()(x)) == Values{9, 10, 11, 21, 22, 23});
  CHECK(values(nn::GlobalAveragePooling2D()(x)) == Values{4.5, 5.5, 6.5, 16.5, 17.5, 18.5});
  CHECK(nn::GlobalAveragePooling2D({.keepdims = true})(x).shape() == Shape{2, 1, 1, 3});
}

TEST_CASE("unknown extents stay unknown") {
  CHECK(nn::MaxPooling2D().compute_output_shape({None, None, 7, 3}) == Shape{None, None, 3, 3});
  CHECK(nn::GlobalMaxPooling1D().compute_output_shape({None, None, 3}) == Shape{None, 3});
}

TEST_CASE("a window that is larger than the image is refused") {
  CHECK_THROWS_AS(nn::MaxPooling2D(5)(K::ones({1, 4, 4, 1})), ValueError);
}
