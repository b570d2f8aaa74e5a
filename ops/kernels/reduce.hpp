#pragma once
#include <ktape/ops/kernels/parallel_rows.hpp>
#include <ktape/ops/kernels/reducers.hpp>
#include <ktape/ops/kernels/simd.hpp>

#include <vector>

/// Reductions of a contiguous [outer, axis, inner] array over its middle dimension, to [outer, inner].
/// Results do not depend on the number of threads: how a reduction is split follows from its shape alone. An
/// axis of size 0 gives the identity.
namespace ktape::kernels {
namespace detail {

/// A block of n contiguous elements in four chains of vectors.
template <class Op, class T>
compute_type<T> reduce_block(const T* p, std::int64_t n) {
  using A = compute_type<T>;
  constexpr int w = lanes<T>;
  const auto at = [p](std::int64_t i) { return Op::map(load(p + i)); };
  auto a = splat(Op::template identity<A>()), b = a, c = a, d = a;
  std::int64_t i = 0;
  for (; i + 4 * w <= n; i += 4 * w) {
    a = Op::combine(a, at(i)), b = Op::combine(b, at(i + w));
    c = Op::combine(c, at(i + 2 * w)), d = Op::combine(d, at(i + 3 * w));
  }
  for (; i + w <= n; i += w) a = Op::combine(a, at(i));
  if (i < n) b = Op::combine(b, Op::map(load_partial(p + i, n - i, splat(Op::template neutral<A>()))));
  return fold_lanes<A>(Op::combine(Op::combine(a, b), Op::combine(c, d)),
                       [](auto x, auto y) { return Op::combine(x, y); });
}

/// A contiguous run of any length; blocks bound the rounding error.
template <class Op, class T, class A = compute_type<T>>
typename Op::template Total<A> reduce_run(const T* p, std::int64_t n) {
  using Total = typename Op::template Total<A>;
  constexpr std::int64_t block = 4096;
  if (n <= 4) {
    A total = Op::template identity<A>();
    for (std::int64_t i = 0; i < n; ++i) total = Op::combine(total, Op::map(element(p + i)));
    return total;
  }
  Total total = reduce_block<Op>(p, std::min(n, block));
  for (std::int64_t i = block; i < n; i += block)
    total = Op::combine(total, Total(reduce_block<Op>(p + i, std::min(n - i, block))));
  return total;
}

/// acc[j] = combine(acc[j], rows of p), eight rows at a time so that acc is read and written once for eight
/// loads. acc is padded to whole vectors.
template <class Op, class T, class A>
void accumulate_rows(const T* p, std::int64_t rows, std::int64_t stride, std::int64_t width, A* acc) {
  constexpr int w = lanes<T>;
  const auto fill = splat(Op::template neutral<A>());
  const auto columns = [&](auto value_at) {
    std::int64_t j = 0;
    for (; j + w <= width; j += w)
      store(acc + j,
            Op::combine(load(acc + j), value_at([&](const T* row) { return Op::map(load(row + j)); })));
    if (j < width)
      store(acc + j, Op::combine(load(acc + j), value_at([&](const T* row) {
                                   return Op::map(load_partial(row + j, width - j, fill));
                                 })));
  };
  const auto pair = [stride](auto at, const T* q) { return Op::combine(at(q), at(q + stride)); };
  const auto four = [&](auto at, const T* q) { return Op::combine(pair(at, q), pair(at, q + 2 * stride)); };
  std::int64_t r = 0;
  for (; r + 8 <= rows; r += 8, p += 8 * stride)
    columns([&](auto at) { return Op::combine(four(at, p), four(at, p + 4 * stride)); });
  for (; r + 2 <= rows; r += 2, p += 2 * stride) columns([&](auto at) { return pair(at, p); });
  if (r < rows) columns([&](auto at) { return at(p); });
}

/// The columns of one task: results of blocks of rows are collected in `Total`.
template <class Op, class T>
struct Columns {
  using A = compute_type<T>;
  using Total = typename Op::template Total<A>;
  static constexpr std::int64_t capacity = 8192 / sizeof(A);
  static constexpr std::int64_t block = std::is_same_v<A, Total> ? std::int64_t{1} << 62 : 256;
  alignas(64) A acc[capacity];
  Total total[capacity];

