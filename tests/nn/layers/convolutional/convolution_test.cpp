#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("a convolution slides its kernel over the steps") {
  const nn::Conv1D layer(1, 2, {.dtype = "float64"});
  const Tensor x = doubles({{{1}, {2}, {4}, {8}}});
  layer(x);
  layer.set_weights({doubles({{{10}}, {{1}}}), doubles({0.5})});
  CHECK(values(layer(x)) == Values{12.5, 24.5, 48.5});
}

TEST_CASE("a causal convolution reads no later step") {
  const nn::Conv1D layer(1, 2, {.padding = "causal", .use_bias = false, .dtype = "float64"});
  const Tensor x = doubles({{{1}, {2}, {4}}});
  layer(x);
  layer.set_weights({doubles({{{10}}, {{1}}})});
  CHECK(values(layer(x)) == Values{1, 12, 24});
}

TEST_CASE("strides, dilation, padding and groups decide the shapes") {
  const Shape image{2, 9, 7, 4};
  CHECK(nn::Conv2D(6, 3)(K::ones(image)).shape() == Shape{2, 7, 5, 6});
  CHECK(nn::Conv2D(6, 3, {.strides = 2, .padding = "same"})(K::ones(image)).shape() == Shape{2, 5, 4, 6});
  CHECK(nn::Conv2D(6, 3, {.dilation_rate = 2})(K::ones(image)).shape() == Shape{2, 5, 3, 6});
  const nn::Conv2D grouped(6, 3, {.groups = 2});
  grouped(K::ones(image));
  CHECK(grouped.kernel().shape() == Shape{3, 3, 2, 6});
  const nn::DepthwiseConv2D depthwise(3, {.depth_multiplier = 2});
  CHECK(depthwise(K::ones(image)).shape() == Shape{2, 7, 5, 8});
  CHECK(nn::SeparableConv2D(5, 3)(K::ones(image)).shape() == Shape{2, 7, 5, 5});
  CHECK(nn::Conv2DTranspose(3, 3, {.strides = 2})(K::ones(image)).shape() == Shape{2, 19, 15, 3});
}

TEST_CASE("the data format moves the channels, not the numbers") {
  const Tensor x = normal({2, 5, 6, 3});
  const nn::Conv2D last(4, 3, {.dtype = "float64"}),
      first(4, 3, {.data_format = "channels_first", .dtype = "float64"});
  const Tensor y = last(x);
  first(K::permute_dimensions(x, {0, 3, 1, 2}));
  first.set_weights(last.get_weights());
  const Tensor moved = K::permute_dimensions(first(K::permute_dimensions(x, {0, 3, 1, 2})), {0, 2, 3, 1});
  CHECK(close(moved, y, {.rtol = 1e-12, .atol = 1e-12}));
}

TEST_CASE("channels that groups do not divide are refused by name") {
  CHECK_THROWS_AS(nn::Conv2D(6, 3, {.groups = 4, .name = "odd"})(K::ones({1, 8, 8, 4})), ValueError);
  CHECK_THROWS_AS(nn::Conv2D(6, 9)(K::ones({1, 8, 8, 4})), ValueError);
}
