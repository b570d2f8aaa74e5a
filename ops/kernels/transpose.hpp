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
inline constexpr int transpose_block_size =
    std::min<int>(vector_bytes / sizeof(U), vector_bytes == 64 ? 16 : 8);

template <class U>
void transpose_block(const U* in, std::int64_t s, U* out, std::int64_t t, bool past_caches) {
  constexpr int n = transpose_block_size<U>;
  using V = Vec<U, n * sizeof(U)>;
  V v[n];
  for (int r = 0; r < n; ++r) {
    std::memcpy(&v[r], in + r * s, sizeof(V));
    __builtin_prefetch(in + (r + 2 * n) * s);  // rows far apart are no stream that the processor foresees
  }
  transpose_vectors<n>(v);
  if (past_caches)
    for (int c = 0; c < n; ++c) stream(out + c * t, v[c]);
  else
    for (int c = 0; c < n; ++c) std::memcpy(out + c * t, &v[c], sizeof(V));
}

}  // namespace detail

/// True when transpose_tile can write past the caches: each of its stores is one aligned vector.
template <class U>
bool transpose_streams(const U* out, std::int64_t t) {
  return detail::transpose_block_size<U> * sizeof(U) == vector_bytes && streamable(out, t * sizeof(U));
}

/// out[c * t + r] = in[r * s + c] for r < rows, c < columns.
template <class U>
void transpose_tile(const U* in, std::int64_t s, U* out, std::int64_t t, std::int64_t rows,
                    std::int64_t columns, bool past_caches) {
  constexpr std::int64_t n = detail::transpose_block_size<U>;
  const std::int64_t whole_rows = rows / n * n, whole_columns = columns / n * n;
  for (std::int64_t c = 0; c < whole_columns; c += n)
    for (std::int64_t r = 0; r < whole_rows; r += n)
      detail::transpose_block(in + r * s + c, s, out + c * t + r, t, past_caches);
  const auto copy = [&](std::int64_t r, std::int64_t c) {
    std::memcpy(out + c * t + r, in + r * s + c, sizeof(U));
  };
  for (std::int64_t c = 0; c < whole_columns; ++c)
    for (std::int64_t r = whole_rows; r < rows; ++r) copy(r, c);
  if (rows < columns)
    for (std::int64_t c = whole_columns; c < columns; ++c)
      for (std::int64_t r = 0; r < rows; ++r) copy(r, c);
  else
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = whole_columns; c < columns; ++c) copy(r, c);
}

}  // namespace ktape::kernels
