#pragma once
#include <ktape/autograd/base/dtype.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/simd/batch.hpp>
#include <ktape/ops/kernels/workspace.hpp>

#include <algorithm>
#include <vector>

/// Linear interpolation along the middle axis of (outer, n, inner) arrays, to `factor` times its extent.
namespace ktape::kernels {

/// The two elements that a place of the longer axis lies between, and the weight of the second.
struct Neighbours {
  std::int64_t first, second;
  double weight;
};

inline std::vector<Neighbours> neighbours(std::int64_t n, std::int64_t factor) {
  std::vector<Neighbours> out(static_cast<std::size_t>(n * factor));
  for (std::int64_t i = 0; i < n * factor; ++i) {
    // (i + 0.5) / factor - 0.5 in whole numbers: above -1, so the floor of its numerator + factor needs no
    // sign.
    const std::int64_t numerator = 2 * i + 1 + factor, below = numerator / (2 * factor) - 1;
    const double weight = static_cast<double>(numerator % (2 * factor)) / static_cast<double>(2 * factor);
    out[static_cast<std::size_t>(i)] = {std::max<std::int64_t>(below, 0), std::min(below + 1, n - 1), weight};
  }
  return out;
}

/// out (outer, n * factor, inner) from in (outer, n, inner).
template <class T>
void resize_linear(T* out, const T* in, std::int64_t outer, std::int64_t n, std::int64_t inner,
                   std::int64_t factor) {
  using C = compute_t<T>;
  if (outer * inner == 0) return;  // n * factor may be anything
  const std::vector<Neighbours> plan = neighbours(n, factor);
  const std::int64_t rows = n * factor;
  parallel_rows(outer * rows, inner, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const Neighbours& at = plan[static_cast<std::size_t>(row % rows)];
      const T* block = in + row / rows * n * inner;
      const T *a = block + at.first * inner, *b = block + at.second * inner;
      const C weight = static_cast<C>(at.weight);
      for (std::int64_t j = 0; j < inner; ++j)
        out[row * inner + j] = static_cast<T>(C(a[j]) + weight * (C(b[j]) - C(a[j])));
    }
  });
}

/// The transposed map: out (outer, n, inner) from g (outer, n * factor, inner).
template <class T>
void resize_linear_gradient(T* out, const T* g, std::int64_t outer, std::int64_t n, std::int64_t inner,
                            std::int64_t factor) {
  using C = compute_t<T>;
  if (outer * inner == 0) return;
  const std::vector<Neighbours> plan = neighbours(n, factor);
  parallel_rows(outer, n * factor * inner, [&](std::int64_t begin, std::int64_t end) {
    Workspace<C> space(n * inner);
    C* const sums = space.take(n * inner);
    for (std::int64_t o = begin; o < end; ++o) {
      std::fill_n(sums, n * inner, C(0));
      const T* from = g + o * n * factor * inner;
      for (const Neighbours& at : plan) {
        C *a = sums + at.first * inner, *b = sums + at.second * inner;
        const C weight = static_cast<C>(at.weight);
        for (std::int64_t j = 0; j < inner; ++j)
          a[j] += (1 - weight) * C(from[j]), b[j] += weight * C(from[j]);
        from += inner;
      }
      std::transform(sums, sums + n * inner, out + o * n * inner, [](C sum) { return static_cast<T>(sum); });
    }
  });
}

}  // namespace ktape::kernels
