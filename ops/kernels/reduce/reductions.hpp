#pragma once
#include <ktape/ops/kernels/axis_shape.hpp>
#include <ktape/ops/kernels/reduce/accumulator.hpp>
#include <ktape/ops/kernels/reduce/along_axis.hpp>
#include <ktape/ops/kernels/reduce/scaled_product.hpp>

/// Reductions of a contiguous [outer, axis, inner] array over its middle dimension, to [outer, inner].
/// Results do not depend on the number of threads. An axis of size 0 gives the identity.
namespace ktape::kernels {
namespace detail {

template <class Op, class A, class T, class Out>
void reduce(const T* in, Out* out, AxisShape shape) {
  reduce_along_axis<Accumulator<Op, A>>(in, out, shape, [](auto total) {
    if constexpr (std::is_same_v<Out, bool>) return total != 0;
    else return static_cast<compute_type<Out>>(total);
  });
}

/// Computes sums and products of integers on the unsigned type, so that they wrap around; sums and products
/// of bool are `any` and `all`.
template <class Op, class BoolOp, class T, class Out>
void reduce_arithmetic(const T* in, Out* out, AxisShape shape) {
  if constexpr (std::is_integral_v<T>) {
    using U = bits_of<T>;
    using Chosen = std::conditional_t<std::is_same_v<T, bool>, BoolOp, Op>;
    reduce<Chosen, U>(reinterpret_cast<const U*>(in), reinterpret_cast<bits_of<Out>*>(out), shape);
  } else {
    reduce<Op, compute_type<T>>(in, out, shape);
  }
}

/// Computes the products that are NaN once more: blocks can overflow beside a factor 0.
template <class T>
void mend_products(const T* in, T* out, AxisShape shape) {
  parallel_rows(shape.outer, shape.inner, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin * shape.inner; i < end * shape.inner; ++i) {
      if (!(out[i] != out[i])) continue;
      const T* from = in + i / shape.inner * shape.axis * shape.inner + i % shape.inner;
      ScaledProduct<T> product;
      for (std::int64_t k = 0; k < shape.axis; ++k) product.multiply(from[k * shape.inner]);
      out[i] = product.value();
    }
  });
}

}  // namespace detail

/// out[o, j] = the sum, product or sum of squares of in[o, :, j]. Integers wrap around; for
/// bool, the results are any, all and any.
template <class T, class Out>
void reduce_sum(const T* in, Out* out, AxisShape shape) {
  detail::reduce_arithmetic<detail::Sum, detail::Max>(in, out, shape);
}
template <class T, class Out>
void reduce_prod(const T* in, Out* out, AxisShape shape) {
  detail::reduce_arithmetic<detail::Prod, detail::Prod>(in, out, shape);
  if constexpr (std::is_floating_point_v<T>) detail::mend_products(in, out, shape);
}
template <class T, class Out>
void reduce_sum_of_squares(const T* in, Out* out, AxisShape shape) {
  detail::reduce_arithmetic<detail::SumOfSquares, detail::Max>(in, out, shape);
}

/// The type of a sum that is divided later: int64 for integers.
template <class T>
using wide_type = std::conditional_t<std::is_integral_v<T>, std::int64_t, compute_type<T>>;

/// out[o, j] = the sum of in[o, :, j] / count; integers are added up as int64, and the quotient truncated.
template <class T, class Out>
void reduce_mean(const T* in, Out* out, AxisShape shape, std::int64_t count) {
  using Narrow = std::conditional_t<(sizeof(T) < 4), std::int32_t, std::int64_t>;
  using A = std::conditional_t<std::is_integral_v<T>, Narrow, compute_type<T>>;
  // For totals of at most 53 bits the truncated quotient of doubles equals that of integers, and doubles
  // divide in vectors.
  using Quotient = std::conditional_t<std::is_integral_v<T> && sizeof(T) <= 2, double, wide_type<T>>;
  const auto n = static_cast<Quotient>(count);
  detail::reduce_along_axis<detail::Accumulator<detail::WideSum, A>>(in, out, shape, [n](auto total) {
    return static_cast<compute_type<Out>>(static_cast<Quotient>(total) / n);
  });
}

/// out[o, j] = the largest or smallest of in[o, :, j], or NaN if an element is NaN. For an axis of size 0:
/// -infinity (+infinity), or the lowest (largest) value of an integer type.
template <class T>
void reduce_max(const T* in, T* out, AxisShape shape) {
  detail::reduce<detail::Max, compute_type<T>>(in, out, shape);
}
template <class T>
void reduce_min(const T* in, T* out, AxisShape shape) {
  detail::reduce<detail::Min, compute_type<T>>(in, out, shape);
}

/// out[o, j] = whether any, or all, of in[o, :, j] differ from zero (NaN does).
template <class T>
void reduce_any(const T* in, bool* out, AxisShape shape) {
  using Op = detail::Any<!std::is_integral_v<T>>;
  detail::reduce<Op, bits_of<T>>(reinterpret_cast<const bits_of<T>*>(in), out, shape);
}
template <class T>
void reduce_all(const T* in, bool* out, AxisShape shape) {
  using Op = detail::All<!std::is_integral_v<T>>;
  detail::reduce<Op, bits_of<T>>(reinterpret_cast<const bits_of<T>*>(in), out, shape);
}

}  // namespace ktape::kernels
