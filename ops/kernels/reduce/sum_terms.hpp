#pragma once
#include <ktape/ops/kernels/simd/exp.hpp>

#include <algorithm>
#include <array>
#include <limits>

/// Sums and maxima of one contiguous row, for use in other kernels.
namespace ktape::kernels::detail {

template <class A>
A largest_lane(Vec<A> v) {
  return fold_lanes<A>(v, [](auto a, auto b) { return a > b ? a : b; });
}
template <class A>
A sum_of_lanes(Vec<A> v) {
  return fold_lanes<A>(v, [](auto a, auto b) { return a + b; });
}

/// Returns the sum of the terms of n elements: `term(i, m)` returns a vector with the terms of the m elements
/// from i on and 0 in the other lanes. Blocks are added in double.
template <class A, class F>
double sum_terms(std::int64_t n, const F& term) {
  constexpr int w = lanes<A>;
  constexpr std::int64_t block = 4096;
  double total = 0;
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const std::int64_t end = std::min(n, begin + block);
    Vec<A> a{}, b{};
    std::int64_t i = begin;
    for (; i + 2 * w <= end; i += 2 * w) a += term(i, w), b += term(i + w, w);
    for (; i + w <= end; i += w) a += term(i, w);
    if (i < end) b += term(i, end - i);
    total += sum_of_lanes<A>(a + b);
  }
  return total;
}

/// Returns the sums of two terms of n elements: `add(i, m, sums)` adds the terms of the m elements from i on.
/// Two independent chains of additions overlap; blocks are added in double.
template <class A, class F>
[[gnu::always_inline]] inline std::array<double, 2> two_sums(std::int64_t n, const F& add) {
  constexpr std::int64_t w = lanes<A>, block = 4096;
  constexpr std::integral_constant<std::int64_t, w> all;
  std::array<double, 2> total{};
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const std::int64_t end = std::min(n, begin + block);
    Vec<A> even[2] = {}, odd[2] = {};
    std::int64_t i = begin;
    for (; i + 2 * w <= end; i += 2 * w) add(i, all, even), add(i + w, all, odd);
    if (i + w <= end) add(i, all, even), i += w;
    if (i < end) add(i, end - i, odd);
    for (int k = 0; k < 2; ++k) total[k] += sum_of_lanes<A>(even[k] + odd[k]);
  }
  return total;
}

/// Returns the largest of n elements.
template <class T, class A = compute_type<T>>
A row_max(const T* x, std::int64_t n) {
  constexpr int w = lanes<T>;
  const auto lowest = splat(-std::numeric_limits<A>::infinity());
  auto a = lowest, b = lowest, c = lowest, d = lowest;
  std::int64_t i = 0;
  for (; i + 4 * w <= n; i += 4 * w) {
    a = larger<A>(a, load(x + i)), b = larger<A>(b, load(x + i + w));
    c = larger<A>(c, load(x + i + 2 * w)), d = larger<A>(d, load(x + i + 3 * w));
  }
  for (; i + w <= n; i += w) a = larger<A>(a, load(x + i));
  if (i < n) b = larger<A>(b, load_partial(x + i, n - i, lowest));
  return largest_lane<A>(larger<A>(larger<A>(a, b), larger<A>(c, d)));
}

}  // namespace ktape::kernels::detail
