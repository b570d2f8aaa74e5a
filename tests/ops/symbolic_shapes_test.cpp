#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "check.hpp"

using doctest::Contains;
namespace K = ktape::backend;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError, ktape::Variable;

/// Shapes of convolutions, pooling, images, losses, normalization, attention and recurrences of tensors with
/// unknown extents. An extent is None exactly if it depends on an unknown extent.
namespace {
Tensor unknown(const Shape& shape) { return K::placeholder(shape); }

/// Checks the static shape, and that a function on values gives an agreeing shape.
void check_shape(const Shape& wanted, const Tensor& y, const std::vector<Tensor>& inputs,
                 const std::vector<Shape>& given) {
  CHECK(K::int_shape(y) == wanted);
  std::vector<Tensor> values;
  for (const Shape& shape : given) values.push_back(K::ones(shape));
  CHECK(ktape::compatible(K::function(inputs, {y})(values)[0].shape(), wanted));
}
}  // namespace

TEST_CASE("convolutions of unknown images promise the extents that are known") {
  const Tensor x = unknown({None, None, None, 3}), rows = unknown({None, 10, 9, 3});
  const Tensor kernel = K::ones({3, 3, 3, 8});
  const auto conv = [&](const Tensor& x, const K::Conv2dOptions& options) {
    return K::conv2d(x, kernel, options);
  };
  check_shape({None, None, None, 8}, conv(x, {}), {x}, {{2, 5, 6, 3}});
  check_shape({None, 4, 3, 8}, conv(rows, {.strides = {3, 3}, .padding = "same"}), {rows}, {{2, 10, 9, 3}});
  check_shape({None, None, None, 8}, conv(x, {.strides = {3, 3}, .padding = "same"}), {x}, {{2, 7, 9, 3}});
  const Tensor first = unknown({None, 3, None, 9});
  check_shape({None, 8, None, 7}, conv(first, {.data_format = "channels_first"}), {first}, {{2, 3, 5, 9}});
  const Tensor series = unknown({None, None, 4}), steps = unknown({None, 7, 4});
  const Tensor pairs = K::ones({2, 4, 5});
  check_shape({None, None, 5}, K::conv1d(series, pairs, {.strides = 2}), {series}, {{2, 7, 4}});
  check_shape({None, 3, 5}, K::conv1d(steps, pairs, {.strides = 2}), {steps}, {{2, 7, 4}});
  check_shape({None, 7, 5}, K::conv1d(steps, pairs, {.padding = "causal"}), {steps}, {{2, 7, 4}});
  const Tensor anything = unknown({None, None, None, None});
  check_shape({None, None, None, 8}, conv(anything, {}), {anything}, {{1, 4, 4, 3}});
  CHECK_THROWS_WITH_AS(
      conv(unknown({None, None, None, 4}), {}),
      Contains("the kernel must have x's channels as its axis 2: received x=(None, None, None, 4)"),
      ValueError);
  CHECK_THROWS_AS(conv(unknown({None, 2, None, 3}), {}), ValueError);
}

TEST_CASE("depthwise, separable and transposed convolutions know the extents that follow from known ones") {
  const Tensor x = unknown({None, None, None, 3}), anything = unknown({None, None, None, None});
  const Tensor deep = K::ones({3, 3, 3, 2}), point = K::ones({1, 1, 6, 4});
  check_shape({None, None, None, 6}, K::depthwise_conv2d(x, deep), {x}, {{1, 4, 4, 3}});
  check_shape({None, None, None, 6}, K::depthwise_conv2d(anything, deep), {anything}, {{1, 4, 4, 3}});
  check_shape({None, None, None, 4}, K::separable_conv2d(x, deep, point), {x}, {{1, 4, 4, 3}});
  const Tensor small = unknown({None, 4, 4, 8}), kernel = K::ones({3, 3, 5, 8});
  const K::Conv2dOptions twice{.strides = {2, 2}, .padding = "same"};
  check_shape({7, 8, 8, 5}, K::conv2d_transpose(small, kernel, {7, 8, 8, 5}, twice), {small}, {{7, 4, 4, 8}});
  check_shape({None, 8, 8, 5}, K::conv2d_transpose(small, kernel, {None, 8, 8, 5}, twice), {small},
              {{2, 4, 4, 8}});
  check_shape({None, 8, 8, 5}, K::conv2d_transpose(small, kernel, {K::shape(small)[0], 8, 8, 5}, twice),
              {small}, {{2, 4, 4, 8}});
  CHECK_THROWS_WITH_AS(K::conv2d_transpose(small, kernel, {None, 9, 8, 5}, twice),
                       Contains("[conv2d_transpose] output_shape must be one"), ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d_transpose(small, kernel, {None, None, 8, 5}, twice),
                       Contains("None for the batch only"), ValueError);
}

