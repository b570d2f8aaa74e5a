#pragma once
#include <ktape/ops/kernels/copy/contiguous_copy.hpp>
#include <ktape/ops/kernels/copy/transpose.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>

/// Rows of a few vectors at most, transposed in registers so that each lane works on another row.
namespace ktape::kernels::detail {

/// Transposes m <= G columns of as many rows as a vector has lanes to m vectors that are `stride` apart.
/// Reads G columns.
template <int G, class A>
void rows_to_lanes(const A* rows, std::int64_t n, std::int64_t m, A* tile, std::int64_t stride) {
  Vec<A> v[G];
  load_columns<lanes<A>, G>(rows, n, v);
  for (int j = 0; j < G; ++j)
    if (j < m) store(tile + j * stride, v[j]);
}
/// Transposes back and writes G columns; the next row overwrites the columns from m on.
template <int G, class A>
void lanes_to_rows(const A* tile, std::int64_t stride, std::int64_t m, A* rows, std::int64_t n) {
  Vec<A> v[G];
  for (int j = 0; j < G; ++j) v[j] = j < m ? load(tile + j * stride) : Vec<A>{};
  transpose_groups<G>(v);
  for (int k = 0; k < lanes<A>; k += G)
    for (int i = 0; i < G; ++i)
      std::memcpy(rows + (k + i) * n, reinterpret_cast<const A*>(&v[i]) + k, G * sizeof(A));
}

/// A block of rows as columns of whole vectors, computed in A.
template <class A>
class RowTile {
 public:
  static constexpr std::int64_t most = 64;  ///< elements of a row

  /// Makes a tile for `needed` rows, rounded up to whole vectors, or for as many of these rows as fit.
  RowTile(std::int64_t row, std::int64_t needed) : n(row), rows(std::min(rows_of(row), padded<A>(needed))) {}
  static std::int64_t rows_of(std::int64_t n) { return most / n * lanes<A>; }

  const std::int64_t n, rows;
  A* data() { return tile_; }
  Vec<A> at(std::int64_t k, std::int64_t j) const { return kernels::load(tile_ + k * rows + j); }

  /// Loads m rows; the other rows are 0. `followed` means that the memory after the rows holds another row,
  /// which no thread writes.
  template <class T>
  void load(const T* p, std::int64_t m, bool followed) {
    const A* from = flat_;
    if constexpr (std::is_same_v<T, A>)
      if (m == rows && followed) from = p;
    if (from == flat_) copy(p, m * n);
    for_groups([&](std::int64_t r, std::int64_t c, std::int64_t columns) {
      if (c == 0) prefetch_following(p + r * n, lanes<A> * n);
      rows_to_lanes<group>(from + r * n + c, n, columns, tile_ + c * rows + r, rows);
    });
  }
  template <class T>
  void store(T* p, std::int64_t m, bool non_temporal) {
    for_groups([&](std::int64_t r, std::int64_t c, std::int64_t columns) {
      lanes_to_rows<group>(tile_ + c * rows + r, rows, columns, flat_ + r * n + c, n);
    });
    write_run(p, m * n, non_temporal, [&](auto i, auto) { return kernels::load(flat_ + i); });
  }

 private:
  template <class T>
  void copy(const T* p, std::int64_t count) {
    constexpr int w = lanes<A>;
    std::int64_t i = 0;
    for (; i + w <= count; i += w) kernels::store(flat_ + i, kernels::load(p + i));
    if (i < count) kernels::store(flat_ + i, load_partial(p + i, count - i, Vec<A>{})), i += w;
    std::fill(flat_ + i, flat_ + rows * n + w, A(0));
  }
  /// Calls f(row, column, columns) for all groups, first for the groups at the right, which write excess
  /// columns.
  template <class F>
  void for_groups(const F& f) {
    for (std::int64_t r = 0; r < rows; r += lanes<A>)
      for (std::int64_t c = (n - 1) / group * group; c >= 0; c -= group)
        f(r, c, std::min<std::int64_t>(group, n - c));
  }

  static constexpr int group = group_size<A>;
  alignas(64) A tile_[(most + 8) * lanes<A>], flat_[(most + 2) * lanes<A>];  // not a multiple of a page apart
};

/// Returns whether a tile suits rows of axis x inner elements of T. Rows of more than `longest` floats are
/// faster one by one.
template <class T>
bool suits_tile(std::int64_t axis, std::int64_t inner, std::int64_t longest = 40) {
  using A = compute_type<T>;
  const bool one_by_one = inner == 1 && std::is_same_v<T, A> && axis > longest;
  return axis * inner <= RowTile<A>::most && !one_by_one;
}

/// Calls f(first row, rows) for blocks of rows, in parallel.
template <class A, class F>
void for_row_tiles(std::int64_t rows, std::int64_t n, std::int64_t work, const F& f) {
  if (rows == 0 || n == 0) return;
  const std::int64_t step = RowTile<A>::rows_of(n), blocks = (rows + step - 1) / step;
  parallel_rows(blocks, step * n * work, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; ++begin) f(begin * step, std::min(step, rows - begin * step));
    stream_fence();
  });
}

}  // namespace ktape::kernels::detail
