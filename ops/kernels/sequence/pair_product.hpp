#pragma once
#include <ktape/ops/kernels/simd/vector.hpp>

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

/// Products of small matrices of floats that are rounded to bfloat16, with sums in float, where the compiler may use the
/// instructions (has_pair_products): twice as fast as products of floats. Subnormal numbers are taken for 0.
namespace ktape::kernels {

#if defined(__AVX512BF16__)
inline constexpr bool has_pair_products = true;

namespace detail {

/// The rows of a, and the numbers along the inner axis, that are rounded at a time.
inline constexpr std::int64_t pair_block = 128;

/// Two bfloat16 numbers that are neighbours along the inner axis.
using Pair = std::uint32_t;

/// Rounds 16 pairs: the numbers of `first` and of `second`, lane by lane.
inline __m512i rounded_pairs(__m512 first, __m512 second) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7,
                                         22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first)));
}

inline __m512 load_first(const float* from, std::int64_t n) {
  return n >= 16 ? _mm512_loadu_ps(from) : _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << n) - 1), from);
}

/// Pairs the rows 2 k and 2 k + 1 of an (inner, columns) matrix. Rows of pairs are `to_row` apart; the columns are
/// filled up with zeros to whole vectors.
inline void pair_rows(std::int64_t inner, std::int64_t columns, const float* from, std::int64_t row, Pair* to,
                      std::int64_t to_row) {
  for (std::int64_t k = 0; k < inner; k += 2, from += 2 * row, to += to_row)
    for (std::int64_t j = 0; j < columns; j += 16) {
      const __m512 first = load_first(from + j, columns - j);
      const __m512 second = k + 1 < inner ? load_first(from + row + j, columns - j) : _mm512_setzero_ps();
      _mm512_storeu_si512(to + j, rounded_pairs(first, second));
    }
}

/// Pairs the neighbours in each row of a (rows, inner) matrix, filled up with zeros to 16 pairs.
inline void pair_neighbours(std::int64_t rows, std::int64_t inner, const float* from, std::int64_t row,
                            Pair* to, std::int64_t to_row) {
  for (std::int64_t r = 0; r < rows; ++r, from += row, to += to_row)
    for (std::int64_t k = 0; k < inner; k += 32) {
      const __m512 low = load_first(from + k, inner - k),
                   high = inner - k > 16 ? load_first(from + k + 16, inner - k - 16) : _mm512_setzero_ps();
      _mm512_storeu_si512(to + k / 2, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
    }
}

/// Where the pairs of a block of a are: element (r, k) is at a[r * row + k * step].
struct PairedRows {
  const Pair* a;
  std::int64_t row, step;
};

/// Computes R rows and V vectors of c = a b, or c += a b.
template <int R, int V>
void pair_tile(std::int64_t pairs, const PairedRows& rows, std::int64_t first, const Pair* b,
               std::int64_t valid, float* c, std::int64_t c_row, bool accumulate) {
  Vec<float> sum[R][V]{};
  const Pair* a = rows.a + first * rows.row;
  for (std::int64_t k = 0; k < pairs; ++k, a += rows.step, b += 64) {
    __m512bh column[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) column[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + v * 16));
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const auto number = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(a[r * rows.row])));
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], number, column[v]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) {
      float* const to = c + (first + r) * c_row + v * 16;
      const std::int64_t m = std::min<std::int64_t>(16, valid - v * 16);
      store_partial(to, accumulate ? Vec<float>(load_partial(to, m) + sum[r][v]) : sum[r][v], m);
    }
}

template <int V>
void pair_tiles(std::int64_t count, std::int64_t pairs, const PairedRows& rows, const Pair* b,
                std::int64_t valid, float* c, std::int64_t c_row, bool accumulate) {
  constexpr int most = 16 / V;
  std::int64_t r = 0;
  for (; r + most <= count; r += most) pair_tile<most, V>(pairs, rows, r, b, valid, c, c_row, accumulate);
  for (; r < count; ++r) pair_tile<1, V>(pairs, rows, r, b, valid, c, c_row, accumulate);
}

}  // namespace detail

/// Computes c = a b, or with `accumulate` c += a b: (rows, inner) times (inner, columns). One of a's strides is 1.
inline void pair_product(std::int64_t rows, std::int64_t columns, std::int64_t inner, const float* a,
                         std::int64_t a_row, std::int64_t a_step, const float* b, std::int64_t b_step,
                         float* c, std::int64_t c_row, bool accumulate) {
  using detail::Pair, detail::pair_block;
  alignas(64) Pair paired_a[pair_block * pair_block / 2], paired_b[pair_block / 2 * 64];
  for (std::int64_t k = 0; k < inner; k += pair_block)
    for (std::int64_t first = 0; first < rows; first += pair_block) {
      const std::int64_t depth = std::min(pair_block, inner - k), count = std::min(pair_block, rows - first);
      const float* const from = a + first * a_row + k * a_step;
      const bool by_rows = a_step == 1;
      if (by_rows) detail::pair_neighbours(count, depth, from, a_row, paired_a, pair_block / 2);
      else detail::pair_rows(depth, count, from, a_step, paired_a, pair_block);
      const detail::PairedRows paired{paired_a, by_rows ? pair_block / 2 : 1, by_rows ? 1 : pair_block};
      for (std::int64_t j = 0; j < columns; j += 64) {
        const std::int64_t valid = std::min<std::int64_t>(64, columns - j);
        detail::pair_rows(depth, valid, b + k * b_step + j, b_step, paired_b, 64);
        const auto run = [&]<int V>(std::integral_constant<int, V>) {
          detail::pair_tiles<V>(count, (depth + 1) / 2, paired, paired_b, valid, c + first * c_row + j, c_row,
                                accumulate || k > 0);
        };
        if (valid > 48) run(std::integral_constant<int, 4>());
        else if (valid > 32) run(std::integral_constant<int, 3>());
        else if (valid > 16) run(std::integral_constant<int, 2>());
        else run(std::integral_constant<int, 1>());
      }
    }
}

#else
inline constexpr bool has_pair_products = false;

inline void pair_product(std::int64_t, std::int64_t, std::int64_t, const float*, std::int64_t, std::int64_t,
                         const float*, std::int64_t, float*, std::int64_t, bool) {}
#endif

}  // namespace ktape::kernels
