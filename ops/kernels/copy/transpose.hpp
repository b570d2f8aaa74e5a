#pragma once
#include <ktape/ops/kernels/simd/vector.hpp>

#include <algorithm>
#include <cstdlib>

/// Transposes of small matrices in registers. U is the unsigned integer as wide as an element; elements need
/// no alignment.
namespace ktape::kernels {
namespace detail {

template <class V, std::size_t... L>
[[gnu::always_inline]] inline auto side_by_side(V low, V high, std::index_sequence<L...>) {
  return __builtin_shufflevector(low, high, int(L)...);
}

/// Loads N lanes: G elements each from p, p + step, p + 2 step...
template <int N, int G, class U>
[[gnu::always_inline]] inline Vec<U, N * sizeof(U)> load_groups(const U* p, std::int64_t step) {
  if constexpr (N == G) {
    Vec<U, N * sizeof(U)> v;
    std::memcpy(&v, p, sizeof v);
    return v;
  } else {
    return side_by_side(load_groups<N / 2, G>(p, step), load_groups<N / 2, G>(p + N / 2 / G * step, step),
                        std::make_index_sequence<N>());
  }
}

/// Returns, for each group of G lanes, the lower or upper halves of a's and b's groups, element by element in
/// turn.
template <int G, bool Upper, class V, std::size_t... L>
[[gnu::always_inline]] inline V interleave_halves(V a, V b, std::index_sequence<L...>) {
  constexpr int n = sizeof...(L);
  return __builtin_shufflevector(
      a, b, (int(L) / G * G + (Upper ? G / 2 : 0) + int(L) % G / 2 + (int(L) % 2 ? n : 0))...);
}

/// Transposes the G x G matrices that lie side by side in the vectors v.
template <int G, int Left = G, class V>
[[gnu::always_inline]] inline void transpose_groups(V (&v)[G]) {
  if constexpr (Left > 1) {
    constexpr auto lanes = std::make_index_sequence<sizeof(V) / sizeof(v[0][0])>();
    V mixed[G];
#pragma GCC unroll 16
    for (int i = 0; i < G / 2; ++i) {
      mixed[2 * i] = interleave_halves<G, false>(v[i], v[i + G / 2], lanes);
      mixed[2 * i + 1] = interleave_halves<G, true>(v[i], v[i + G / 2], lanes);
    }
#pragma GCC unroll 16
    for (int i = 0; i < G; ++i) v[i] = mixed[i];
    transpose_groups<G, Left / 2>(v);
  }
}

/// Elements in a lane of 16 bytes, within which shuffles are fastest.
template <class U>
inline constexpr int group_size = 16 / sizeof(U);

/// v[c][r] = in[r * s + c] for N rows and G columns.
template <int N, int G, class U>
[[gnu::always_inline]] inline void load_columns(const U* in, std::int64_t s, Vec<U, N * sizeof(U)> (&v)[G]) {
#pragma GCC unroll 16
  for (int i = 0; i < G; ++i) v[i] = load_groups<N, G>(in + i * s, G * s);
  transpose_groups<G>(v);
}

/// out[c * t + r] = in[r * s + c] for N rows and G columns.
template <int N, int G, class U>
void transpose_block(const U* in, std::int64_t s, U* out, std::int64_t t, bool non_temporal) {
  Vec<U, N * sizeof(U)> v[G];
  load_columns<N, G>(in, s, v);
  if (non_temporal)
    for (int c = 0; c < G; ++c) stream(out + c * t, v[c]);
  else
#pragma GCC unroll 16
    for (int c = 0; c < G; ++c) std::memcpy(out + c * t, &v[c], sizeof v[c]);
}

/// Calls f(i) for i = 0, step, 2 step, ... below n, the last time with n - step.
template <class F>
void for_overlapping(std::int64_t n, std::int64_t step, const F& f) {
  for (std::int64_t i = 0; i < n; i += step) f(std::min(i, n - step));
}

/// Returns a vector whose lane L is element at(L) of the M vectors v, one after another.
template <class At, int K = 0, class V, int M, std::size_t... L>
V pick(const V (&v)[M], V picked, std::index_sequence<L...> lanes) {
  constexpr int n = sizeof...(L);
  picked = __builtin_shufflevector(picked, v[K], (At::of(L) / n == K ? n + At::of(L) % n : int(L))...);
  if constexpr (K + 1 < M) return pick<At, K + 1>(v, picked, lanes);
  else return picked;
}

/// Interleaves M rows of n elements, or, with Reverse, separates them: element i of the interleaved rows is
/// element at(i) of the rows in order.
template <int M, int N, bool Reverse, int J>
struct Interleaved {
  static constexpr int of(int lane) {
    const int i = J * N + lane;
    return Reverse ? i % N * M + i / N : i % M * N + i / M;
  }
};

template <int M, bool Reverse, class V, std::size_t... J>
void interleave_vectors(V (&v)[M], std::index_sequence<J...>) {
  constexpr int n = sizeof(V) / sizeof(v[0][0]);
  const V result[] = {pick<Interleaved<M, n, Reverse, int(J)>>(v, v[0], std::make_index_sequence<n>())...};
  std::memcpy(v, result, sizeof result);
}

/// Interleaves M rows that are `s` apart to n consecutive groups of M elements; with Reverse, separates
/// groups to rows.
template <int M, bool Reverse, class U>
void interleave(const U* in, U* out, std::int64_t s, std::int64_t n, std::int64_t ahead) {
  constexpr int w = vector_bytes / sizeof(U);
  std::int64_t i = 0;
  for (Vec<U> v[M]; i + w <= n; i += w) {
    for (int k = 0; k < M; ++k) {
      const U* const from = Reverse ? in + i * M + k * w : in + i + k * s;
      std::memcpy(&v[k], from, sizeof v[k]);
      if (ahead != 0) __builtin_prefetch(from + ahead, 0, 2);
    }
    interleave_vectors<M, Reverse>(v, std::make_index_sequence<M>());
    for (int k = 0; k < M; ++k)
      std::memcpy(Reverse ? out + i + k * s : out + i * M + k * w, &v[k], sizeof v[k]);
  }
  for (; i < n; ++i)
    for (int k = 0; k < M; ++k)
      if (Reverse) std::memcpy(out + i + k * s, in + i * M + k, sizeof(U));
      else std::memcpy(out + i * M + k, in + i + k * s, sizeof(U));
}

template <bool Reverse, class U>
bool interleave_few(const U* in, U* out, std::int64_t m, std::int64_t s, std::int64_t n, std::int64_t ahead) {
  if (m == 2) interleave<2, Reverse>(in, out, s, n, ahead);
  else if (m == 3) interleave<3, Reverse>(in, out, s, n, ahead);
  else if (m == 4) interleave<4, Reverse>(in, out, s, n, ahead);
  else if (m == 5) interleave<5, Reverse>(in, out, s, n, ahead);
  else if (m == 6) interleave<6, Reverse>(in, out, s, n, ahead);
  else if (m == 7) interleave<7, Reverse>(in, out, s, n, ahead);
  return m >= 2 && m <= 7;
}

/// Transposes any matrix, by the largest blocks that fit, and prefetches the matrix `ahead` elements later.
template <int N, int G, class U>
void transpose_blocks(const U* in, std::int64_t s, U* out, std::int64_t t, std::int64_t rows,
                      std::int64_t columns, std::int64_t ahead, bool non_temporal) {
  if constexpr (N > 2)
    if (rows < N)
      return transpose_blocks<N / 2, std::min(G, N / 2)>(in, s, out, t, rows, columns, ahead, false);
  if constexpr (G > 2)
    if (columns < G) return transpose_blocks<N, G / 2>(in, s, out, t, rows, columns, ahead, non_temporal);
  if (rows < 2 || columns < 2) {
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t r = 0; r < rows; ++r) std::memcpy(out + c * t + r, in + r * s + c, sizeof(U));
    return;
  }
  for_overlapping(rows, N, [&](std::int64_t r) {
    for_overlapping(columns, G, [&](std::int64_t c) {
      const U* const from = in + r * s + c;
      if (ahead != 0 && c % (64 / sizeof(U)) < G) prefetch_rows(from + ahead, s, N);
      transpose_block<N, G>(from, s, out + c * t + r, t, non_temporal);
    });
  });
}

/// Returns whether as many rows as a vector has lanes, `s` elements apart, share a few sets of the
/// first-level cache and so evict each other.
template <class U>
bool rows_share_cache_sets(std::int64_t s) {
  if (lanes<U> <= 8) return false;
  constexpr std::int64_t period = 2048;
  const std::int64_t apart = std::abs(s) * std::int64_t(sizeof(U)) % period;
  return std::min(apart, period - apart) < 128;
}

/// Transposes as many rows as a vector has lanes through a buffer, so that each cache line of the input is
/// read once.
template <class U>
void transpose_buffered(const U* in, std::int64_t s, U* out, std::int64_t t, std::int64_t columns,
                        std::int64_t ahead, bool non_temporal) {
  constexpr int w = lanes<U>, g = group_size<U>;
  alignas(64) U buffer[4 * w * w];
  const int width = streamable(in, s * sizeof(U)) ? w : 4 * w;
  for (std::int64_t from = 0; from < columns; from += width) {
    const std::int64_t c = std::min<std::int64_t>(from, columns - w),
                       n = std::min<std::int64_t>(columns - c, width);
    for (int i = 0; i < w; ++i)
      for_overlapping(n, w, [&](std::int64_t k) {
        store(buffer + i * width + k, load(in + i * s + c + k));
        if (ahead != 0) __builtin_prefetch(in + i * s + c + k + ahead, 0, 2);
      });
    transpose_blocks<w, g>(buffer, width, out + c * t, t, w, n, 0, non_temporal);
  }
}

}  // namespace detail

