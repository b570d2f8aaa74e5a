#pragma once
#include <ktape/autograd/base/memory.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/reduce/sum_terms.hpp>
#include <ktape/ops/kernels/simd/chained.hpp>

#include <cmath>

/// Normalization of the rows of a [rows, n] array, each read and written once. A null gamma or beta stands
/// for ones or zeros.
namespace ktape::kernels {

/// The coefficients of a row: its normalized elements are (x - centre) * scale + shift, where the shift
/// corrects the rounding of the centre.
template <class A>
struct RowScaling {
  A centre, scale, shift;
};

namespace detail {

template <class T, class A = compute_type<T>>
RowScaling<A> row_scaling(const T* x, std::int64_t n, double epsilon) {
  const double mean =
      sum_terms<A>(n, [=](std::int64_t i, std::int64_t m) { return load_partial(x + i, m); }) / double(n);
  const A centre = static_cast<A>(mean);
  const auto [differences, squares] =
      two_sums<A>(n, [x, c = splat(centre)](std::int64_t i, auto m, auto& sums) {
        const Vec<A> d = load_partial(x + i, m, c) - c;
        sums[0] += d, sums[1] += d * d;
      });
  const double rest = differences / double(n);
  const double scale = 1 / std::sqrt(std::max(squares / double(n) - rest * rest, 0.0) + epsilon);
  return {centre, static_cast<A>(scale), static_cast<A>(-rest * scale)};
}

/// Loads elements of a parameter, or its default value if there is no parameter.
template <class T>
Vec<compute_type<T>> parameter(const T* p, std::int64_t i, std::int64_t m, compute_type<T> otherwise) {
  return p ? load_partial(p + i, m) : splat(otherwise);
}

template <class T, class A>
void normalize_row(const T* x, const T* gamma, const T* beta, T* out, RowScaling<A> moments, std::int64_t n) {
  const auto c = splat(moments.centre), s = splat(moments.scale), t = splat(moments.shift);
  for_vectors<A>(n, [=](std::int64_t i, auto m) {
    const Vec<A> y = (load_partial(x + i, m) - c) * s + t;
    store_partial(out + i, y * parameter(gamma, i, m, A(1)) + parameter(beta, i, m, A(0)), m);
  });
}

/// Adds g * y and g of a row to the sums, and computes dx; null pointers are left out.
template <class T, class A>
void normalize_row_backward(const T* x, const T* gamma, const T* g, RowScaling<A> moments, T* dx,
                            A* gamma_sums, A* beta_sums, std::int64_t n) {
  const auto c = splat(moments.centre), s = splat(moments.scale), t = splat(moments.shift);
  const auto [h_sum, hy_sum] = two_sums<A>(n, [=](std::int64_t i, auto m, auto& sums) {
    const Vec<A> slope = load_partial(g + i, m), y = (load_partial(x + i, m) - c) * s + t;
    if (gamma_sums) {
      store(gamma_sums + i, load(gamma_sums + i) + chained<A>(slope, y));
      store(beta_sums + i, load(beta_sums + i) + slope);
    }
    const Vec<A> h = slope * parameter(gamma, i, m, A(1));
    sums[0] += h, sums[1] += chained<A>(h, y);
  });
  if (!dx) return;
  const auto a = splat(static_cast<A>(h_sum / double(n))), b = splat(static_cast<A>(hy_sum / double(n)));
  for_vectors<A>(n, [=](std::int64_t i, auto m) {
    const Vec<A> y = (load_partial(x + i, m) - c) * s + t,
                 h = load_partial(g + i, m) * parameter(gamma, i, m, A(1));
    store_partial(dx + i, chained<A>(h - a - chained<A>(b, y), s), m);
  });
}

/// out = the sums of n numbers over the parts, which are `stride` apart.
template <class T, class A>
void add_parts(T* out, const A* sums, std::int64_t parts, std::int64_t stride, std::int64_t n) {
  WorkVector<double> total(static_cast<std::size_t>(n));
  for (std::int64_t part = 0; part < parts; ++part)
    for (std::int64_t j = 0; j < n; ++j) total[static_cast<std::size_t>(j)] += sums[part * stride + j];
  for (std::int64_t j = 0; j < n; ++j)
    out[j] = static_cast<T>(static_cast<A>(total[static_cast<std::size_t>(j)]));
}

}  // namespace detail

template <class T>
void layer_norm(const T* x, const T* gamma, const T* beta, T* out, RowScaling<compute_type<T>>* moments,
                std::int64_t rows, std::int64_t n, double epsilon) {
  parallel_rows(rows, n * 4, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      moments[r] = detail::row_scaling(x + r * n, n, epsilon);
      detail::normalize_row(x + r * n, gamma, beta, out + r * n, moments[r], n);
    }
  });
}

/// Computes dx, and the sums over the rows of g * y and of g, where y are the normalized elements. Each
/// result may be null.
template <class T>
void layer_norm_backward(const T* x, const T* gamma, const T* g, const RowScaling<compute_type<T>>* moments,
                         T* dx, T* dgamma, T* dbeta, std::int64_t rows, std::int64_t n) {
  using A = compute_type<T>;
  // The rows are summed in a fixed number of parts, so that results do not depend on the threads.
  const std::int64_t parts = std::clamp<std::int64_t>(rows / 32, 1, 16),
                     per_part = (rows + parts - 1) / parts, stride = padded<A>(n);
  WorkVector<A> sums(static_cast<std::size_t>(dgamma || dbeta ? parts * 2 * stride : 0));
  parallel_rows(parts, per_part * n * 6, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) {
      A* const gamma_sums = sums.empty() ? nullptr : sums.data() + part * 2 * stride;
      for (std::int64_t r = part * per_part; r < std::min(rows, (part + 1) * per_part); ++r)
        detail::normalize_row_backward(x + r * n, gamma, g + r * n, moments[r], dx ? dx + r * n : nullptr,
                                       gamma_sums, gamma_sums ? gamma_sums + stride : nullptr, n);
    }
  });
  if (dgamma) detail::add_parts(dgamma, sums.data(), parts, 2 * stride, n);
  if (dbeta) detail::add_parts(dbeta, sums.data() + stride, parts, 2 * stride, n);
}

}  // namespace ktape::kernels
