#pragma once
#include <ktape/ops/kernels/copy/cache_blocks.hpp>
#include <ktape/ops/kernels/copy/contiguous_copy.hpp>
#include <ktape/ops/kernels/copy/transpose.hpp>

/// Transposes of large matrices whose output rows begin within cache lines. Each line of the output is put
/// together of a vector of rows and what the one before it left over, and so is written whole.
namespace ktape::kernels::detail {

/// Of the next vector of rows: writes the lines past the caches that they fill, and leaves the rest in
/// `left`.
template <class U>
void carry_lines(const U* in, std::int64_t s, U* out, std::int64_t t, std::int64_t columns, U* left) {
  constexpr int w = lanes<U>, g = group_size<U>;
  for (std::int64_t c = 0; c < columns; c += g) {
    Vec<U> v[g];
    load_columns<w, g>(in + c, s, v);
    for (int j = 0; j < g; ++j) {
      U *const to = out + (c + j) * t, *const before = left + (c + j) * w;
      const auto phase = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(U) % w);
      stream(to - phase, window<U>(load(before), v[j], w - phase));
      store(before, v[j]);
    }
  }
}

/// out[c * t + r] = in[r * s + c] for at least two vectors of rows and `columns` columns, in whole groups.
/// `left` has room for a vector of each column.
template <class U>
void transpose_carrying(const U* in, std::int64_t s, U* out, std::int64_t t, std::int64_t rows,
                        std::int64_t columns, U* left) {
  constexpr int w = lanes<U>, g = group_size<U>, width = 4 * w;
  alignas(64) U buffer[w * width];
  // The lines at both ends are shared with other rows.
  const std::int64_t whole = rows / w * w, tail = rows - whole + w;
  transpose_blocks<w, g>(in, s, out, t, w, columns, 0, false);
  transpose_blocks<w, g>(in, s, left, w, w, columns, 0, false);
  for (std::int64_t r = w; r < whole; r += w)
    for (std::int64_t c = 0; c < columns; c += width) {
      const std::int64_t n = std::min<std::int64_t>(width, columns - c);
      const U* const from = in + r * s + c;
      const bool together = n % w == 0 && rows_compete<U>(s);
      for (int i = 0; i < w && together; ++i)
        for (std::int64_t k = 0; k < n; k += w) {
          __builtin_prefetch(from + (w + i) * s + k, 0, 2);
          store(buffer + i * width + k, load(from + i * s + k));
        }
      for (std::int64_t k = 0; k < n && !together; k += w) prefetch_rows(from + k + w * s, s, w);
      carry_lines(together ? buffer : from, together ? width : s, out + c * t + r, t, n, left + c * w);
    }
  transpose_blocks<w, g>(in + (rows - tail) * s, s, out + rows - tail, t, tail, columns, 0, false);
}

/// Whether these loops are such transposes, of many rows and columns.
template <class U>
bool carries(const U* out, const LoopNest& loops, int column_loop) {
  constexpr std::int64_t w = lanes<U>;
  if (vector_bytes != 64 || reinterpret_cast<std::uintptr_t>(out) % sizeof(U) != 0) return false;
  if (column_loop < 0 || column_loop == loops.rank - 1) return false;
  const LoopNest::Loop rows = loops.at[loops.rank - 1], columns = loops.at[column_loop];
  return rows.out == 1 && rows.size >= 8 * w && columns.size >= 8 * w &&
         !transpose_streams(out, columns.out, rows.size);
}

/// Copies them in stripes of columns: what a stripe leaves over between vectors of rows stays in the caches.
template <class U>
void copy_carrying(const U* in, U* out, const LoopNest& loops, int column_loop) {
  constexpr std::int64_t w = lanes<U>, g = group_size<U>, widest = 512;
  const LoopNest::Loop rows = loops.at[loops.rank - 1], columns = loops.at[column_loop];
  LoopNest others = loops;
  others.at[column_loop] = {1, 0, 0}, --others.rank;
  const std::int64_t matrices = others.elements();
  const std::int64_t width = std::clamp(matrices * columns.size / 8 / w * w, 4 * w, std::max(4 * w, widest));
  const std::int64_t stripes = (columns.size + width - 1) / width;
  parallel_rows(matrices * stripes, rows.size * width, [&](std::int64_t begin, std::int64_t end) {
    const Ref<Storage> left = Storage::make(width * w * sizeof(U));
    for (; begin < end; ++begin) {
      const Odometer at(others, begin / stripes);
      const std::int64_t first = begin % stripes * width, n = std::min(width, columns.size - first);
      const std::int64_t groups = n / g * g;
      const U* const from = in + at.in + first;
      U* const to = out + at.out + first * columns.out;
      transpose_carrying(from, rows.in, to, columns.out, rows.size, groups, static_cast<U*>(left->data()));
      transpose_blocks<w, g>(from + groups, rows.in, to + groups * columns.out, columns.out, rows.size,
                             n - groups, 0, false);
    }
    stream_fence();
  });
}

}  // namespace ktape::kernels::detail
