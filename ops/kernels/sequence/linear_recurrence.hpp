#pragma once
#include <ktape/ops/kernels/axis_shape.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>

/// Recurrences along the middle dimension of contiguous [outer, axis, inner] arrays, forwards or backwards.
namespace ktape::kernels {
namespace detail {

/// Calls f(i, before) for every element of the array, where `before` is the index of the previous element
/// along the axis, for which f has been called already, or -1 for the first element.
template <class F>
void along(AxisShape shape, bool backwards, const F& f) {
  const std::int64_t step = backwards ? -shape.inner : shape.inner;
  parallel_rows(shape.outer, shape.axis * shape.inner, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o) {
      std::int64_t at = (o * shape.axis + (backwards ? shape.axis - 1 : 0)) * shape.inner;
      for (std::int64_t j = 0; j < shape.inner; ++j) f(at + j, std::int64_t{-1});
      for (std::int64_t k = 1; k < shape.axis; ++k) {
        at += step;
        for (std::int64_t j = 0; j < shape.inner; ++j) f(at + j, at + j - step);
      }
    }
  });
}

/// Arithmetic of integers happens in the unsigned type of their width, which wraps around.
template <class T>
using wrapping = std::conditional_t<std::is_integral_v<T>, bits_of<T>, compute_type<T>>;

}  // namespace detail

/// out[k] = b[k] + a[k] * out[k - 1] along the axis, with out[0] = b[0]. The product is 0 where one of both is 0, whatever the other
/// is: the elements of `out` are gradients, which may have overflowed.
template <class T>
void linear_recurrence(const T* a, const T* b, T* out, AxisShape shape, bool backwards) {
  if (shape.axis == 0) return;
  using A = detail::wrapping<T>;
  detail::along(shape, backwards, [=](std::int64_t i, std::int64_t before) {
    if (before < 0) return void(out[i] = b[i]);
    A product;
    if constexpr (std::is_integral_v<A>)
      product = static_cast<A>(std::uint64_t(static_cast<A>(a[i])) * static_cast<A>(out[before]));
    else
      product = a[i] == 0 || out[before] == T(0) ? A(0) : static_cast<A>(a[i]) * static_cast<A>(out[before]);
    out[i] = static_cast<T>(static_cast<A>(static_cast<A>(b[i]) + product));
  });
}

}  // namespace ktape::kernels
