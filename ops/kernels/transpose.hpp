#pragma once
#include <ktape/ops/kernels/simd.hpp>

#include <algorithm>

/// Transposes of small matrices in registers. U is the unsigned integer as wide as an element; elements need
/// no alignment.
namespace ktape::kernels {
namespace detail {

template <int H, class V, std::size_t... L>
void swap_blocks(V& a, V& b, std::index_sequence<L...>) {
  constexpr int n = sizeof...(L);
  const V low = __builtin_shufflevector(a, b, (int(L) & H ? n + int(L) - H : int(L))...);
  b = __builtin_shufflevector(a, b, (int(L) & H ? n + int(L) : int(L) + H)...);
  a = low;
}

/// Transposes the N x N matrix whose rows are the vectors v, by exchanging ever smaller blocks.
template <int N, int H = N / 2, class V>
void transpose_vectors(V (&v)[N]) {
  for (int i = 0; i < N; ++i)
    if (!(i & H)) swap_blocks<H>(v[i], v[i + H], std::make_index_sequence<N>());
  if constexpr (H > 1) transpose_vectors<N, H / 2>(v);
}

/// Rows and columns of the block that fits the registers.
template <class U>
inline constexpr int transpose_block_size = std::min<int>(vector_bytes / sizeof(U),
                                                          vector_bytes == 64 ? 16 : 8);

template <int N, class U>
void transpose_block(const U* in, std::int64_t s, U* out, std::int64_t t, std::int64_t ahead,
                     bool past_caches) {
  using V = Vec<U, N * sizeof(U)>;
  V v[N];
  for (int r = 0; r < N; ++r) {
    std::memcpy(&v[r], in + r * s, sizeof(V));
    __builtin_prefetch(in + r * s + ahead, 0, 2);
  }
  transpose_vectors<N>(v);
  if (past_caches)
    for (int c = 0; c < N; ++c) stream(out + c * t, v[c]);
  else
    for (int c = 0; c < N; ++c) std::memcpy(out + c * t, &v[c], sizeof(V));
}

/// Calls f(i) for i = 0, step, 2 step, ... below n, the last time with n - step.
template <class F>
void for_overlapping(std::int64_t n, std::int64_t step, const F& f) {
  for (std::int64_t i = 0; i < n; i += step) f(std::min(i, n - step));
}

/// Lane L of the result is element at(L) of the M vectors v, taken as one.
template <class At, int K = 0, class V, int M, std::size_t... L>
V pick(const V (&v)[M], V picked, std::index_sequence<L...> lanes) {
  constexpr int n = sizeof...(L);
  picked = __builtin_shufflevector(picked, v[K], (At::of(L) / n == K ? n + At::of(L) % n : int(L))...);
  if constexpr (K + 1 < M)
    return pick<At, K + 1>(v, picked, lanes);
  else
    return picked;
}

/// Element i of M interleaved rows of n is element at(i) of the rows one behind the other, or the reverse.
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

/// M rows that are `s` apart to n consecutive groups of M elements; Reverse: groups to rows.
template <int M, bool Reverse, class U>
void interleave(const U* in, U* out, std::int64_t s, std::int64_t n) {
  constexpr int w = vector_bytes / sizeof(U);
  std::int64_t i = 0;
  for (Vec<U> v[M]; i + w <= n; i += w) {
    for (int k = 0; k < M; ++k)
      std::memcpy(&v[k], Reverse ? in + i * M + k * w : in + i + k * s, sizeof v[k]);
    interleave_vectors<M, Reverse>(v, std::make_index_sequence<M>());
    for (int k = 0; k < M; ++k)
      std::memcpy(Reverse ? out + i + k * s : out + i * M + k * w, &v[k], sizeof v[k]);
  }
  for (; i < n; ++i)
    for (int k = 0; k < M; ++k)
      if (Reverse)
        std::memcpy(out + i + k * s, in + i * M + k, sizeof(U));
      else
        std::memcpy(out + i * M + k, in + i + k * s, sizeof(U));
}

template <bool Reverse, class U>
bool interleave_few(const U* in, U* out, std::int64_t m, std::int64_t s, std::int64_t n) {
  if (m == 2)
    interleave<2, Reverse>(in, out, s, n);
  else if (m == 3)
    interleave<3, Reverse>(in, out, s, n);
  else if (m == 4)
    interleave<4, Reverse>(in, out, s, n);
  return m >= 2 && m <= 4;
}

/// Fewer rows or columns than the largest block has: smaller blocks, single elements below them.
template <int N, class U>
void transpose_narrow(const U* in, std::int64_t s, U* out, std::int64_t t, std::int64_t rows,
                      std::int64_t columns) {
  if constexpr (N == 1) {
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t r = 0; r < rows; ++r) std::memcpy(out + c * t + r, in + r * s + c, sizeof(U));
  } else {
    if (rows < N || columns < N) return transpose_narrow<N / 2>(in, s, out, t, rows, columns);
    for_overlapping(rows, N, [&](std::int64_t r) {
      for_overlapping(columns, N, [&](std::int64_t c) {
        transpose_block<N>(in + r * s + c, s, out + c * t + r, t, N * s, false);
      });
    });
  }
}

}  // namespace detail

/// True when transpose_tile can write past the caches: each of its stores is one aligned vector.
template <class U>
bool transpose_streams(const U* out, std::int64_t t, std::int64_t rows) {
  constexpr std::int64_t n = detail::transpose_block_size<U>;
  return n * sizeof(U) == vector_bytes && rows % n == 0 && streamable(out, t * sizeof(U));
}

/// out[c * t + r] = in[r * s + c] for r < rows, c < columns.
template <class U>
void transpose_tile(const U* in, std::int64_t s, U* out, std::int64_t t, std::int64_t rows,
                    std::int64_t columns, bool past_caches) {
  constexpr int n = detail::transpose_block_size<U>;
  if (t == rows && detail::interleave_few<false>(in, out, rows, s, columns)) return;
  if (s == columns && detail::interleave_few<true>(in, out, columns, t, rows)) return;
  if (rows < n || columns < n) return detail::transpose_narrow<n / 2>(in, s, out, t, rows, columns);
  // Short rows follow each other, so that what comes next is known; of long ones a few lines at a time are
  // read.
  const std::int64_t ahead = s * std::int64_t(sizeof(U)) <= 2048 ? n * s : 3 * n - 1;
  detail::for_overlapping(rows, n, [&](std::int64_t r) {
    detail::for_overlapping(columns, n, [&](std::int64_t c) {
      detail::transpose_block<n>(in + r * s + c, s, out + c * t + r, t, ahead, past_caches);
    });
  });
}

}  // namespace ktape::kernels
