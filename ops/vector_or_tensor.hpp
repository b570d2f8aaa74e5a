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

/// Returns the slope, replaced by 0 where g is 0: otherwise 0 * inf would give NaN for the side that a choice
/// did not take.
template <class B>
B masked_slope(const B& g, const B& slope) {
  return select(g == like(g, 0), like(g, 0), slope);
}
/// Does so for tensors, but returns `slope` unchanged while ops are recorded, because a second derivative
/// must see a function that is linear in g, also at 0.
inline Tensor masked_slope(const Tensor& g, const Tensor& slope) {
  return recording() ? slope : select(backend::equal(g, like(g, 0)), like(g, 0), slope);
}

}  // namespace ktape::op_helpers
