#pragma once
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/kernels/batch.hpp>
#include <ktape/ops/operators.hpp>

/// What a generic lambda needs to run on a number, on a SIMD vector and on a Tensor alike.
namespace ktape::kernels {

using xsimd::select;
template <Arithmetic T>
T select(bool condition, T x, T y) {
  return condition ? x : y;
}
inline Tensor select(const Tensor& condition, const Tensor& x, const Tensor& y) { return backend::where(condition, x, y); }

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

}  // namespace ktape::kernels
