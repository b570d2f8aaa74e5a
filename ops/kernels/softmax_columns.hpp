#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/kernels/exp.hpp>
#include <ktape/ops/kernels/parallel_rows.hpp>
#include <ktape/ops/kernels/runs.hpp>

#include <limits>

/// What softmax and its relatives do along an axis that is not the last one: vectors run across neighbouring
/// columns, and a block of columns is read once, a few rows at a time.
namespace ktape::kernels::detail {

template <class T>
Vec<compute_type<T>> load_some(const T* p, std::int64_t m, compute_type<T> fill = 0) {
  return m == lanes<T> ? load(p) : load_partial(p, m, splat(fill));
}
template <class T, class V>
void store_some(T* p, V v, std::int64_t m) {
  m == lanes<T> ? store(p, v) : store_partial(p, v, m);
}
/// Calls f(j, m) for the vectors of m <= lanes elements of a row.
template <class A, class F>
void for_vectors(std::int64_t width, const F& f) {
  std::int64_t j = 0;
  for (; j + lanes<A> <= width; j += lanes<A>) f(j, std::int64_t{lanes<A>});
  if (j < width) f(j, width - j);
}
template <class A>
std::int64_t padded(std::int64_t width) {
  return (width + lanes<A> - 1) / lanes<A> * lanes<A>;
}

/// Arrays of `size` elements, each aligned, with room for a vector behind the last.
template <class A>
class Workspace {
 public:
  explicit Workspace(std::int64_t size) : storage_(Storage::make((size + lanes<A>)*sizeof(A))) {}
  A* take(std::int64_t size) {
    A* taken = static_cast<A*>(storage_->data()) + used_;
    used_ += padded<A>(size);
    return taken;
  }

 private:
  Ref<Storage> storage_;
  std::int64_t used_ = 0;
};

/// Rows of a column that are looked at together.
inline constexpr std::int64_t chunk_rows = 8;

/// For each column the largest element so far and the sum of exp(x - largest), kept in two parts that make
/// up for rounding. Of columns that hold infinity the sums are NaN, or, when they are `Total`s to be shown,
/// infinite.
template <class A, bool Total>
struct ColumnSums {
  static constexpr int arrays = 4;
  A *largest, *sum, *rest, *part;

  ColumnSums(Workspace<A>& space, std::int64_t width)
      : largest(space.take(width)),
        sum(space.take(width)),
        rest(space.take(width)),
        part(space.take(width)) {}
  ColumnSums from(std::int64_t j) const {
    ColumnSums later = *this;
    for (A** array : {&later.largest, &later.sum, &later.rest, &later.part}) *array += j;
    return later;
  }
  void clear(std::int64_t width) {
    std::fill_n(largest, padded<A>(width), std::numeric_limits<A>::lowest());
    for (A* array : {sum, rest, part}) std::fill_n(array, padded<A>(width), A(0));
  }
  static Vec<A> term(Vec<A> difference) {
    if constexpr (Total) return exp_of<A>(difference);
    else return exp_of_small<A>(difference);
  }

  /// Raises `largest` to that of the next rows, which follow one by one.
  template <class T>
  void prepare(const T* in, std::int64_t stride, std::int64_t rows, std::int64_t width) {
    for_vectors<A>(width, [&](std::int64_t j, std::int64_t m) {
      Vec<A> top = load_some(in + j, m);
      for (std::int64_t r = 1; r < rows; ++r) top = larger<A>(load_some(in + r * stride + j, m), top);
      const Vec<A> before = load(largest + j);
      top = larger<A>(top, before);
      if constexpr (Total) top = top > std::numeric_limits<A>::max() ? before : top;
      add_part(j, exp_of_small<A>(before - top));
      store(largest + j, top);
    });
  }
  /// Adds the part to the sum. An infinite one stays that, however small the scale is.
  void add_part(std::int64_t j, Vec<A> scale) {
    scale = larger<A>(scale, splat(std::numeric_limits<A>::min()));
    const Vec<A> total = load(sum + j) * scale, more = load(part + j) * scale + load(rest + j) * scale;
    const Vec<A> next = total + more, lost = more - (next - total);
    store(sum + j, next), store(rest + j, Vec<A>(lost == lost ? lost : Vec<A>{})), store(part + j, Vec<A>{});
  }
  /// Adds the terms of a row; keep(j, x, term) may put them away.
  template <class T, class F>
  void add(const T* in, std::int64_t ahead, std::int64_t width, const F& keep) {
    for_vectors<A>(width, [&](std::int64_t j, std::int64_t m) {
      __builtin_prefetch(in + ahead + j, 0, 2);
      const Vec<A> x = load_some(in + j, m), e = term(x - load(largest + j));
      store(part + j, load(part + j) + e);
      keep(j, x, e);
    });
  }
  void finish(std::int64_t width) {
    for (std::int64_t j = 0; j < width; j += lanes<A>) add_part(j, splat(A(1)));
  }
};

struct ColumnBlock {
  std::int64_t start = 0, width = 0;
};

/// Blocks of columns of an [outer, axis, inner] array, of which `bytes_kept` for each element stay in the
/// caches.
struct ColumnBlocks {
  std::int64_t outer, axis, inner, width, count;

  template <class A>
  static ColumnBlocks of(std::int64_t outer, std::int64_t axis, std::int64_t inner, std::int64_t bytes_kept) {
    constexpr std::int64_t step = 4 * lanes<A>, widest = 2048 / sizeof(A), caches = std::int64_t{2} << 20;
    const std::int64_t fitting = std::min(caches / (axis * bytes_kept), outer * inner / 8) / step * step;
    const std::int64_t width = std::min(std::clamp(fitting, step, widest), padded<A>(inner));
    return {outer, axis, inner, width, (inner + width - 1) / width};
  }
  ColumnBlock operator[](std::int64_t i) const {
    const std::int64_t j = i % count * width;
    return {i / count * axis * inner + j, std::min(width, inner - j)};
  }
};

/// Takes in block by block, a chunk of rows at a time, row by row; while the rows of a block are taken those
/// of the results of the block before are given, so that memory is busy while the processor computes.
template <class Worker>
void for_column_blocks(const ColumnBlocks& blocks, const auto&... arguments) {
  parallel_rows(blocks.outer * blocks.count, blocks.axis * std::min(blocks.inner, blocks.width) * 4,
                [&](std::int64_t begin, std::int64_t end) {
                  Worker worker(blocks, arguments...);
                  ColumnBlock before, now;
                  for (; begin <= end; ++begin, before = now) {
                    now = begin < end ? blocks[begin] : ColumnBlock();
                    for (std::int64_t k = 0; k < blocks.axis; k += chunk_rows) {
                      const std::int64_t chunk = std::min(blocks.axis, k + chunk_rows);
                      worker.prepare(before, now, k, chunk - k);
                      for (std::int64_t row = k; row < chunk; ++row) {
                        worker.give(before, row);
                        worker.take(now, row);
                      }
                    }
                    worker.turn(now);
                  }
                  stream_fence();
                });
}

/// Writes a row of a block.
template <class T, class F>
void give_row(T* out, std::int64_t width, std::int64_t stride, bool past_caches, const F& at) {
  if (past_caches && width % lanes<T> == 0 && streamable(out, stride * sizeof(T)))
    for (std::int64_t j = 0; j < width; j += lanes<T>) stream(out + j, at(j, std::int64_t{lanes<T>}));
  else write_run(out, width, past_caches, at);
}

}  // namespace ktape::kernels::detail
