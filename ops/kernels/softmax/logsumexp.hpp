#pragma once
#include <ktape/ops/kernels/axis_shape.hpp>
#include <ktape/ops/kernels/softmax/softmax.hpp>

namespace ktape::kernels {
namespace detail {

template <class T>
void logsumexp_short_rows(const T* in, T* out, AxisShape shape) {
  using A = compute_type<T>;
  const std::int64_t n = shape.axis * shape.inner;
  for_row_tiles<A>(shape.outer, n, 4, [&](std::int64_t r, std::int64_t rows) {
    RowTile<A> tile(n, rows);
    tile.load(in + r * n, rows, r + rows < shape.outer);
    A* const totals = tile.data();  // in place of the first elements, which are no longer needed
    tile_sums<false, true>(totals, shape.axis, shape.inner * tile.rows,
                           [&](std::int64_t j, Vec<A> largest, Vec<A> sum) {
                             store(totals + j, Vec<A>(functions::log(xsimd::batch<A>(sum))) + largest);
                           });
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < shape.inner; ++j)
        out[(r + i) * shape.inner + j] = static_cast<T>(totals[j * tile.rows + i]);
  });
}

/// Computes logsumexp of contiguous rows: the logarithms of a few sums are computed as one vector.
template <class T, class Out>
void logsumexp_rows(const T* x, Out* out, std::int64_t rows, std::int64_t n) {
  using A = compute_type<T>;
  constexpr std::int64_t w = lanes<double>;
  const std::int64_t group = std::clamp<std::int64_t>(cached_elements<T> / n, 1, w);
  for (std::int64_t r = 0; r < rows; r += group) {
    const std::int64_t m = std::min(group, rows - r);
    alignas(64) double sums[w] = {}, shifts[w] = {};
    for (std::int64_t i = 0; i < m; ++i) {
      const A largest = row_max(x + (r + i) * n, n);
      shifts[i] = std::isfinite(largest) ? largest : 0;
    }
    for (std::int64_t i = 0; i < m; ++i)
      sums[i] = exp_sum<T, A>(x + (r + i) * n, n, static_cast<A>(shifts[i]), nullptr, group * n);
    store(sums, Vec<double>(functions::log(xsimd::batch<double>(load(sums)))) + load(shifts));
    for (std::int64_t i = 0; i < m; ++i) out[r + i] = static_cast<Out>(static_cast<A>(sums[i]));
  }
}

/// Computes logsumexp of `width` columns of rows that are `stride` apart.
template <class T, class Out>
void logsumexp_wide(const T* in, std::int64_t stride, Out* out, std::int64_t rows, std::int64_t width) {
  using A = compute_type<T>;
  constexpr std::int64_t chunk_columns = 512;  // columns of a chunk that stays in the first cache
  Workspace<A> space(ColumnSums<A, true>::arrays * padded<A>(width));
  ColumnSums<A, true> sums(space, width);
  sums.clear(width);
  for (std::int64_t k = 0; k < rows; k += chunk_rows)
    for (std::int64_t first = 0; first < width; first += chunk_columns)
      sums.add(in + k * stride, stride, chunk_rows * stride,
               {std::min(chunk_rows, rows - k), first, std::min(width, first + chunk_columns)},
               [](auto...) {});
  for_vectors<A>(width, [&](std::int64_t j, std::int64_t m) {
    store_partial(out + j,
                  Vec<A>(functions::log(xsimd::batch<A>(load(sums.sum + j)))) + load(sums.largest + j), m);
  });
}

/// Computes logsumexp of columns. A few long columns are first split into more columns with fewer rows, which
/// fill the vectors.
template <class T, class Out>
void logsumexp_columns(const T* in, std::int64_t stride, Out* out, std::int64_t rows, std::int64_t width) {
  using A = compute_type<T>;
  if (stride == 1) return logsumexp_rows(in, out, 1, rows);
  const std::int64_t fold = std::max<std::int64_t>(1, 8 * lanes<A> / width), wide = fold * width;
  if (stride != width || fold == 1 || rows < 4 * fold) return logsumexp_wide(in, stride, out, rows, width);
  const std::int64_t whole = rows / fold * fold;
  Workspace<A> space((fold + rows - whole) * width);
  A* const parts = space.take((fold + rows - whole) * width);
  logsumexp_wide(in, wide, parts, whole / fold, wide);
  for (std::int64_t i = whole * width; i < rows * width; ++i)
    parts[i - whole * width + wide] = element(in + i);
  logsumexp_wide(parts, width, out, fold + rows - whole, width);
}

}  // namespace detail

/// Computes out[outer, inner] = m + log(sum(exp(in - m))) with m = max(in), or a finite m if the maximum is
/// infinite. The result is -infinity for an empty axis and for elements of -infinity only, +infinity if an
/// element is. A long axis is cut into pieces, and the results of the pieces are combined by the same
/// formula.
template <class T>
void logsumexp(const T* in, T* out, AxisShape shape) {
  using A = compute_type<T>;
  if (shape.axis == 0)
    return void(std::fill_n(out, shape.results(), static_cast<T>(-std::numeric_limits<A>::infinity())));
  if (shape.results() == 0) return;
  if (detail::suits_tile<T>(shape.axis, shape.inner)) return detail::logsumexp_short_rows(in, out, shape);
  constexpr std::int64_t widest = 4096, enough = 16, piece = 65536;
  const std::int64_t blocks = (shape.inner + widest - 1) / widest, tasks = shape.outer * blocks;
  const std::int64_t pieces =
      tasks >= enough ? 1 : std::clamp<std::int64_t>(shape.axis * shape.inner / piece, 1, enough);
  const std::int64_t between = pieces > 1 ? shape.outer * pieces * shape.inner : 0;
  Workspace<A> space(between);
  A* const parts = space.take(between);
  parallel_rows(
      tasks * pieces, shape.axis * std::min(widest, shape.inner) / pieces * 4,
      [&](std::int64_t begin, std::int64_t end) {
        if (shape.inner == 1 && pieces == 1)
          return detail::logsumexp_rows(in + begin * shape.axis, out + begin, end - begin, shape.axis);
        for (; begin < end; ++begin) {
          const std::int64_t row = begin / blocks, j = begin % blocks * widest,
                             width = std::min(widest, shape.inner - j);
          const std::int64_t first = shape.axis * (row % pieces) / pieces,
                             last = shape.axis * (row % pieces + 1) / pieces;
          const T* at = in + (row / pieces * shape.axis + first) * shape.inner + j;
          if (pieces > 1)
            detail::logsumexp_columns(at, shape.inner, parts + row * shape.inner + j, last - first, width);
          else detail::logsumexp_columns(at, shape.inner, out + row * shape.inner + j, last - first, width);
        }
      });
  for (std::int64_t o = 0; pieces > 1 && o < shape.outer; ++o)
    detail::logsumexp_wide(parts + o * pieces * shape.inner, shape.inner, out + o * shape.inner, pieces,
                           shape.inner);
}

/// log(sum(exp)) as a kernel for `reduced`, for floating tensors. Several axes are reduced one after the
/// other.
struct LogSumExpOf {
  template <class T>
  using Result = T;
  template <class T>
  static void run(const T* in, T* out, AxisShape shape) {
    if constexpr (!std::is_integral_v<T>) logsumexp(in, out, shape);
  }
};

}  // namespace ktape::kernels
