#pragma once
#include <ktape/autograd/node.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/kernels/simd/math.hpp>
#include <ktape/ops/operators.hpp>

/// Functions for generic lambdas that run on numbers, SIMD vectors and Tensors.
namespace ktape::op_helpers {

using xsimd::select;
template <Arithmetic T>
T select(bool condition, T x, T y) {
  return condition ? x : y;
}
inline Tensor select(const Tensor& condition, const Tensor& x, const Tensor& y) {
  return backend::where(condition, x, y);
}

/// Returns the constant `value` as a number, a vector or a tensor, as x is.
template <class T, class A>
xsimd::batch<T, A> like(const xsimd::batch<T, A>&, double value) {
  return xsimd::batch<T, A>(static_cast<T>(value));
}
template <Arithmetic T>
T like(T, double value) {
  return static_cast<T>(value);
}
inline Tensor like(const Tensor& x, double value) { return backend::full(x.shape(), value, x.dtype()); }

/// Returns g * slope, a step of the chain rule: 0 where the gradient g is 0, whatever the slope is. A side that a
/// choice did not take has the gradient 0, and its slope may be infinite or NaN.
template <class B>
B chained(const B& g, const B& slope) {
  return select(g == like(g, 0), like(g, 0), g * slope);
}
/// Does so for tensors, under broadcasting. The result is linear in g, also at 0: its derivative by g is chained(h,
/// slope) for a gradient h, and that by the slope is the product of two gradients.
Tensor chained(const Tensor& g, const Tensor& slope);
/// Returns the product of two gradients, of the first and the second order, say: 0 where one of them is 0.
Tensor chained_gradients(const Tensor& g, const Tensor& h);

}  // namespace ktape::op_helpers