TEST_CASE("the kernel of a deferred convolution is read when the function runs") {
  const Tensor x = unknown({None, None, None, 1});
  Variable kernel = K::variable(K::ones({1, 1, 1, 1})), deep = K::variable(K::ones({1, 1, 1, 2}));
  const auto f =
      K::function({x}, {K::conv2d(x, kernel), K::separable_conv2d(x, deep, K::ones({1, 1, 2, 1}))});
  K::set_value(kernel, K::full({1, 1, 1, 1}, 3));
  K::set_value(deep, K::full({1, 1, 1, 2}, 2));
  CHECK(values(f({K::ones({1, 1, 1, 1})})[0]) == Values{3});
  CHECK(values(f({K::ones({1, 1, 1, 1})})[1]) == Values{4});
}

TEST_CASE("pooling and resizing of images of unknown size, as in a U-Net, keep the known extents") {
  const Tensor x = unknown({None, None, None, 3});
  const Tensor small = K::pool2d(x, {2, 2}, {.strides = {2, 2}});
  CHECK(K::int_shape(small) == Shape{None, None, None, 3});
  const Tensor deep = K::relu(K::conv2d(small, K::ones({3, 3, 3, 4}), {.padding = "same"}));
  const Tensor joined = K::concatenate({x, K::resize_images(deep, 2, 2, "channels_last")});
  check_shape({None, None, None, 2}, K::conv2d(joined, K::ones({1, 1, 7, 2})), {x}, {{2, 8, 12, 3}});
  const Tensor fixed = unknown({None, 9, None, 3}), first = unknown({None, 3, 8, None});
  check_shape({None, 5, None, 3}, K::pool2d(fixed, {2, 2}, {.strides = {2, 2}, .padding = "same"}), {fixed},
              {{1, 9, 4, 3}});
  check_shape(
      {None, 3, 4, None},
      K::pool2d(first, {2, 2}, {.strides = {2, 2}, .data_format = "channels_first", .pool_mode = "avg"}),
      {first}, {{1, 3, 8, 6}});
  check_shape({None, 27, None, 3},
              K::resize_images(fixed, 3, 2, "channels_last", {.interpolation = "bilinear"}), {fixed},
              {{1, 9, 4, 3}});
  check_shape({None, 11, None, 3}, K::spatial_2d_padding(fixed), {fixed}, {{1, 9, 4, 3}});
  CHECK_THROWS_WITH_AS(K::pool2d(unknown({None, 1, None, 3}), {2, 2}, {.strides = {2, 2}}),
                       Contains("[pool2d]"), ValueError);
}

TEST_CASE("losses join the known extents of target and output") {
  const Tensor any = unknown({None, None}), ten = unknown({None, 10}), labels = unknown({None});
  check_shape({None}, K::categorical_crossentropy(any, ten), {any, ten}, {{3, 10}, {3, 10}});
  check_shape({10}, K::categorical_crossentropy(any, ten, {.axis = 0}), {any, ten}, {{3, 10}, {3, 10}});
  check_shape({None}, K::sparse_categorical_crossentropy(labels, ten), {labels, ten}, {{3}, {3, 10}});
  CHECK(K::int_shape(K::sparse_categorical_crossentropy(unknown({None, 1}), ten)) == Shape{None});
  check_shape({None, 10}, K::binary_crossentropy(any, ten), {any, ten}, {{3, 10}, {3, 10}});
  CHECK_THROWS_WITH_AS(K::categorical_crossentropy(unknown({None, 9}), ten),
                       Contains("target and output must have one shape: received target=(None, 9)"),
                       ValueError);
  const Tensor y = unknown({4, None}), p = unknown({None, None, 6}), length = unknown({None, 1});
  CHECK(K::int_shape(K::ctc_batch_cost(y, p, length, length)) == Shape{4, 1});
}