  void flush(std::int64_t width) {
    for (std::int64_t j = 0; j < width; ++j) {
      total[j] = Op::combine(total[j], Total(acc[j]));
      acc[j] = Op::template identity<A>();
    }
  }
  /// total[j] of `width` columns of `rows` rows. Narrow arrays are read as if several rows were one.
  void reduce(const T* p, std::int64_t rows, std::int64_t stride, std::int64_t width) {
    const std::int64_t most = std::max<std::int64_t>(1, 256 / width);
    const std::int64_t group = stride == width ? std::clamp<std::int64_t>(rows, 1, most) : 1;
    const std::int64_t wide = group * width, wide_rows = rows / group;
    std::fill_n(acc, (wide + lanes<T> - 1) / lanes<T> * lanes<T>, Op::template identity<A>());
    std::fill_n(total, wide, Op::template identity<Total>());
    for (std::int64_t r = 0; r < wide_rows; r += block) {
      accumulate_rows<Op>(p + r * group * stride, std::min(block, wide_rows - r), group * stride, wide, acc);
      flush(wide);
    }
    if (const std::int64_t rest = rows % group * width) {
      accumulate_rows<Op>(p + wide_rows * wide, 1, wide, rest, acc);
      flush(rest);
    }
    for (std::int64_t j = width; j < wide; ++j) total[j % width] = Op::combine(total[j % width], total[j]);
  }
};

template <class Out, class Total>
Out finish(Total total) {
  if constexpr (std::is_same_v<Out, bool>) return total != 0;
  else return narrow<Out>(total);
}

/// Splits [axis] x [inner] into tasks: segments of rows times blocks of columns. There is more than one
/// segment only where other tasks are few.
template <class Op, class T, class Out>
void reduce_split(const T* in, Out* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  using Total = typename Op::template Total<compute_type<T>>;
  const std::int64_t columns = std::min(inner, Columns<Op, T>::capacity);
  const std::int64_t blocks = (inner + columns - 1) / columns;
  const std::int64_t wanted = (64 + outer * blocks - 1) / (outer * blocks);
  const std::int64_t segments = std::clamp<std::int64_t>(axis * columns / 65536, 1, wanted);
  const std::int64_t rows = (axis + segments - 1) / segments;
  std::vector<Total> partial(segments > 1 ? outer * segments * inner : 0);
  parallel_rows(outer * segments * blocks, rows * columns, [&](std::int64_t begin, std::int64_t end) {
    Columns<Op, T> work;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t o = task / (segments * blocks), s = task / blocks % segments;
      const std::int64_t j = task % blocks * columns, width = std::min(columns, inner - j);
      const std::int64_t first = std::min(axis, s * rows);
      const T* p = in + (o * axis + first) * inner + j;
      if (inner == 1) work.total[0] = reduce_run<Op>(p, std::min(rows, axis - first));
      else work.reduce(p, std::min(rows, axis - first), inner, width);
      if (segments > 1) std::copy_n(work.total, width, &partial[(o * segments + s) * inner + j]);
      else
        for (std::int64_t k = 0; k < width; ++k) out[o * inner + j + k] = finish<Out>(work.total[k]);
    }
  });
  if (segments == 1) return;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t j = 0; j < inner; ++j) {
      Total total = Op::template identity<Total>();
      for (std::int64_t s = 0; s < segments; ++s)
        total = Op::combine(total, partial[(o * segments + s) * inner + j]);
      out[o * inner + j] = finish<Out>(total);
    }
}

