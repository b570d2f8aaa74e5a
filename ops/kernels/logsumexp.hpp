#pragma once
#include <ktape/ops/kernels/groups.hpp>
#include <ktape/ops/kernels/softmax.hpp>

namespace ktape::kernels {

/// log(sum(exp(x))) of one row. Without a finite largest element it is that element: -inf, inf or NaN.
template <class T, class A = compute_type<T>>
A row_log_sum_exp(const T* x, std::int64_t n) {
  const A largest = n == 0 ? -std::numeric_limits<A>::infinity() : detail::row_max(x, n);
  if (!(std::abs(largest) < std::numeric_limits<A>::infinity())) {
    for (std::int64_t i = 0; i < n; ++i)
      if (const A a = element(x + i); a != a) return a;
    return largest;
  }
  return static_cast<A>(largest + std::log(detail::exp_sum(x, n, largest, static_cast<A*>(nullptr))));
}

/// log(sum(exp(x))) over groups of float or double tensors.
inline Tensor log_sum_exp(const Tensor& x, const Groups& groups) {
  JoinedAxes axes(x.shape(), groups.bits);
  if (axes.passes() == 0) return x.alias(groups.shape);
  // The log of a sum of exponentials of logs of sums of exponentials is that of all of them.
  Tensor in = x, out;
  while (axes.passes() > 0) {
    const auto [outer, axis, inner] = axes.next();
    out = Tensor::empty(axes.passes() ? Shape{outer * inner} : groups.shape, x.dtype());
    dispatch_floating(x.dtype(), [&, n = axis, columns = inner, rows = outer]<class T>() {
      const T* from = in.pointer<T>();
      T* to = out.pointer<T>();
      parallel_rows(rows, 4 * n * columns, [=](std::int64_t begin, std::int64_t end) {
        std::vector<T> column(columns == 1 ? 0 : static_cast<std::size_t>(n));
        for (std::int64_t o = begin; o < end; ++o) {
          if (columns == 1) {
            to[o] = static_cast<T>(row_log_sum_exp(from + o * n, n));
            continue;
          }
          for (std::int64_t j = 0; j < columns; ++j) {
            for (std::int64_t k = 0; k < n; ++k) column[static_cast<std::size_t>(k)] = from[(o * n + k) * columns + j];
            to[o * columns + j] = static_cast<T>(row_log_sum_exp(column.data(), n));
          }
        }
      });
    });
    in = out;
  }
  return out;
}

}  // namespace ktape::kernels
