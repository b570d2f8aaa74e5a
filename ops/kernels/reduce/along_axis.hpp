#pragma once
#include <ktape/ops/kernels/axis_shape.hpp>
#include <ktape/ops/kernels/copy/row_tile.hpp>

#include <new>

/// The division of a reduction over blocks and threads, for any operation. A `Kernel` has a `Compute` type, a
/// `Partial` result and
///
///     columns(p, rows, stride, width)  reduces up to `capacity` columns, of which
///     column(j)                        is the result of one;
///     row(p, n)                        reduces a contiguous row;
///     merge(a, b)                      joins two results, of which b comes after a;
///     renumbered(x, step, first)       moves a result's positions 0, 1... to first, first + step...
///
/// and `finish` makes a result of a Partial, which is then rounded to the type of the elements. Results do
/// not depend on the number of threads: the split follows from the shape alone.
namespace ktape::kernels::detail {

/// A compiled reduction. For each kernel and type only these functions are compiled: the division is the work
/// of along_axis.cpp, which sees bytes.
struct AxisReduction {
  static constexpr std::size_t most_bytes = 96 << 10;  ///< bytes of a kernel, at most
  static constexpr int most_partial = 24;              ///< bytes of a partial result, at most

  int element;            ///< bytes of an element
  int partial;            ///< bytes of a partial result
  int result;             ///< bytes of a result
  int lanes;              ///< numbers of a vector of the kernel
  int tile_lanes;         ///< rows of short rows that a vector holds
  int tile_number;        ///< bytes of a number in a tile of short rows
  std::int64_t capacity;  ///< the number of columns that a kernel reduces at a time
  bool as_stored;         ///< elements are computed in their type
  const void* finish;     ///< the function that makes a result of a partial result