/// Few rows: the results of a vector of columns stay in a register.
template <class Op, class T, class Out>
void reduce_few_rows(const T* p, Out* out, std::int64_t rows, std::int64_t width) {
  using A = compute_type<T>;
  constexpr int w = lanes<T>;
  const auto put = [](Out* to, Vec<A> v, std::int64_t n) {
    if constexpr (std::is_same_v<Out, bool>)
      for (std::int64_t i = 0; i < n; ++i) to[i] = v[i] != 0;
    else if (n == w) store(to, v);
    else store_partial(to, v, n);
  };
  for (std::int64_t j = 0; j < width; j += w) {
    const std::int64_t n = std::min<std::int64_t>(w, width - j);
    auto acc = splat(Op::template identity<A>());
    if (n == w)
      for (std::int64_t r = 0; r < rows; ++r) acc = Op::combine(acc, Op::map(load(p + r * width + j)));
    else
      for (std::int64_t r = 0; r < rows; ++r)
        acc = Op::combine(acc, Op::map(load_partial(p + r * width + j, n, splat(Op::template neutral<A>()))));
    put(out + j, acc, n);
  }
}

template <class Op, class T, class Out>
void reduce(const T* in, Out* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  if (outer * inner == 0) return;
  if (inner == 1 && outer >= 64)
    return parallel_rows(outer, axis, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o) out[o] = finish<Out>(reduce_run<Op>(in + o * axis, axis));
    });
  if (inner > 1 && axis <= 16 && outer >= 64)
    return parallel_rows(outer, axis * inner, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o)
        reduce_few_rows<Op>(in + o * axis * inner, out + o * inner, axis, inner);
    });
  reduce_split<Op>(in, out, outer, axis, inner);
}

/// Sums and products of integers work on the unsigned type, so that they wrap around; those of bool are any
/// and all.
template <class Op, class BoolOp, class T>
void reduce_arithmetic(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  if constexpr (std::is_integral_v<T>) {
    using U = bits_of<T>;
    using Chosen = std::conditional_t<std::is_same_v<T, bool>, BoolOp, Op>;
    reduce<Chosen>(reinterpret_cast<const U*>(in), reinterpret_cast<U*>(out), outer, axis, inner);
  } else {
    reduce<Op>(in, out, outer, axis, inner);
  }
}

}  // namespace detail

/// out[o, j] = the sum, product or sum of squares of in[o, :, j]. Integers wrap around; float16 is computed
/// in float and rounded once; of bool they are any, all and any.
template <class T>
void reduce_sum(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  detail::reduce_arithmetic<detail::Sum, detail::Max>(in, out, outer, axis, inner);
}
template <class T>
void reduce_prod(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  detail::reduce_arithmetic<detail::Prod, detail::Prod>(in, out, outer, axis, inner);
}
template <class T>
void reduce_sum_of_squares(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  detail::reduce_arithmetic<detail::SumOfSquares, detail::Max>(in, out, outer, axis, inner);
}

/// out[o, j] = the largest or smallest of in[o, :, j]; NaN when one of them is. Of nothing: -infinity
/// (+infinity), or the lowest (largest) value of an integer type.
template <class T>
void reduce_max(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  detail::reduce<detail::Max>(in, out, outer, axis, inner);
}
template <class T>
void reduce_min(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  detail::reduce<detail::Min>(in, out, outer, axis, inner);
}

/// out[o, j] = whether any, or all, of in[o, :, j] differ from zero (NaN does).
template <class T>
void reduce_any(const T* in, bool* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  using Op = detail::Any<!std::is_integral_v<T>>;
  detail::reduce<Op>(reinterpret_cast<const bits_of<T>*>(in), out, outer, axis, inner);
}
template <class T>
void reduce_all(const T* in, bool* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  using Op = detail::All<!std::is_integral_v<T>>;
  detail::reduce<Op>(reinterpret_cast<const bits_of<T>*>(in), out, outer, axis, inner);
}

}  // namespace ktape::kernels
