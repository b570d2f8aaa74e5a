#pragma once
#include <ktape/ops/kernels/softmax.hpp>

#include <vector>

/// Normalization of the rows of a [rows, n] array, each read and written once. A null gamma or beta stands
/// for ones or zeros.
namespace ktape::kernels {

/// A row's normalized elements are (x - centre) * scale + shift; the shift takes away what rounding the
/// centre left.
template <class A>
struct RowMoments {
  A centre, scale, shift;
};

namespace detail {

template <class T, class A = compute_type<T>>
RowMoments<A> row_moments(const T* x, std::int64_t n, double epsilon) {
  const double mean =
      sum_terms<A>(n, [&](std::int64_t i, std::int64_t m) { return load_some(x + i, m); }) / double(n);
  const auto centre = splat(static_cast<A>(mean));
  const auto difference = [&](std::int64_t i, std::int64_t m) {
    return load_some(x + i, m, centre[0]) - centre;
  };
  const double rest = sum_terms<A>(n, difference) / double(n);
  const double squares = sum_terms<A>(n, [&](std::int64_t i, std::int64_t m) {
    const Vec<A> d = difference(i, m);
    return Vec<A>(d * d);
  });
  const double scale = 1 / std::sqrt(std::max(squares / double(n) - rest * rest, 0.0) + epsilon);
  return {centre[0], static_cast<A>(scale), static_cast<A>(-rest * scale)};
}

/// Some elements of a parameter, or the value that it has when there is none.
template <class T>
Vec<compute_type<T>> parameter(const T* p, std::int64_t i, std::int64_t m, compute_type<T> otherwise) {
  return p ? load_some(p + i, m) : splat(otherwise);
}

}  // namespace detail

template <class T>
void layer_norm(const T* x, const T* gamma, const T* beta, T* out, RowMoments<compute_type<T>>* moments,
                std::int64_t rows, std::int64_t n, double epsilon) {
  using A = compute_type<T>;
  parallel_rows(rows, n * 4, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const auto [centre, scale, shift] = moments[r] = detail::row_moments(x + r * n, n, epsilon);
      const auto c = splat(centre), s = splat(scale), t = splat(shift);
      detail::for_vectors<A>(n, [&](std::int64_t i, std::int64_t m) {
        const Vec<A> y = (detail::load_some(x + r * n + i, m) - c) * s + t;
        detail::store_some(out + r * n + i,
                           y * detail::parameter(gamma, i, m, A(1)) + detail::parameter(beta, i, m, A(0)), m);
      });
    }
  });
}

/// dx, and the sums of g * y and g over the rows, y the normalized elements; each may be null.
template <class T>
void layer_norm_backward(const T* x, const T* gamma, const T* g, const RowMoments<compute_type<T>>* moments,
                         T* dx, T* dgamma, T* dbeta, std::int64_t rows, std::int64_t n) {
  using A = compute_type<T>;
  // The rows are summed in a fixed number of parts, so that results do not depend on the threads.
  const std::int64_t parts = std::clamp<std::int64_t>(rows / 32, 1, 16),
                     per_part = (rows + parts - 1) / parts;
  const std::int64_t padded = (n + lanes<A> - 1) / lanes<A> * lanes<A>;
  std::vector<A> sums(static_cast<std::size_t>(dgamma || dbeta ? parts * 2 * padded : 0));
  parallel_rows(parts, per_part * n * 6, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) {
      A* gamma_sums = sums.empty() ? nullptr : sums.data() + part * 2 * padded;
      for (std::int64_t r = part * per_part; r < std::min(rows, (part + 1) * per_part); ++r) {
        const auto [centre, scale, shift] = moments[r];
        const auto c = splat(centre), s = splat(scale), t = splat(shift);
        const T *row = x + r * n, *slope = g + r * n;
        const auto y_at = [&](std::int64_t i, std::int64_t m) {
          return Vec<A>((detail::load_some(row + i, m) - c) * s + t);
        };
        const auto h_at = [&](std::int64_t i, std::int64_t m) {
          return Vec<A>(detail::load_some(slope + i, m) * detail::parameter(gamma, i, m, A(1)));
        };
        if (gamma_sums)
          detail::for_vectors<A>(n, [&](std::int64_t i, std::int64_t m) {
            const Vec<A> gs = detail::load_some(slope + i, m);
            store(gamma_sums + i, load(gamma_sums + i) + gs * y_at(i, m));
            store(gamma_sums + padded + i, load(gamma_sums + padded + i) + gs);
          });
        if (!dx) continue;
        const auto a = splat(static_cast<A>(detail::sum_terms<A>(n, h_at) / double(n)));
        const auto b = splat(static_cast<A>(
            detail::sum_terms<A>(n, [&](auto i, auto m) { return Vec<A>(h_at(i, m) * y_at(i, m)); }) /
            double(n)));
        detail::for_vectors<A>(n, [&](std::int64_t i, std::int64_t m) {
          detail::store_some(dx + r * n + i, s * (h_at(i, m) - a - y_at(i, m) * b), m);
        });
      }
    }
  });
  const auto collect = [&](T* out, std::int64_t offset) {
    for (std::int64_t j = 0; j < n; ++j) {
      double total = 0;
      for (std::int64_t part = 0; part < parts; ++part)
        total += sums[static_cast<std::size_t>(part * 2 * padded + offset + j)];
      out[j] = narrow<T>(static_cast<A>(total));
    }
  };
  if (dgamma) collect(dgamma, 0);
  if (dbeta) collect(dbeta, padded);
}

}  // namespace ktape::kernels
