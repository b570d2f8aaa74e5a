#pragma once
#include <ktape/ops/kernels/copy/transpose_rows.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>

#include <vector>

/// How a reduction of a contiguous [outer, axis, inner] array over its middle dimension is split, whatever it
/// computes. A `Kernel` has a `Compute` type, a `Partial` result and
///
///     columns(p, rows, stride, width)   reduces up to `capacity` columns; column(j) then is the result of
///     one row(p, n)                         reduces a contiguous run merge(a, b)                       joins
///     two results, of which b comes after a placed(x, step, first)            a result that counted elements
///     0, 1, 2... which are those at first,
///                                       first + step, first + 2 step...
///
/// and `finish` makes a result of a Partial, which is then rounded to the type of the elements. Results do
/// not depend on the number of threads: the split follows from the shape alone.
namespace ktape::kernels::detail {

/// out[j] = the result of column j; halves are rounded in vectors.
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

/// Short rows [axis, inner], a block of them at a time. E is the compute type of the elements.
template <class Kernel, class E>
struct ShortRows {
  static constexpr std::int64_t room = 256, longest = std::min<std::int64_t>(room, 8 * lanes_of<E>);
  Kernel kernel;
  alignas(64) E turned[room * lanes_of<E>];

  static std::int64_t block(std::int64_t n) {
    return lanes_of<E> * std::clamp<std::int64_t>(room / transposed_columns<E>(n), 1, 16);
  }

