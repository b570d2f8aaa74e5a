#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/nn/activations.hpp>
#include <ktape/ops/keras/nn/losses.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/nn/losses.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <numbers>

namespace ktape::ops {

namespace K = backend;
using op_helpers::floating;

Tensor categorical_crossentropy(const Tensor& target, const Tensor& output, bool from_logits, int axis) {
  const CalledOp called("categorical_crossentropy");
  return K::categorical_crossentropy(target, floating("categorical_crossentropy", output, "output"),
                                     {.from_logits = from_logits, .axis = axis});
}

namespace {

/// Returns probabilities away from 0 and 1.
Tensor clipped(const Tensor& p) { return K::clip(p, K::epsilon(), 1 - K::epsilon()); }

}  // namespace

Tensor sparse_categorical_crossentropy(const Tensor& given, const Tensor& given_output, bool from_logits,
                                       int given_axis) {
  const CalledOp called("sparse_categorical_crossentropy");
  expect_defined("sparse_categorical_crossentropy", "target, output", given, given_output);
  const op_helpers::Operands operands = op_helpers::together(given, given_output);
  const Tensor output = floating("sparse_categorical_crossentropy", operands.y, "output");
  const int axis = canonical_axis("sparse_categorical_crossentropy", given_axis, output.ndim());
  Tensor target = operands.x.dtype().is_integer() ? operands.x : K::cast(operands.x, DType::Int64);
  if (target.ndim() == output.ndim() && target.shape()[-1] == 1) target = K::squeeze(target, -1);
  Shape wanted = output.shape();
  wanted.erase(axis);
  if (target.ndim() != wanted.rank() || !compatible(target.shape(), wanted))
    fail("[sparse_categorical_crossentropy] target must have the shape ", wanted,
         ": received target=", target.shape());
  const Tensor logs =
      from_logits ? log_softmax(output, axis) : K::log(clipped(output / K::sum(output, axis, true)));
  return -K::squeeze(take_along_axis(logs, K::expand_dims(target, axis), axis), axis);
}

Tensor binary_crossentropy(const Tensor& given, const Tensor& given_output, bool from_logits) {
  const CalledOp called("binary_crossentropy");
  expect_defined("binary_crossentropy", "target, output", given, given_output);
  const auto [target, output] = op_helpers::promoted_floating("binary_crossentropy", given, given_output);
  if (!compatible(target.shape(), output.shape()))
    fail("[binary_crossentropy] target must have the shape of the output, ", output.shape(),
         ": received target=", target.shape());
  if (from_logits) return K::maximum(output, 0) - output * target + softplus(-K::abs(output));
  const Tensor p = clipped(output);
  return -(target * K::log(p) + (1 - target) * K::log(1 - p));
}

Tensor depth_to_space(const Tensor& x, std::int64_t block_size, const std::string& data_format) {
  const CalledOp called("depth_to_space");
  const std::map<std::string, std::int64_t> block{{"p", block_size}, {"q", block_size}};
  if (data_format == "channels_last") return rearrange(x, "n h w (p q c) -> n (h p) (w q) c", block);
  if (data_format == "channels_first") return rearrange(x, "n (c p q) h w -> n c (h p) (w q)", block);
  fail(
      "[depth_to_space] data_format must be \"channels_first\" or \"channels_last\": received data_format=\"",
      data_format, '"');
}

Tensor space_to_depth(const Tensor& x, std::int64_t block_size, const std::string& data_format) {
  const CalledOp called("space_to_depth");
  const std::map<std::string, std::int64_t> block{{"p", block_size}, {"q", block_size}};
  if (data_format == "channels_last") return rearrange(x, "n (h p) (w q) c -> n h w (p q c)", block);
  if (data_format == "channels_first") return rearrange(x, "n c (h p) (w q) -> n (c p q) h w", block);
  fail(
      "[space_to_depth] data_format must be \"channels_first\" or \"channels_last\": received data_format=\"",
      data_format, '"');
}

Complex polar(const Tensor& abs_, const Tensor& angle) {
  const CalledOp called("polar");
  const auto [r, phi] = op_helpers::promoted_floating("polar", abs_, angle);
  return {r * K::cos(phi), r * K::sin(phi)};
}

Tensor psnr(const Tensor& x1, const Tensor& x2, double max_val) {
  const CalledOp called("psnr");
  expect_defined("psnr", "x1, x2", x1, x2);
  const auto [x, y] = op_helpers::promoted_floating("psnr", x1, x2);
  if (!compatible(x.shape(), y.shape()))
    fail("[psnr] both tensors must have one shape: received x1=", x.shape(), ", x2=", y.shape());
  return 20 * std::log10(max_val) - 10 * std::numbers::log10e * K::log(K::mean(K::square(x - y)));
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations loss_operations() {
  static constexpr Operation rows[] = {
      {"PSNR", "nn", "x1, x2; max_val", calls<ops::psnr>},
      {"Polar", "nn", "abs_, angle;", calls<ops::polar>},
      {"DepthToSpace", "nn", "x; block_size, data_format=\"channels_last\"", calls<ops::depth_to_space>},
      {"SpaceToDepth", "nn", "x; block_size, data_format=\"channels_last\"", calls<ops::space_to_depth>},
  };
  return rows;
}

}  // namespace ktape::nn
