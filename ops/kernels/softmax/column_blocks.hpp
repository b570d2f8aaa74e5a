#pragma once
#include <ktape/ops/kernels/axis_shape.hpp>
#include <ktape/ops/kernels/copy/contiguous_copy.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/simd/exp.hpp>
#include <ktape/ops/kernels/workspace.hpp>

#include <limits>

/// Softmax, logsumexp and their gradients along an axis that is not the last: vectors run across neighbouring
/// columns, and a block of columns is read once, a few rows at a time.
namespace ktape::kernels::detail {

/// The number of rows of a column that are read at a time. More rows at a distance of a power of two would
/// evict each other from the cache.
inline constexpr std::int64_t chunk_rows = 8;

/// A chunk: at most `chunk_rows` rows of the columns first <= j < end.
struct ColumnChunk {
  std::int64_t rows, first, end;
};

/// Calls f(j, m, rows) for the vectors of m <= lanes columns. The rows of a whole chunk are a constant.
template <class A, class F>
void for_chunk_vectors(const ColumnChunk& chunk, const F& f) {
  const auto all = [&](auto rows) {
    for_vectors<A>(chunk.end - chunk.first,
                   [&](std::int64_t j, std::int64_t m) { f(chunk.first + j, m, rows); });
  };
  if (chunk.rows == chunk_rows) all(std::integral_constant<int, chunk_rows>());
  else all(static_cast<int>(chunk.rows));
}

/// For each column, the largest element so far and the sum of exp(x - largest), in two parts that compensate
/// rounding. The sum of a column that contains infinity is NaN, or infinite with `Total`.
template <class A, bool Total>
struct ColumnSums {
  static constexpr int arrays = 3;
  A *largest, *sum, *rest;

  ColumnSums(Workspace<A>& space, std::int64_t width)
      : largest(space.take(width)), sum(space.take(width)), rest(space.take(width)) {}
  void clear(std::int64_t width) {
    std::fill_n(largest, padded<A>(width), std::numeric_limits<A>::lowest());
    for (A* array : {sum, rest}) std::fill_n(array, padded<A>(width), A(0));
  }

  /// Scales the sum and adds a part. The scale is never 0, so that an infinite sum stays infinite.
  void add_part(std::int64_t j, Vec<A> part, Vec<A> scale) {
    scale = larger<A>(scale, splat(std::numeric_limits<A>::min()));
    const Vec<A> total = load(sum + j) * scale, more = part + load(rest + j) * scale;
    const Vec<A> next = total + more, lost = more - (next - total);
    store(sum + j, next), store(rest + j, Vec<A>(lost == lost ? lost : Vec<A>{}));
  }
  /// Adds a chunk of rows, beginning at `in`, in registers; keep(r, j, x, term) may store the terms. The rows
  /// at a distance of `ahead` are prefetched, unless `ahead` is 0.
  template <class T, class F>
  void add(const T* in, std::int64_t stride, std::int64_t ahead, const ColumnChunk& chunk, const F& keep) {
    for_chunk_vectors<A>(chunk, [&](std::int64_t j, std::int64_t m, auto rows) {
      Vec<A> x[chunk_rows], part{};
      if (ahead != 0) prefetch_rows(in + ahead + j, stride, rows);
      for (int r = 0; r < rows; ++r) x[r] = load_partial(in + r * stride + j, m);
      const Vec<A> before = load(largest + j);
      Vec<A> top = before;
      for (int r = 0; r < rows; ++r) top = larger<A>(x[r], top);
      if constexpr (Total) top = top > std::numeric_limits<A>::max() ? before : top;
      store(largest + j, top);
      for (int r = 0; r < rows; ++r) {
        const Vec<A> e = exp_term<A>(x[r] - top);
        part += e;
        keep(r, j, x[r], e);
      }
      add_part(j, part, exp_of_small<A>(before - top));
    });
  }
};

struct ColumnBlock {
  std::int64_t start = 0, width = 0;
};

/// Blocks of columns of an [outer, axis, inner] array, so narrow that `bytes_kept` bytes for each element of
/// a block stay in the caches.
struct ColumnBlocks : AxisShape {
  std::int64_t width, count;

  template <class A>
  static ColumnBlocks of(AxisShape shape, std::int64_t bytes_kept) {
    constexpr std::int64_t step = 4 * lanes<A>, widest = 2048 / sizeof(A), caches = std::int64_t{2} << 20;
    const std::int64_t fitting =
        std::min(caches / (shape.axis * bytes_kept), shape.results() / 8) / step * step;
    const std::int64_t width = std::min(std::clamp(fitting, step, widest), padded<A>(shape.inner));
    return {shape, width, (shape.inner + width - 1) / width};
  }
  ColumnBlock operator[](std::int64_t i) const {
    const std::int64_t j = i % count * width;
    return {i / count * axis * inner + j, std::min(width, inner - j)};
  }
};

/// Lets the worker read a chunk of rows of block `now` (`take`), part by part, and write a row of results of
/// block `before` (`give`) before each part, so that loads, stores and arithmetic overlap.
template <class Worker>
[[gnu::always_inline]] inline void pass_chunk(Worker& worker, ColumnBlock before, ColumnBlock now,
                                              std::int64_t row, std::int64_t rows) {
  worker.prepare(before);
  for (std::int64_t r = 0; r < chunk_rows; ++r) {
    if (r < rows) worker.give(before, row + r);
    worker.take(now, row, rows, r);
  }
}

/// Runs a worker over all blocks, chunk by chunk: it reads a block while it writes the results of the
/// previous block.
template <class Worker>
void for_column_blocks(const ColumnBlocks& blocks, const auto&... arguments) {
  parallel_rows(blocks.outer * blocks.count, blocks.axis * std::min(blocks.inner, blocks.width) * 4,
                [&](std::int64_t begin, std::int64_t end) {
                  Worker worker(blocks, arguments...);
                  ColumnBlock before, now;
                  for (; begin <= end; ++begin, before = now) {
                    now = begin < end ? blocks[begin] : ColumnBlock();
                    for (std::int64_t k = 0; k < blocks.axis; k += chunk_rows)
                      pass_chunk(worker, before, now, k, std::min(chunk_rows, blocks.axis - k));
                    worker.turn(now);
                  }
                  stream_fence();
                });
}

/// Writes a row of a block. Without non-temporal stores, the cache lines at the ends of a later row, of which
/// neighbours write the rest, are prefetched.
template <class T, class F>
void give_row(T* out, std::int64_t width, std::int64_t stride, bool non_temporal, const F& at) {
  if (non_temporal && width % lanes<T> == 0 && streamable(out, stride * sizeof(T))) {
    for (std::int64_t j = 0; j < width; j += lanes<T>) stream(out + j, at(j, std::int64_t{lanes<T>}));
    return;
  }
  const T* const later = out + prefetch_distance<T>(stride);
  __builtin_prefetch(later, 1), __builtin_prefetch(later + width - 1, 1);
  write_run(out, width, non_temporal, at);
}

}  // namespace ktape::kernels::detail
