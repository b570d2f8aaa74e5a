#pragma once
#include <ktape/ops/kernels/copy/row_tile.hpp>
#include <ktape/ops/kernels/reduce/reductions.hpp>
#include <ktape/ops/kernels/softmax/column_blocks.hpp>

namespace ktape::kernels {
namespace detail {

/// The square root, where that is not tiny; NaN of NaN.
template <class A>
Vec<A> norm_of(Vec<A> squares) {
  return xsimd::sqrt(xsimd::batch<A>(larger<A>(splat(A(1e-12)), squares)));
}

template <class T>
void l2_normalize_short_rows(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                             bool past_caches) {
  using A = compute_type<T>;
  const std::int64_t n = axis * inner;
  for_row_tiles<A>(outer, n, 2, [&](std::int64_t r, std::int64_t rows) {
    RowTile<A> tile(n);
    tile.load(in + r * n, rows, r + rows < outer);
    const std::int64_t width = inner * tile.rows;
    for (std::int64_t j = 0; j < width; j += lanes<A>) {
      A *const first = tile.data() + j, *const last = first + axis * width;
      Vec<A> squares{};
      for (const A* at = first; at < last; at += width) squares += load(at) * load(at);
      const Vec<A> norm = norm_of<A>(squares);
      for (A* at = first; at < last; at += width) store(at, Vec<A>(load(at) / norm));
    }
    tile.store(out + r * n, rows, past_caches);
  });
}

template <class T>
void l2_normalize_rows(const T* in, T* out, std::int64_t rows, std::int64_t n, bool past_caches) {
  using A = compute_type<T>;
  parallel_rows(rows, n * 2, [&](std::int64_t begin, std::int64_t end) {
    for (const T* x = in + begin * n; begin < end; ++begin, x += n) {
      const Vec<A> norm = norm_of<A>(splat(static_cast<A>(Accumulator<SumOfSquares, A>::row(x, n))));
      write_run(out + begin * n, n, past_caches,
                [=](std::int64_t i, std::int64_t m) { return Vec<A>(load_some(x + i, m) / norm); });
    }
    stream_fence();
  });
}

/// Columns of slices. Where they are few their norms are repeated, so that several rows are divided as one.
template <class T>
void l2_normalize_columns(const T* in, T* out, std::int64_t slices, std::int64_t rows, std::int64_t width,
                          bool past_caches) {
  using A = compute_type<T>;
  const std::int64_t n = rows * width, wide = std::clamp<std::int64_t>(1024 / width, 1, rows) * width;
  Workspace<A> space(padded<A>(slices * width) + wide);
  A *const norms = space.take(slices * width), *const norm = space.take(wide);
  reduce_sum_of_squares(in, norms, slices, rows, width);
  for (std::int64_t j = 0; j < slices * width; j += lanes<A>) store(norms + j, norm_of<A>(load(norms + j)));
  for (std::int64_t s = 0; s < slices; ++s, in += n, out += n) {
    std::copy_n(norms + s * width, width, norm);
    for (std::int64_t j = width; j < wide; j *= 2) std::copy_n(norm, std::min(j, wide - j), norm + j);
    parallel_rows((n + wide - 1) / wide, wide, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin * wide; at < std::min(n, end * wide); at += wide)
        write_run(out + at, std::min(wide, n - at), past_caches, [&](std::int64_t i, std::int64_t m) {
          return Vec<A>(load_some(in + at + i, m) / load(norm + i));
        });
      stream_fence();
    });
  }
}

}  // namespace detail

/// out = in / sqrt(max(sum(in^2), 1e-12)) over the middle dimension of contiguous [outer, axis, inner] arrays
/// of float16, float or double, computed in float or double.
template <class T>
void l2_normalize(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  using A = compute_type<T>;
  constexpr std::int64_t enough = 16;  // arrays for as many threads as there may be
  const std::int64_t n = axis * inner;
  if (outer * n == 0) return;
  const bool past_caches = outer * n * std::int64_t(sizeof(T)) >= streaming_bytes;
  if (outer > 1 && n <= (inner == 1 ? std::int64_t{lanes<A>} : detail::RowTile<A>::most))
    return detail::l2_normalize_short_rows(in, out, outer, axis, inner, past_caches);
  if (inner == 1 && outer >= enough) return detail::l2_normalize_rows(in, out, outer, axis, past_caches);
  // A few slices at a time, which stay in the caches when they are small.
  const std::int64_t group =
                         std::clamp<std::int64_t>(16384 / n, 1, std::max<std::int64_t>(1, outer / enough)),
                     groups = (outer + group - 1) / group;
  const auto each = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin * group; o < std::min(outer, end * group); o += group)
      detail::l2_normalize_columns(in + o * n, out + o * n, std::min(group, outer - o), axis, inner,
                                   past_caches);
  };
  groups >= enough ? parallel_rows(groups, group * n * 2, each) : each(0, groups);
}

}  // namespace ktape::kernels
