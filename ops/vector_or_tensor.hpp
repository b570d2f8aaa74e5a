#pragma once
#include <ktape/autograd/node.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/kernels/simd/batch.hpp>
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

/// The constant `value`, of the kind of x.
template <class T, class A>
xsimd::batch<T, A> like(const xsimd::batch<T, A>&, double value) {
  return xsimd::batch<T, A>(static_cast<T>(value));
}
template <Arithmetic T>
T like(T, double value) {
  return static_cast<T>(value);
}
inline Tensor like(const Tensor& x, double value) { return backend::full(x.shape(), value, x.dtype()); }

/// A slope that is 0 wherever g is 0: without it, 0 * inf would bring NaN from the branch that a switch did
/// not take.
template <class B>
B flowing(const B& g, const B& slope) {
  return select(g == like(g, 0), like(g, 0), slope);
}
/// The same slope for tensors. While ops are recorded, `slope` is returned unchanged, because a second
/// derivative must see a function that is linear in g, also at 0.
inline Tensor flowing(const Tensor& g, const Tensor& slope) {
  return recording() ? slope : select(backend::equal(g, like(g, 0)), like(g, 0), slope);
}

}  // namespace ktape::op_helpers