TEST_CASE("normalization and attention of unknown tensors promise the extents that are known") {
  const Tensor x = unknown({None, None, None, 3}), c = K::ones({3});
  check_shape({None, None, None, 3}, K::batch_normalization(x, c, c, c, c), {x}, {{2, 2, 2, 3}});
  check_shape({None, None, None, 3}, K::layer_normalization(x, c, c), {x}, {{2, 2, 2, 3}});
  const auto batch = K::normalize_batch_in_training(x, c, c, {0, 1, 2});
  check_shape({None, None, None, 3}, batch.normalized, {x}, {{2, 2, 2, 3}});
  check_shape({3}, batch.mean, {x}, {{2, 2, 2, 3}});
  check_shape({3}, batch.variance, {x}, {{2, 2, 2, 3}});
  CHECK_THROWS_AS(K::layer_normalization(x, K::ones({4}), c), ValueError);
  const Tensor q = unknown({None, 2, None, 8}), k = unknown({5, 2, None, 8}), v = unknown({None, 2, None, 4});
  check_shape({5, 2, None, 4}, K::scaled_dot_product_attention(q, k, v), {q, k, v},
              {{5, 2, 3, 8}, {5, 2, 6, 8}, {5, 2, 6, 4}});
  CHECK_THROWS_AS(K::scaled_dot_product_attention(q, unknown({None, 3, None, 8}), v), ValueError);
}

TEST_CASE("recurrences run over an unknown number of steps, with symbolic states and masks") {
  const Tensor x = unknown({None, None, 3}), state = unknown({None, 4}), mask = unknown({None, None});
  const auto step = [](const Tensor& in, const std::vector<Tensor>& states) {
    const Tensor h = states[0] + K::sum(in, -1, true);
    return std::pair{h * 2.f, std::vector{h}};
  };
  const auto out = K::rnn(step, x, {state}, {.mask = mask});
  const std::vector<Shape> given{{2, 5, 3}, {2, 4}, {2, 5}};
  check_shape({None, 4}, out.last_output, {x, state, mask}, given);
  check_shape({None, None, 4}, out.outputs, {x, state, mask}, given);
  check_shape({None, 4}, out.new_states[0], {x, state, mask}, given);
  const Tensor fixed = unknown({None, 7, 3});
  CHECK(K::int_shape(K::rnn(step, fixed, {state}).outputs) == Shape{None, 7, 4});
  CHECK_THROWS_WITH_AS(K::rnn(step, fixed, {state}, {.mask = unknown({None, 4})}), Contains("[rnn]"),
                       ValueError);

  Variable kernel = K::variable(K::ones({3, 16})), recurrent = K::variable(K::ones({4, 16}));
  const auto cells = K::lstm(x, kernel, recurrent, K::zeros({16}), {state, state}, {.mask = mask});
  check_shape({None, 4}, cells.last_output, {x, state, mask}, given);
  check_shape({None, None, 4}, cells.outputs, {x, state, mask}, given);
  CHECK(cells.new_states.size() == 2);
  const auto f = K::function({x, state, mask}, {cells.outputs});
  K::set_value(kernel, K::zeros({3, 16}));
  K::set_value(recurrent, K::zeros({4, 16}));
  CHECK(values(K::max(f({K::ones({2, 5, 3}), K::zeros({2, 4}), K::ones({2, 5})})[0])) == Values{0});
  CHECK_THROWS_AS(K::lstm(unknown({None, None, 5}), kernel, recurrent, K::zeros({16})), ValueError);
}