  /// Reduces columns of elements, or of a tile of numbers of the compute type, into the kernel.
  void (*columns)(void* kernel, const void* p, std::int64_t rows, std::int64_t stride, std::int64_t width);
  void (*tile_columns)(void* kernel, const void* p, std::int64_t rows, std::int64_t stride,
                       std::int64_t width);
  /// Loads rows of n elements into a tile, transposed, and returns the tile's numbers.
  const void* (*load_tile)(void* tile, std::int64_t n, const void* p, std::int64_t rows, bool followed);
  /// Writes the kernel's partial results of n columns from `column` on, renumbered.
  void (*partials)(const void* kernel, std::int64_t column, std::int64_t n, std::int64_t step,
                   std::int64_t first, void* to);
  /// Writes the kernel's results of n columns, `stride` elements apart.
  void (*results)(const void* kernel, std::int64_t n, void* to, std::int64_t stride, const void* finish);
  /// Reduces a contiguous row to a partial result.
  void (*row)(const void* p, std::int64_t n, void* to);
  /// Reduces contiguous rows to results.
  void (*rows)(const void* p, std::int64_t rows, std::int64_t n, bool prefetches, void* to,
               const void* finish);
  /// Merges n partial results into those that come before.
  void (*merge)(void* totals, const void* next, std::int64_t n);
  /// Renumbers n partial results, step 1.
  void (*renumber)(void* partials, std::int64_t n, std::int64_t first);
  /// Writes the results of n partial results.
  void (*finish_all)(const void* partials, std::int64_t n, void* to, const void* finish);
};

/// Reduces a contiguous [outer, axis, inner] array over its middle dimension.
void reduce_along_axis(const AxisReduction& reduction, const void* in, void* out, AxisShape shape);

/// Writes finish(column j) for n columns.
template <class Kernel, class Out, class Finish>
void write_columns(const Kernel& kernel, Out* out, std::int64_t n, std::int64_t stride,
                   const Finish& finish) {
  for (std::int64_t j = 0; j < n; ++j) out[j * stride] = static_cast<Out>(finish(kernel.column(j)));
}

template <class T>
const void* load_row_tile(void* memory, std::int64_t n, const void* p, std::int64_t rows, bool followed) {
  auto* const tile = new (memory) RowTile<compute_type<T>>(n, rows);
  tile->load(static_cast<const T*>(p), rows, followed);
  return tile->data();
}

/// Returns the functions of a kernel for elements of T and results of Out.
template <class Kernel, class T, class Out, class Finish>
AxisReduction axis_reduction(const Finish& finish) {
  using E = compute_type<T>;
  using Partial = typename Kernel::Partial;
  static_assert(sizeof(Kernel) <= AxisReduction::most_bytes && alignof(Kernel) <= 64);
  static_assert(sizeof(Partial) <= AxisReduction::most_partial && alignof(Partial) <= 8);
  AxisReduction r{};
  r.element = sizeof(T), r.partial = sizeof(Partial), r.result = sizeof(Out);
  r.lanes = lanes<typename Kernel::Compute>, r.tile_lanes = lanes<T>, r.tile_number = sizeof(E);
  r.capacity = Kernel::capacity, r.as_stored = std::is_same_v<T, E>, r.finish = &finish;
  r.columns = [](void* kernel, const void* p, std::int64_t rows, std::int64_t stride, std::int64_t width) {
    static_cast<Kernel*>(kernel)->columns(static_cast<const T*>(p), rows, stride, width);
  };
  r.tile_columns = [](void* kernel, const void* p, std::int64_t rows, std::int64_t stride,
                      std::int64_t width) {
    static_cast<Kernel*>(kernel)->columns(static_cast<const E*>(p), rows, stride, width);
  };
  r.load_tile = &load_row_tile<T>;
  r.partials = [](const void* kernel, std::int64_t column, std::int64_t n, std::int64_t step,
                  std::int64_t first, void* to) {
    for (std::int64_t j = 0; j < n; ++j)
      static_cast<Partial*>(to)[j] =
          Kernel::renumbered(static_cast<const Kernel*>(kernel)->column(column + j), step, first);
  };
  r.results = [](const void* kernel, std::int64_t n, void* to, std::int64_t stride, const void* finish) {
    write_columns(*static_cast<const Kernel*>(kernel), static_cast<Out*>(to), n, stride,
                  *static_cast<const Finish*>(finish));
  };
  r.row = [](const void* p, std::int64_t n, void* to) {
    *static_cast<Partial*>(to) = Kernel::row(static_cast<const T*>(p), n);
  };
  r.rows = [](const void* p, std::int64_t rows, std::int64_t n, bool prefetches, void* to,
              const void* finish) {
    const T* in = static_cast<const T*>(p);
    for (std::int64_t i = 0; i < rows; ++i, in += n) {
      if (prefetches) prefetch_following(in, n);
      static_cast<Out*>(to)[i] = static_cast<Out>((*static_cast<const Finish*>(finish))(Kernel::row(in, n)));
    }
  };
  r.merge = [](void* totals, const void* next, std::int64_t n) {
    auto* const total = static_cast<Partial*>(totals);
    for (std::int64_t j = 0; j < n; ++j)
      total[j] = Kernel::merge(total[j], static_cast<const Partial*>(next)[j]);
  };
  r.renumber = [](void* partials, std::int64_t n, std::int64_t first) {
    auto* const all = static_cast<Partial*>(partials);
    for (std::int64_t j = 0; j < n; ++j) all[j] = Kernel::renumbered(all[j], 1, first);
  };
  r.finish_all = [](const void* partials, std::int64_t n, void* to, const void* finish) {
    for (std::int64_t j = 0; j < n; ++j)
      static_cast<Out*>(to)[j] =
          static_cast<Out>((*static_cast<const Finish*>(finish))(static_cast<const Partial*>(partials)[j]));
  };
  return r;
}

template <class Kernel, class T, class Out, class Finish>
void reduce_along_axis(const T* in, Out* out, AxisShape shape, const Finish& finish) {
  reduce_along_axis(axis_reduction<Kernel, T, Out>(finish), in, out, shape);
}

}  // namespace ktape::kernels::detail
