#pragma once
#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/fusion/fused_op.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

/// Element-wise ops on tensors: allocate, pick the type, run the kernel, record the derivative. Inside of a
/// FusionScope the kernels of large tensors run later, together (fused_op.hpp).
///
/// Functions and derivatives are generic lambdas. On arrays they run on SIMD vectors, fused into one pass;
/// while a gradient is itself being recorded, the lambda runs on Tensors and composes ops, so that the
/// gradient can be differentiated again. A derivative d(g, x...) is linear in the gradient g, and need not care for
/// gradients of 0: where g is 0, so is the result, whatever the slope is.
namespace ktape::op_helpers {

using kernels::Elements;

/// Returns the gradient itself if no other tensor shares its memory, else new memory of its shape.
inline Tensor scratch_like(const Tensor& g) { return g.exclusive() ? g : Tensor::empty_like(g); }
/// Returns a place for the result of an element-wise op of the gradient.
inline Tensor result_over(const Tensor& g) {
  return result_waits(g.size()) ? result_like(g) : scratch_like(g);
}

/// Computes f(x...) for floating tensors of one shape and dtype, not recorded.
template <class F, class... X>
Tensor apply(F f, const Tensor& x, const X&... more) {
  Tensor out = result_like(x);
  compute<Elements::Floating>(out, x.dtype(), f, x, more...);
  return out;
}

/// A derivative d(g, x...) for vectors, with the result 0 where g is 0: 0 times an infinite slope would be NaN.
template <class D>
struct Guarded : D {
  template <class B, class... X>
  B operator()(const B& g, const X&... x) const {
    return select(g == like(g, 0), like(g, 0), static_cast<const D&>(*this)(g, x...));
  }
};
/// A derivative whose slope is finite for all x, NaN included: a choice between g and 0. It needs no guard.
template <class D>
struct Bounded : D {};
template <class D>
constexpr Bounded<D> bounded(D d) {
  return {d};
}

template <class D>
constexpr Guarded<D> guarded(D d) {
  return {d};
}
template <class D>
constexpr auto guarded(kernels::ConvertsHalves<D> d) {
  return kernels::converting_halves(Guarded<D>{d});
}
template <class D>
constexpr Bounded<D> guarded(Bounded<D> d) {
  return d;
}

/// Computes a derivative by recorded ops: as the product of g and a slope that does not depend on g.
template <class D, class... X>
Tensor recorded_derivative(D d, const Tensor& g, const X&... x) {
  return chained(g, d(like(g, 1), x...));
}
template <class D, class... X>
Tensor recorded_derivative(Bounded<D> d, const Tensor& g, const X&... x) {
  return d(g, x...);
}

/// Computes a derivative d(g, x...): in one pass over the arrays, in g's memory where possible; while
/// gradients are recorded, by ops on tensors.
template <class D, class... X>
Tensor derivative(D d, const Tensor& g, const X&... x) {
  if (recording()) return recorded_derivative(d, g, x...);
  Tensor out = result_over(g);
  compute<Elements::Floating>(out, g.dtype(), guarded(d), g, x...);
  return out;
}

/// Computes a derivative for x that broadcast to g. Unlike `derivative`, leaves the memory of g unchanged, for the
/// derivative of the other operand.
template <class D, class... X>
Tensor along(D d, const Tensor& g, const X&... x) {
  if (recording()) return recorded_derivative(d, g, x...);
  if constexpr (sizeof...(X) == 1) return apply(guarded(d), g, x...);
  else return apply(guarded(d), g, backend::broadcast_to(x, g.shape())...);
}

inline void expect_floating(const char* op, const Tensor& x) {
  expect_defined(op, "x", x);
  if (!x.dtype().is_floating())
    fail<TypeError>(
        "[", op, "] x must be floating (float16, bfloat16, float32 or float64): received dtype=", x.dtype());
}

/// y = f(x) with dx = d(g, x).
template <class F, class D>
Tensor unary_by_input(const char* op, const Tensor& x, F f, D d) {
  expect_floating(op, x);
  if (is_symbolic(x))
    return defer(
        op, {x.shape(), x.dtype()}, [op, f, d](const Tensor& x) { return unary_by_input(op, x, f, d); }, x);
  Tensor out = apply(f, x);
  if (recording(x))
    record(op, out, {x},
           [x, d](const Tensor& g, Grads& grads) { grads.to(0, [&] { return derivative(d, g, x); }); });
  return out;
}

/// y = f(x) with dx = d(g, y): keeps the result, not the argument.
template <class F, class D>
Tensor unary_by_output(const char* op, const Tensor& x, F f, D d) {
  expect_floating(op, x);
  if (is_symbolic(x))
    return defer(
        op, {x.shape(), x.dtype()}, [op, f, d](const Tensor& x) { return unary_by_output(op, x, f, d); }, x);
  Tensor out = apply(f, x);
  if (recording(x))
    record(op, out, {x}, [d](const Tensor& g, const Tensor& y, Grads& grads) {
      grads.to(0, [&] { return derivative(d, g, y); });
    });
  return out;
}

/// y = f(x) with dx = d(g): keeps nothing.
template <class F, class D>
Tensor unary_linear(const char* op, const Tensor& x, F f, D d) {
  if (is_symbolic(x))
    return defer(
        op, {x.shape(), x.dtype()}, [op, f, d](const Tensor& x) { return unary_linear(op, x, f, d); }, x);
  Tensor out = apply(f, x);
  if (recording(x))
    record(op, out, {x},
           [d](const Tensor& g, Grads& grads) { grads.to(0, [&] { return derivative(bounded(d), g); }); });
  return out;
}

/// Computes f(x) for a tensor of integers, not recorded.
template <class F>
Tensor apply_integer(F f, const Tensor& x) {
  Tensor out = result_like(x);
  compute<Elements::Integer>(out, x.dtype(), f, x);
  return out;
}

/// Throws the TypeError of `expect_same_dtype`, which names op and dtypes and says how to cast.
[[noreturn]] void fail_for_dtypes(const char* op, const Tensor& x, const Tensor& y, const char* y_name);

/// Throws unless both tensors are defined and have one dtype.
[[gnu::always_inline]] inline void expect_same_dtype(const char* op, const Tensor& x, const Tensor& y,
                                                     const char* y_name = "y") {
  expect_defined(op, "x, y", x, y);
  if (x.dtype() != y.dtype()) fail_for_dtypes(op, x, y, y_name);
}

/// Returns shape and dtype of the result of an element-wise op of two tensors.
inline OutputInfo broadcast_info(const char* op, const Tensor& x, const Tensor& y, const char* y_name = "y") {
  expect_same_dtype(op, x, y, y_name);
  return {broadcast_shapes(op, x.shape(), y.shape(), "x", y_name), x.dtype()};
}

/// Computes f(x, y) under broadcasting for numbers; not recorded.
template <class F>
Tensor apply_broadcast(const char* op, F f, const Tensor& x, const Tensor& y) {
  expect_same_dtype(op, x, y);
  Tensor out = x.shape() == y.shape() ? result_like(x)
                                      : result(broadcast_shapes(op, x.shape(), y.shape()), x.dtype(), op);
  compute<Elements::Number>(out, x.dtype(), f, x, y);
  return out;
}

/// Computes the bool tensor f(x) of a floating tensor.
template <class F>
Tensor condition(const char* op, F f, const Tensor& x) {
  if (is_symbolic(x))
    return defer(
        op, {x.shape(), DType::Bool}, [op, f](const Tensor& x) { return condition(op, f, x); }, x);
  Tensor out = result(x.shape(), DType::Bool, op);
  compute<Elements::Floating, true>(out, x.dtype(), f, x);
  return out;
}

/// Computes the bool tensor f(x, y), or f(y, x) if `swapped`, under broadcasting, for any dtype unless
/// `elements` says which.
template <Elements elements = Elements::Any, class F>
Tensor compare(const char* op, F f, const Tensor& x, const Tensor& y, bool swapped = false) {
  expect_same_dtype(op, x, y);
  const Shape shape = broadcast_shapes(op, x.shape(), y.shape());
  if (is_symbolic(x, y))
    return defer(
        op, {shape, DType::Bool},
        [=](const Tensor& x, const Tensor& y) { return compare<elements>(op, f, x, y, swapped); }, x, y);
  Tensor out = result(shape, DType::Bool, op);
  compute<elements, true>(out, x.dtype(), f, swapped ? y : x, swapped ? x : y);
  return out;
}

}  // namespace ktape::op_helpers