/// Returns whether transpose_tile can use non-temporal stores: each of them is an aligned vector.
template <class U>
bool transpose_streams(const U* out, std::int64_t t, std::int64_t rows) {
  return rows % lanes<U> == 0 && streamable(out, t * sizeof(U));
}

/// out[c * t + r] = in[r * s + c] for r < rows, c < columns. The matrix `ahead` elements from `in`
/// is prefetched, unless `ahead` is 0.
template <class U>
void transpose_tile(const U* in, std::int64_t s, U* out, std::int64_t t, std::int64_t rows,
                    std::int64_t columns, std::int64_t ahead, bool non_temporal) {
  constexpr int w = lanes<U>, g = detail::group_size<U>;
  if (t == rows && detail::interleave_few<false>(in, out, rows, s, columns, ahead)) return;
  if (s == columns && detail::interleave_few<true>(in, out, columns, t, rows, ahead)) return;
  if (rows < w || columns < w || !detail::rows_share_cache_sets<U>(s))
    return detail::transpose_blocks<w, g>(in, s, out, t, rows, columns, ahead, non_temporal);
  detail::for_overlapping(rows, w, [&](std::int64_t r) {
    detail::transpose_buffered(in + r * s, s, out + r, t, columns, ahead, non_temporal);
  });
}

}  // namespace ktape::kernels
