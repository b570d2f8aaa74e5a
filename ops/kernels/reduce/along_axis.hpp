#pragma once
#include <ktape/ops/kernels/axis_shape.hpp>
#include <ktape/ops/kernels/copy/row_tile.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>

#include <vector>

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

/// out[j] = the result of column j; float16 is rounded in vectors.
template <class Kernel, class Out, class Finish>
void write_columns(const Kernel& kernel, Out* out, std::int64_t n, const Finish& finish) {
  std::int64_t j = 0;
  if constexpr (std::is_same_v<Out, float16>)
    for (; j + lanes<Out> <= n; j += lanes<Out>) {
      alignas(64) float block[lanes<Out>];
      for (int i = 0; i < lanes<Out>; ++i) block[i] = finish(kernel.column(j + i));
      store(out + j, load(block));
    }
  for (; j < n; ++j) out[j] = narrow<Out>(finish(kernel.column(j)));
}

/// Reduces short rows, which are transposed so that each lane reduces another row.
template <class Kernel, class T, class Out, class Finish>
void reduce_short_rows(const T* in, Out* out, AxisShape shape, const Finish& finish) {
  using E = compute_type<T>;
  const std::int64_t n = shape.axis * shape.inner;
  for_row_tiles<E>(shape.outer, n, 1, [&](std::int64_t first, std::int64_t count) {
    Kernel kernel;
    RowTile<E> tile(n);
    tile.load(in + first * n, count, first + count < shape.outer);
    for (std::int64_t j = 0; j < shape.inner; ++j) {
      kernel.columns(tile.data() + j * tile.rows, shape.axis, shape.inner * tile.rows, count);
      Out* const to = out + first * shape.inner + j;
      if (shape.inner == 1) write_columns(kernel, to, count, finish);
      else
        for (std::int64_t r = 0; r < count; ++r) to[r * shape.inner] = narrow<Out>(finish(kernel.column(r)));
    }
  });
}

/// Reduces row by row; short rows that are not in the caches are prefetched.
template <class Kernel, class T, class Out, class Finish>
void reduce_rows(const T* in, Out* out, AxisShape shape, const Finish& finish) {
  const std::int64_t n = shape.axis;
  const bool prefetches = n <= 512 && shape.size() * std::int64_t(sizeof(T)) >= 1 << 20;
  parallel_rows(shape.outer, n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o) {
      if (prefetches) prefetch_following(in + o * n, n);
      out[o] = narrow<Out>(finish(Kernel::row(in + o * n, n)));
    }
  });
}

/// Reduces narrow columns: several rows are read as if they were one row. to(j, partial) receives the
/// results.
template <class Kernel, class T, class To>
void reduce_narrow_columns(Kernel& kernel, const T* p, std::int64_t rows, std::int64_t width, const To& to) {
  using Partial = typename Kernel::Partial;
  constexpr std::int64_t w = lanes<typename Kernel::Compute>;
  std::int64_t group = std::clamp<std::int64_t>(rows / 8, 1, std::max<std::int64_t>(1, 4 * w / width));
  if (group > w) group = group / w * w;
  const std::int64_t wide = group * width, wide_rows = rows / group;
  Partial total[4 * w];
  kernel.columns(p, wide_rows, wide, wide);
  for (std::int64_t g = 0; g < group; ++g)
    for (std::int64_t j = 0; j < width; ++j) {
      const Partial part = Kernel::renumbered(kernel.column(g * width + j), group, g);
      total[j] = g == 0 ? part : Kernel::merge(total[j], part);
    }
  const std::int64_t done = wide_rows * group;
  if (done < rows) kernel.columns(p + done * width, rows - done, width, width);
  for (std::int64_t j = 0; j < width; ++j)
    to(j, done < rows ? Kernel::merge(total[j], Kernel::renumbered(kernel.column(j), 1, done)) : total[j]);
}

