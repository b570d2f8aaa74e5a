#pragma once
#include <ktape/autograd/node.hpp>
#include <ktape/ops/fusion/fused_op.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/kernels/elementwise/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

/// Element-wise ops whose gradients are made of other ops; half precision is computed in float32, and kept as given for
/// the gradients. Internal: sources only.
namespace ktape::op_helpers {

/// Returns x in the dtype in which numbers of its dtype are computed, as a recorded op.
inline Tensor computed(const Tensor& x) { return backend::cast(x, compute_dtype(x.dtype())); }

/// The derivative of a function as a formula of its argument and its result.
using Slope = Tensor (*)(const Tensor& x, const Tensor& y);

/// Returns f(x), where f takes vectors of float and double. A null slope stands for a function without a
/// gradient.
template <class F>
Tensor smooth_unary(const char* op, const Tensor& given, F f, Slope slope) {
  const Tensor x = floating(op, given);
  if (is_symbolic(x))
    return defer(
        op, {x.shape(), x.dtype()}, [=](const Tensor& x) { return smooth_unary(op, x, f, slope); }, x);
  const Tensor wide = widened(x);
  Tensor out = result_like(wide);
  compute<kernels::Elements::Floating>(out, wide.dtype(), f, wide);
  out = narrowed(out, x.dtype());
  if (slope && recording(x))
    record(op, out, {x}, [x, slope](const Tensor& g, const Tensor& y, Grads& grads) {
      grads.to(
          0, [&] { return backend::cast(chained(computed(g), slope(computed(x), computed(y))), x.dtype()); });
    });
  return out;
}

/// The derivatives of a function of two tensors as formulas of the arguments and the result; null where there
/// is no gradient.
using BinarySlope = Tensor (*)(const Tensor& x, const Tensor& y, const Tensor& result);

/// Returns f(x, y) of floating tensors under broadcasting.
template <class F>
Tensor smooth_binary(const char* op, const Operands& o, F f, BinarySlope x_slope, BinarySlope y_slope) {
  const Shape shape = broadcast_shapes(op, o.x.shape(), o.y.shape(), "x1", "x2");
  if (is_symbolic(o.x, o.y))
    return defer(
        op, {shape, o.x.dtype()},
        [=](const Tensor& x, const Tensor& y) {
          return smooth_binary(op, Operands{x, y}, f, x_slope, y_slope);
        },
        o.x, o.y);
  const Operands b = broadcast_together(op, o);
  const Tensor x = widened(b.x), y = widened(b.y);
  Tensor out = result(shape, x.dtype(), op);
  compute<kernels::Elements::Floating>(out, out.dtype(), f, x, y);
  out = narrowed(out, b.x.dtype());
  if ((x_slope || y_slope) && recording(b.x, b.y))
    record(op, out, {b.x, b.y}, [=](const Tensor& g, const Tensor& result, Grads& grads) {
      const auto part = [&](BinarySlope slope) {
        return backend::cast(chained(computed(g), slope(computed(b.x), computed(b.y), computed(result))),
                             b.x.dtype());
      };
      if (x_slope) grads.to(0, [&] { return part(x_slope); });
      if (y_slope) grads.to(1, [&] { return part(y_slope); });
    });
  return out;
}

/// Returns f(x, y) of tensors of one integer dtype under broadcasting.
template <class F>
Tensor integer_binary(const char* op, const Operands& o, F f) {
  const Shape shape = broadcast_shapes(op, o.x.shape(), o.y.shape(), "x1", "x2");
  if (is_symbolic(o.x, o.y))
    return defer(
        op, {shape, o.x.dtype()},
        [=](const Tensor& x, const Tensor& y) {
          return integer_binary(op, {x, y}, f);
        },
        o.x, o.y);
  Tensor out = result(shape, o.x.dtype(), op);
  compute<kernels::Elements::Integer>(out, out.dtype(), f, o.x, o.y);
  return out;
}

}  // namespace ktape::op_helpers
