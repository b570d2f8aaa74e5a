#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor;

TEST_CASE("an einsum over the features is a Dense layer") {
  const nn::EinsumDense layer("ab,bc->ac", 5, {.activation = "relu", .bias_axes = "c", .dtype = "float64"});
  const nn::Dense dense(5, {.activation = "relu", .dtype = "float64"});
  const Tensor x = normal({3, 4});
  layer(x), dense(x);
  dense.set_weights(layer.get_weights());
  CHECK(values(layer(x)) == values(dense(x)));
}

TEST_CASE("an ellipsis stands for axes that stay") {
  const Tensor x = normal({2, 3, 4, 5}, 1, "float32");
  const nn::EinsumDense left("...x,xy->...y", 6, {.bias_axes = "y"});
  CHECK(left(x).shape() == Shape{2, 3, 4, 6});
  CHECK(left.weights()[0].shape() == Shape{5, 6});
  CHECK(left.weights()[1].shape() == Shape{6});

  const nn::EinsumDense right("ab...,bc->ac...", 6, {.bias_axes = "c"});
  CHECK(right(x).shape() == Shape{2, 6, 4, 5});
  CHECK(right.weights()[0].shape() == Shape{3, 6});
  CHECK(right.weights()[1].shape() == Shape{6, 1, 1});
}

TEST_CASE("the bias has the axes that are named, from the first of them on") {
  const Tensor x = K::ones({2, 3, 4});
  const auto bias = [&](const char* axes) {
    const nn::EinsumDense layer("abc,cde->abde", {None, 5, 6}, {.bias_axes = axes});
    layer(x);
    return layer.weights().at(1).shape();
  };
  CHECK(bias("e") == Shape{6});
  CHECK(bias("de") == Shape{5, 6});
  CHECK(bias("d") == Shape{5, 1});
  CHECK(bias("bd") == Shape{3, 5, 1});

  const nn::EinsumDense without("abc,cd->abd", {None, 5});
  without(x);
  CHECK(without.weights().size() == 1);
}

TEST_CASE("the steps may be unknown when the layer is built") {
  const nn::EinsumDense layer("abc,cde->abde", {None, 2, 3}, {.bias_axes = "de"});
  CHECK(layer.compute_output_shape({None, None, 4}) == Shape{None, None, 2, 3});
  CHECK(layer(K::ones({2, 7, 4})).shape() == Shape{2, 7, 2, 3});
}

TEST_CASE("equations that are none, and inputs that do not fit, are refused") {
  const auto made = [](const char* equation, const Shape& output, std::optional<std::string> bias = {}) {
    return nn::EinsumDense(equation, output, {.bias_axes = bias, .name = "e"});
  };
  CHECK_THROWS_WITH_AS(made("ab->ac", {3}), doctest::Contains("equation must be like 'ab,bc->ac'"),
                       ktape::ValueError);
  CHECK_THROWS_WITH_AS(made("...ab,bc->ac", {3}), doctest::Contains("equation must be like"),
                       ktape::ValueError);
  CHECK_THROWS_WITH_AS(made("ab,bc->ad", {3}),
                       doctest::Contains("each letter of the output in input or kernel"), ktape::ValueError);
  CHECK_THROWS_WITH_AS(made("ab,bcd->ac", {3}),
                       doctest::Contains("each letter of the kernel in input or output"), ktape::ValueError);
  CHECK_THROWS_WITH_AS(
      made("ab,bc->ac", {3}, "b"),
      doctest::Contains("bias_axes must be letters of the output 'ac': received bias_axes='b'"),
      ktape::ValueError);
  CHECK_THROWS_WITH_AS(made("ab,bc->ac", {3})(K::ones({2, 3, 4})),
                       doctest::Contains("[e] the equation must name the axes of the input"),
                       ktape::ValueError);
  CHECK_THROWS_WITH_AS(made("abc,cd->abd", {3})(K::ones({2, 3, 4})),
                       doctest::Contains("[e] output_shape must have an extent for each axis"),
                       ktape::ValueError);
  CHECK_THROWS_WITH_AS(made("abc,cd->abd", {5, 3})(K::ones({2, 3, 4})),
                       doctest::Contains("received 5 and 3 for 'b'"), ktape::ValueError);
}