  template <class T, class Out, class Finish>
  void reduce(const T* in, Out* out, std::int64_t count, std::int64_t axis, std::int64_t inner,
              std::int64_t readable, const Finish& finish) {
    using Bits = std::conditional_t<std::is_same_v<T, float16>, T, bits_of<T>>;
    const std::int64_t stride = block(axis * inner);
    transpose_rows(reinterpret_cast<const Bits*>(in), count, axis * inner,
                   reinterpret_cast<compute_type<Bits>*>(turned), stride, readable);
    for (std::int64_t j = 0; j < inner; ++j) {
      kernel.columns(turned + j * stride, axis, inner * stride, count);
      if (inner == 1) write_columns(kernel, out, count, finish);
      else
        for (std::int64_t r = 0; r < count; ++r) out[r * inner + j] = narrow<Out>(finish(kernel.column(r)));
    }
  }
};

template <class Kernel, class T, class Out, class Finish>
void reduce_short_rows(const T* in, Out* out, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                       const Finish& finish) {
  using Work = ShortRows<Kernel, compute_type<T>>;
  const std::int64_t n = axis * inner, rows = Work::block(n);
  parallel_rows((outer + rows - 1) / rows, rows * n, [&](std::int64_t begin, std::int64_t end) {
    Work work;
    for (std::int64_t o = begin * rows; o < std::min(outer, end * rows); o += rows)
      work.reduce(in + o * n, out + o * inner, std::min(rows, outer - o), axis, inner, (outer - o) * n,
                  finish);
  });
}

/// Narrow columns: several rows are read as if they were one. to(j, partial) takes the results.
template <class Kernel, class T, class To>
void reduce_narrow_columns(Kernel& kernel, const T* p, std::int64_t rows, std::int64_t width, const To& to) {
  using Partial = typename Kernel::Partial;
  constexpr std::int64_t w = lanes_of<typename Kernel::Compute>;
  std::int64_t group = std::clamp<std::int64_t>(rows / 8, 1, std::max<std::int64_t>(1, 4 * w / width));
  if (group > w) group = group / w * w;
  const std::int64_t wide = group * width, wide_rows = rows / group;
  Partial total[4 * w];
  kernel.columns(p, wide_rows, wide, wide);
  for (std::int64_t g = 0; g < group; ++g)
    for (std::int64_t j = 0; j < width; ++j) {
      const Partial part = Kernel::placed(kernel.column(g * width + j), group, g);
      total[j] = g == 0 ? part : Kernel::merge(total[j], part);
    }
  const std::int64_t done = wide_rows * group;
  if (done < rows) kernel.columns(p + done * width, rows - done, width, width);
  for (std::int64_t j = 0; j < width; ++j)
    to(j, done < rows ? Kernel::merge(total[j], Kernel::placed(kernel.column(j), 1, done)) : total[j]);
}

/// Splits [axis] x [inner] into tasks of about half a megabyte: blocks of columns times segments of rows. Of
/// these there are as few as blocks of a few cache lines leave, because their results are merged one by one.
template <class Kernel, class T, class Out, class Finish>
void reduce_split(const T* in, Out* out, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                  const Finish& finish) {
  using Partial = typename Kernel::Partial;
  constexpr std::int64_t narrowest = 512, enough = 32, task_bytes = 1 << 19;
  const std::int64_t bytes = outer * axis * inner * std::int64_t(sizeof(T));
  const std::int64_t tasks = std::clamp<std::int64_t>(bytes / task_bytes, 1, enough);
  const auto over = [](std::int64_t n, std::int64_t parts) { return (n + parts - 1) / parts; };
  const std::int64_t blocks =
      std::max(over(inner, Kernel::capacity), std::min(over(tasks, outer), inner / narrowest));
  const std::int64_t columns = std::min(inner, over(over(inner, blocks), 64) * 64);
  const std::int64_t segments =
      std::clamp<std::int64_t>(over(tasks, outer * blocks), 1, std::max<std::int64_t>(axis, 1));
  const auto bound = [=](std::int64_t segment) { return axis * segment / segments; };
  std::vector<Partial> partial(segments > 1 ? outer * segments * inner : 0);
  parallel_rows(outer * segments * blocks, axis / segments * columns,
                [&](std::int64_t begin, std::int64_t end) {
                  Kernel kernel;
                  for (std::int64_t task = begin; task < end; ++task) {
                    const std::int64_t o = task / (segments * blocks), s = task / blocks % segments;
                    const std::int64_t j = task % blocks * columns, width = std::min(columns, inner - j);
                    const std::int64_t first = bound(s), rows = bound(s + 1) - first;
                    const T* p = in + (o * axis + first) * inner + j;
                    const auto to = [&](std::int64_t k, const Partial& x) {
                      if (segments > 1)
                        partial[(o * segments + s) * inner + j + k] = Kernel::placed(x, 1, first);
                      else out[o * inner + j + k] = narrow<Out>(finish(x));
                    };
                    if (inner == 1) to(0, Kernel::row(p, rows));
                    else if (inner < 2 * lanes_of<typename Kernel::Compute>)
                      reduce_narrow_columns(kernel, p, rows, inner, to);
                    else {
                      kernel.columns(p, rows, inner, width);
                      if (segments == 1) write_columns(kernel, out + o * inner + j, width, finish);
                      else
                        for (std::int64_t k = 0; k < width; ++k) to(k, kernel.column(k));
                    }
                  }
                });
  if (segments == 1) return;
  for (std::int64_t o = 0; o < outer; ++o) {
    Partial* const total = &partial[o * segments * inner];
    parallel_rows(inner, 8 * segments, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t s = 1; s < segments; ++s)
        for (std::int64_t j = begin; j < end; ++j) total[j] = Kernel::merge(total[j], total[s * inner + j]);
      for (std::int64_t j = begin; j < end; ++j) out[o * inner + j] = narrow<Out>(finish(total[j]));
    });
  }
}

template <class Kernel, class T, class Out, class Finish>
void reduce_along_axis(const T* in, Out* out, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                       const Finish& finish) {
  if (outer * inner == 0) return;
  using E = compute_type<T>;
  if (outer >= lanes_of<E> && axis > 0 && axis * inner <= ShortRows<Kernel, E>::longest)
    return reduce_short_rows<Kernel>(in, out, outer, axis, inner, finish);
  if (inner == 1 && outer >= 64)
    return parallel_rows(outer, axis, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o)
        out[o] = narrow<Out>(finish(Kernel::row(in + o * axis, axis)));
    });
  reduce_split<Kernel>(in, out, outer, axis, inner, finish);
}

}  // namespace ktape::kernels::detail