/// Splits [axis] x [inner] into tasks of about half a megabyte: blocks of columns times segments of rows. The
/// number of segments is as small as possible, because the results of segments are merged one by one.
template <class Kernel, class T, class Out, class Finish>
void reduce_split(const T* in, Out* out, AxisShape shape, const Finish& finish) {
  using Partial = typename Kernel::Partial;
  constexpr std::int64_t narrowest = 512, enough = 32, task_bytes = 1 << 19;
  const std::int64_t bytes = shape.size() * std::int64_t(sizeof(T));
  const std::int64_t tasks = std::clamp<std::int64_t>(bytes / task_bytes, 1, enough);
  const auto over = [](std::int64_t n, std::int64_t parts) { return (n + parts - 1) / parts; };
  const std::int64_t blocks = std::max(over(shape.inner, Kernel::capacity),
                                       std::min(over(tasks, shape.outer), shape.inner / narrowest));
  const std::int64_t columns = std::min(shape.inner, over(over(shape.inner, blocks), 64) * 64);
  const std::int64_t segments =
      std::clamp<std::int64_t>(over(tasks, shape.outer * blocks), 1, std::max<std::int64_t>(shape.axis, 1));
  const auto bound = [=](std::int64_t segment) { return shape.axis * segment / segments; };
  std::vector<Partial> partial(segments > 1 ? shape.outer * segments * shape.inner : 0);
  const auto run = [&](Kernel& kernel, std::int64_t task) {
    const std::int64_t o = task / (segments * blocks), segment = task / blocks % segments;
    const std::int64_t j = task % blocks * columns, width = std::min(columns, shape.inner - j);
    const std::int64_t first = bound(segment), rows = bound(segment + 1) - first;
    const T* const p = in + (o * shape.axis + first) * shape.inner + j;
    const auto to = [&](std::int64_t k, const Partial& x) {
      if (segments > 1)
        partial[(o * segments + segment) * shape.inner + j + k] = Kernel::renumbered(x, 1, first);
      else out[o * shape.inner + j + k] = narrow<Out>(finish(x));
    };
    if (shape.inner == 1) return to(0, Kernel::row(p, rows));
    if (shape.inner < 2 * lanes<typename Kernel::Compute>)
      return reduce_narrow_columns(kernel, p, rows, shape.inner, to);
    kernel.columns(p, rows, shape.inner, width);
    if (segments == 1) return write_columns(kernel, out + o * shape.inner + j, width, finish);
    for (std::int64_t k = 0; k < width; ++k) to(k, kernel.column(k));
  };
  parallel_rows(shape.outer * segments * blocks, shape.axis / segments * columns,
                [&](std::int64_t begin, std::int64_t end) {
                  Kernel kernel;
                  for (; begin < end; ++begin) run(kernel, begin);
                });
  if (segments == 1) return;
  for (std::int64_t o = 0; o < shape.outer; ++o) {
    Partial* const total = &partial[o * segments * shape.inner];
    parallel_rows(shape.inner, 8 * segments, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t s = 1; s < segments; ++s)
        for (std::int64_t j = begin; j < end; ++j)
          total[j] = Kernel::merge(total[j], total[s * shape.inner + j]);
      for (std::int64_t j = begin; j < end; ++j) out[o * shape.inner + j] = narrow<Out>(finish(total[j]));
    });
  }
}

template <class Kernel, class T, class Out, class Finish>
void reduce_along_axis(const T* in, Out* out, AxisShape shape, const Finish& finish) {
  if (shape.results() == 0) return;
  using E = compute_type<T>;
  if (shape.outer >= lanes<E> && shape.axis > 0 && suits_tile<T>(shape.axis, shape.inner, 32))
    return reduce_short_rows<Kernel>(in, out, shape, finish);
  if (shape.inner == 1 && shape.outer >= 64) return reduce_rows<Kernel>(in, out, shape, finish);
  reduce_split<Kernel>(in, out, shape, finish);
}

}  // namespace ktape::kernels::detail
