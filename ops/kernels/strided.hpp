#pragma once
#include <ktape/ops/kernels/loops.hpp>
#include <ktape/ops/kernels/runs.hpp>
#include <ktape/ops/kernels/transpose.hpp>

#include <cstdlib>

namespace ktape::kernels {
namespace detail {

/// The loop that reads consecutive elements, or -1.
inline int consecutive_input(const Loops& loops) {
  for (int d = 0; d < loops.rank; ++d)
    if (loops.at[d].in == 1) return d;
  return -1;
}

/// True when a loop further out steps less in the input than the one before the innermost does.
inline bool is_permuted(const Loops& loops) {
  for (int d = 0; d < loops.rank - 2; ++d)
    if (std::abs(loops.at[d].in) < std::abs(loops.at[loops.rank - 2].in)) return true;
  return false;
}

/// A tile whose rows are consecutive in one array along c and in the other along the innermost loop.
template <class U>
void transpose_loops(const U* in, U* out, const Loops& loops, int c, bool large) {
  const int q = loops.rank - 1;
  const std::int64_t s = loops.at[q].in, t = loops.at[c].out;
  bool past_caches = large && transpose_streams(out, t);
  for (int d = 0; d < q; ++d) past_caches = past_caches && streamable(out, loops.at[d].out * sizeof(U));
  const auto transpose = [&](auto i, auto o, std::int64_t columns, std::int64_t rows) {
    transpose_tile(in + i, s, out + o, t, rows, columns, past_caches);
  };
  for_tiles(loops, c, past_caches ? 256 : 64, q, 1024 / sizeof(U), transpose);
}

/// Short runs that are close together in the input, but not in the output: tiles of runs.
template <class U>
void copy_short_runs(const U* in, U* out, Loops loops) {
  const Loops::Loop run = loops.at[--loops.rank];
  const int q = loops.rank - 1;
  int c = 0;
  for (int d = 1; d < q; ++d)
    if (std::abs(loops.at[d].in) < std::abs(loops.at[c].in)) c = d;
  const Loops::Loop far = loops.at[c], near = loops.at[q];
  for_tiles(loops, c, 32, q, 64, [&](auto i, auto o, std::int64_t columns, std::int64_t rows) {
    for (std::int64_t k = 0; k < columns; ++k)
      for (std::int64_t r = 0; r < rows; ++r)
        copy_run(in + i + k * far.in + r * near.in, 1, out + o + k * far.out + r * near.out, run.size, false);
  });
}

/// Runs the loops in tiles of the two innermost ones, or of those that are innermost in one of the arrays.
template <class U>
void copy_loops(const U* in, U* out, Loops loops) {
  while (loops.rank < 2) loops.at[loops.rank++] = {1, 0, 0};
  if (loops.at[1].size == 1) std::swap(loops.at[0], loops.at[1]);
  constexpr std::int64_t tile = 16384;
  const int q = loops.rank - 1, c = consecutive_input(loops);
  const Loops::Loop inner = loops.at[q], outer = loops.at[q - 1];
  const bool large = loops.elements() * std::int64_t(sizeof(U)) >= streaming_bytes;
  const bool repeats = inner.in == 0 && inner.out == 1 && outer.out == inner.size && inner.size <= lanes<U>;
  if (inner.out == 1 && c >= 0 && c != q && !repeats) return transpose_loops(in, out, loops, c, large);
  if (inner.in == 1 && inner.out == 1 && inner.size * sizeof(U) <= 128 && is_permuted(loops))
    return copy_short_runs(in, out, loops);
  const auto copy_tile = [&](auto i, auto o, std::int64_t rows, std::int64_t n) {
    if (repeats) return repeat_runs(in + i, outer.in, out + o, rows, n);
    for (std::int64_t r = 0; r < rows; ++r, i += outer.in, o += outer.out)
      if (inner.out == 1) copy_run(in + i, inner.in, out + o, n, large);
      else
        for (std::int64_t k = 0; k < n; ++k)
          std::memcpy(out + o + k * inner.out, in + i + k * inner.in, sizeof(U));
  };
  for_tiles(loops, q - 1, std::max<std::int64_t>(1, tile / inner.size), q, tile, copy_tile);
}

/// Copies runs of 2, 4 or 8 bytes as one element.
inline int join_elements(Loops& loops, int elem_size) {
  if (loops.rank < 2) return elem_size;
  const Loops::Loop last = loops.at[loops.rank - 1];
  const std::int64_t bytes = last.size * elem_size;
  bool joined = last.in == 1 && last.out == 1 && (bytes == 2 || bytes == 4 || bytes == 8);
  for (int d = 0; d < loops.rank - 1; ++d)
    joined = joined && loops.at[d].in % last.size == 0 && loops.at[d].out % last.size == 0;
  if (!joined) return elem_size;
  --loops.rank;
  for (int d = 0; d < loops.rank; ++d) loops.at[d].in /= last.size, loops.at[d].out /= last.size;
  return static_cast<int>(bytes);
}

inline void copy_loops_of_size(const void* in, void* out, Loops loops, int elem_size) {
  const auto run = [&]<class U>(U) { copy_loops(static_cast<const U*>(in), static_cast<U*>(out), loops); };
  switch (join_elements(loops, elem_size)) {
    case 1: return run(std::uint8_t{});
    case 2: return run(std::uint16_t{});
    case 4: return run(std::uint32_t{});
    default: return run(std::uint64_t{});
  }
}

}  // namespace detail

/// Copies in[i_0 * in_strides[0] + ...] to out[i_0 * out_strides[0] + ...] for every index of `shape`.
/// Strides count elements of `elem_size` bytes (1, 2, 4 or 8) and may be negative (reversed) or, in the
/// input, zero (repeated); in and out point to index 0, do not overlap, and no two indices write to one
/// place. At most 14 dimensions are left when neighbours that step alike are joined.
inline void copy_strided(void* out, const std::int64_t* out_strides, const void* in,
                         const std::int64_t* in_strides, const std::int64_t* shape, int rank, int elem_size) {
  detail::Loops loops;
  for (int d = 0; d < rank; ++d) {
    if (shape[d] == 0) return;
    loops.append({shape[d], in_strides[d], out_strides[d]});
  }
  detail::copy_loops_of_size(in, out, loops, elem_size);
}

/// Copies n elements of `elem_size` bytes, in parallel and past the caches when they are many.
inline void copy_elements(void* out, const void* in, std::int64_t n, int elem_size) {
  const std::int64_t one = 1;
  copy_strided(out, &one, in, &one, &n, 1, elem_size);
}

/// Sets n elements of `elem_size` bytes to the one at `value`.
inline void fill_elements(void* out, const void* value, std::int64_t n, int elem_size) {
  const std::int64_t one = 1, zero = 0;
  copy_strided(out, &one, value, &zero, &n, 1, elem_size);
}

}  // namespace ktape::kernels
