#pragma once
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

/// Pooling of [batch, d, h, w, channels] arrays; fewer spatial axes are preceded by extents of 1. Each
/// element of a result, or of a gradient, is computed from all its terms and written once, so no two threads
/// write to one element.
namespace ktape::kernels {

/// Cell i of an axis lies in window o when 0 <= i - o * stride + before < window.
struct PoolGrid {
  std::int64_t batch = 1, channels = 1;
  std::array<std::int64_t, 3> in, out, window, stride, before;

  std::int64_t cells() const { return batch * in[0] * in[1] * in[2]; }
  std::int64_t windows() const { return batch * out[0] * out[1] * out[2]; }
  std::int64_t window_size() const { return window[0] * window[1] * window[2]; }
};

namespace detail {

/// The positions begin <= i < end of an axis.
struct Span {
  std::int64_t begin, end;
};

/// The overlaps of each position of one grid with the other grid: the cells of a window, or the windows over
/// a cell.
struct Overlap {
  std::array<std::vector<Span>, 3> spans;
  std::array<std::int64_t, 3> extents;  // the extents of the other grid

  static Overlap of_windows(const PoolGrid& grid) {
    Overlap overlap;
    overlap.extents = grid.in;
    for (std::size_t d = 0; d < 3; ++d)
      for (std::int64_t o = 0; o < grid.out[d]; ++o) {
        const std::int64_t first = o * grid.stride[d] - grid.before[d];
        overlap.spans[d].push_back(
            {std::max<std::int64_t>(first, 0), std::min(first + grid.window[d], grid.in[d])});
      }
    return overlap;
  }
  static Overlap of_cells(const PoolGrid& grid) {
    Overlap overlap;
    overlap.extents = grid.out;
    for (std::size_t d = 0; d < 3; ++d)
      for (std::int64_t i = 0; i < grid.in[d]; ++i) {
        const std::int64_t at = i + grid.before[d], s = grid.stride[d];
        overlap.spans[d].push_back(
            {std::max<std::int64_t>((at - grid.window[d] + s) / s, 0), std::min(at / s + 1, grid.out[d])});
      }
    return overlap;
  }
};

/// A position of a grid and its overlaps.
struct Position {
  const Overlap& overlap;
  std::int64_t batch, d, h, w;

  Position(const Overlap& r, std::int64_t index) : overlap(r) {
    const auto extent = [&](std::size_t axis) { return static_cast<std::int64_t>(r.spans[axis].size()); };
    w = index % extent(2), index /= extent(2);
    h = index % extent(1), index /= extent(1);
    d = index % extent(0), batch = index / extent(0);
  }
  void next() {
    if (++w < static_cast<std::int64_t>(overlap.spans[2].size())) return;
    w = 0;
    if (++h < static_cast<std::int64_t>(overlap.spans[1].size())) return;
    h = 0;
    if (++d < static_cast<std::int64_t>(overlap.spans[0].size())) return;
    d = 0, ++batch;
  }
  Span depth() const { return overlap.spans[0][static_cast<std::size_t>(d)]; }
  Span height() const { return overlap.spans[1][static_cast<std::size_t>(h)]; }
  Span width() const { return overlap.spans[2][static_cast<std::size_t>(w)]; }
  /// Calls f(d, h, index of (d, h, 0)) for each row of overlapped positions.
  template <class F>
  void for_rows(const F& f) const {
    for (std::int64_t i = depth().begin; i < depth().end; ++i)
      for (std::int64_t j = height().begin; j < height().end; ++j)
        f(i, j, ((batch * overlap.extents[0] + i) * overlap.extents[1] + j) * overlap.extents[2]);
  }
};

/// V vectors of channels, or a single vector with some valid lanes.
template <class T, int V>
struct Channels {
  using A = compute_type<T>;
  std::int64_t valid;
  Vec<A> get(const T* p, int v) const {
    if constexpr (V > 1) return load(p + v * lanes<T>);
    else return load_partial(p, valid);
  }
  void put(T* p, int v, Vec<A> x, bool non_temporal) const {
    if constexpr (V == 1) store_partial(p, x, valid);
    else if (non_temporal) stream(p + v * lanes<T>, x);
    else store(p + v * lanes<T>, x);
  }
  /// The integers for positions in a window, as wide as the elements.
  using Wide = std::conditional_t<sizeof(A) == 8, std::int64_t, std::int32_t>;
  template <class I>
  using Narrow = Vec<I, lanes<T> * sizeof(I)>;
  template <class I>
  Vec<Wide> get_index(const I* p, int v) const {
    Narrow<I> x{};
    std::memcpy(&x, p + v * lanes<T>, V > 1 ? sizeof x : static_cast<std::size_t>(valid) * sizeof(I));
    return __builtin_convertvector(x, Vec<Wide>);
  }
  template <class I>
  void put_index(I* p, int v, Vec<Wide> index) const {
    const auto x = __builtin_convertvector(index, Narrow<I>);
    std::memcpy(p + v * lanes<T>, &x, V > 1 ? sizeof x : static_cast<std::size_t>(valid) * sizeof(I));
  }
};

/// Calls f(channels, position, offset of the result, first channel) for each position and block of channels.
template <class T, class F>
void for_positions(const Overlap& overlap, std::int64_t positions, std::int64_t channels, std::int64_t work,
                   const F& f) {
  constexpr std::int64_t w = lanes<T>, wide = 4 * w;
  const std::int64_t blocks = channels / wide + (channels % wide + w - 1) / w;
  parallel_rows(positions * blocks, std::min(channels, wide) * (work + 1),
                [&](std::int64_t begin, std::int64_t end) {
                  Position position(overlap, begin / blocks);
                  for (std::int64_t at = begin / blocks, block = begin % blocks; begin < end; ++begin) {
                    if (block < channels / wide) {
                      f(Channels<T, 4>{wide}, position, at * channels + block * wide, block * wide);
                    } else {
                      const std::int64_t c = channels / wide * wide + (block - channels / wide) * w;
                      f(Channels<T, 1>{std::min(w, channels - c)}, position, at * channels + c, c);
                    }
                    if (++block == blocks) block = 0, ++at, position.next();
                  }
                  stream_fence();
                });
}

template <class T>
bool non_temporal(const PoolGrid& grid, const T* out, std::int64_t positions) {
  return std::is_same_v<T, compute_type<T>> &&
         positions * grid.channels * std::int64_t(sizeof(T)) >= streaming_bytes &&
         streamable(out, grid.channels * std::int64_t(sizeof(T)));
}

/// Estimates the number of positions that a result reads.
inline std::int64_t mean_overlap(const PoolGrid& grid, std::int64_t positions) {
  return std::max<std::int64_t>(1,
                                grid.window_size() * grid.windows() / std::max<std::int64_t>(1, positions));
}

/// Computes 1 / (number of cells in a window) as a product of a factor for each axis.
template <class A>
std::array<std::vector<A>, 3> reciprocals(const Overlap& windows) {
  std::array<std::vector<A>, 3> factors;
  for (std::size_t d = 0; d < 3; ++d)
    for (const Span& span : windows.spans[d])
      factors[d].push_back(A(1) / static_cast<A>(span.end - span.begin));
  return factors;
}

}  // namespace detail

/// Computes the largest cell of each window; a NaN counts as the largest. Unless `index` is null, `index`
/// gets the row-major position of the cell in the window: the first position if several cells are equal, or
/// NaN.
template <class T, class I>
void max_pool(const PoolGrid& grid, const T* x, T* out, I* index) {
  using A = compute_type<T>;
  const detail::Overlap overlap = detail::Overlap::of_windows(grid);
  const std::int64_t n = grid.channels;
  const auto cell = [&]<bool tracked, int V>(std::bool_constant<tracked>, detail::Channels<T, V> channels,
                                             const detail::Position& at, std::int64_t offset,
                                             std::int64_t c) {
    using Wide = typename detail::Channels<T, V>::Wide;
    const auto in_window = [&](std::int64_t d, std::int64_t h, std::int64_t w) {
      d += grid.before[0] - at.d * grid.stride[0], h += grid.before[1] - at.h * grid.stride[1];
      return (d * grid.window[1] + h) * grid.window[2] + w + grid.before[2] - at.w * grid.stride[2];
    };
    const detail::Span width = at.width();
    Vec<A> best[V];
    Vec<Wide> position[V];
    for (int v = 0; v < V; ++v) {
      best[v] = splat(-std::numeric_limits<A>::infinity());
      position[v] = splat(static_cast<Wide>(in_window(at.depth().begin, at.height().begin, width.begin)));
    }
    at.for_rows([&](std::int64_t d, std::int64_t h, std::int64_t row) {
      const T* p = x + (row + width.begin) * n + c;
      Wide here = static_cast<Wide>(in_window(d, h, width.begin));
      for (std::int64_t w = width.begin; w < width.end; ++w, p += n, ++here)
        for (int v = 0; v < V; ++v) {
          const Vec<A> value = channels.get(p, v);
          const auto found = ~(value <= best[v]) & (best[v] == best[v]);
          best[v] = found ? value : best[v];
          if constexpr (tracked) position[v] = found ? splat(here) : position[v];
        }
    });
    for (int v = 0; v < V; ++v) channels.put(out + offset, v, best[v], false);
    if constexpr (tracked)
      for (int v = 0; v < V; ++v) channels.put_index(index + offset, v, position[v]);
  };
  detail::for_positions<T>(
      overlap, grid.windows(), n, detail::mean_overlap(grid, grid.windows()), [&](const auto&... arguments) {
        index ? cell(std::true_type(), arguments...) : cell(std::false_type(), arguments...);
      });
}

/// Computes dx[cell] = the sum of g over the windows whose largest element is the cell.
template <class T, class I>
void max_pool_backward(const PoolGrid& grid, const T* g, const I* index, T* dx) {
  using A = compute_type<T>;
  const detail::Overlap overlap = detail::Overlap::of_cells(grid);
  const std::int64_t n = grid.channels;
  const bool non_temporal = detail::non_temporal(grid, dx, grid.cells());
  const auto cell = [&]<int V>(detail::Channels<T, V> channels, const detail::Position& at,
                               std::int64_t offset, std::int64_t c) {
    using Wide = typename detail::Channels<T, V>::Wide;
    const detail::Span width = at.width();
    Vec<A> sum[V] = {};
    at.for_rows([&](std::int64_t d, std::int64_t h, std::int64_t row) {
      const std::int64_t before[] = {at.d + grid.before[0] - d * grid.stride[0],
                                     at.h + grid.before[1] - h * grid.stride[1], at.w + grid.before[2]};
      for (std::int64_t w = width.begin; w < width.end; ++w) {
        const std::int64_t here =
            (before[0] * grid.window[1] + before[1]) * grid.window[2] + before[2] - w * grid.stride[2];
        const std::int64_t from = (row + w) * n + c;
        for (int v = 0; v < V; ++v) {
          const auto same = channels.get_index(index + from, v) == splat(static_cast<Wide>(here));
          sum[v] += same ? channels.get(g + from, v) : Vec<A>{};
        }
      }
    });
    for (int v = 0; v < V; ++v) channels.put(dx + offset, v, sum[v], non_temporal);
  };
  detail::for_positions<T>(overlap, grid.cells(), n, detail::mean_overlap(grid, grid.cells()), cell);
}

/// out[window] = the cell of x that `index` names: the transposed map of max_pool_backward.
template <class T, class I>
void max_pool_pick(const PoolGrid& grid, const T* x, const I* index, T* out) {
  const detail::Overlap overlap = detail::Overlap::of_windows(grid);
  const std::int64_t n = grid.channels;
  parallel_rows(grid.windows(), 4 * n, [&](std::int64_t begin, std::int64_t end) {
    detail::Position at(overlap, begin);
    for (; begin < end; ++begin, at.next())
      for (std::int64_t c = 0; c < n; ++c) {
        const std::int64_t i = index[begin * n + c], w = i % grid.window[2],
                           h = i / grid.window[2] % grid.window[1], d = i / grid.window[2] / grid.window[1];
        const std::int64_t z = at.batch * grid.in[0] + at.d * grid.stride[0] - grid.before[0] + d,
                           y = z * grid.in[1] + at.h * grid.stride[1] - grid.before[1] + h;
        out[begin * n + c] = x[(y * grid.in[2] + at.w * grid.stride[2] - grid.before[2] + w) * n + c];
      }
  });
}

/// Computes the mean of the cells of each window. Sums go row by row, so that sums of large windows stay
/// exact.
template <class T>
void average_pool(const PoolGrid& grid, const T* x, T* out) {
  using A = compute_type<T>;
  const detail::Overlap overlap = detail::Overlap::of_windows(grid);
  const auto factors = detail::reciprocals<A>(overlap);
  const std::int64_t n = grid.channels;
  const auto cell = [&]<int V>(detail::Channels<T, V> channels, const detail::Position& at,
                               std::int64_t offset, std::int64_t c) {
    const detail::Span width = at.width();
    Vec<A> sum[V] = {};
    at.for_rows([&](std::int64_t, std::int64_t, std::int64_t row) {
      const T* p = x + (row + width.begin) * n + c;
      Vec<A> part[V] = {};
      for (std::int64_t w = width.begin; w < width.end; ++w, p += n)
        for (int v = 0; v < V; ++v) part[v] += channels.get(p, v);
      for (int v = 0; v < V; ++v) sum[v] += part[v];
    });
    const A factor =
        factors[0][std::size_t(at.d)] * factors[1][std::size_t(at.h)] * factors[2][std::size_t(at.w)];
    for (int v = 0; v < V; ++v) channels.put(out + offset, v, sum[v] * factor, false);
  };
  detail::for_positions<T>(overlap, grid.windows(), n, detail::mean_overlap(grid, grid.windows()), cell);
}

/// Computes the gradient of `average_pool`: each window's g is divided evenly among the cells of the window.
template <class T>
void average_pool_backward(const PoolGrid& grid, const T* g, T* dx) {
  using A = compute_type<T>;
  const detail::Overlap overlap = detail::Overlap::of_cells(grid);
  const auto factors = detail::reciprocals<A>(detail::Overlap::of_windows(grid));
  const std::int64_t n = grid.channels;
  const bool non_temporal = detail::non_temporal(grid, dx, grid.cells());
  const auto cell = [&]<int V>(detail::Channels<T, V> channels, const detail::Position& at,
                               std::int64_t offset, std::int64_t c) {
    const detail::Span width = at.width();
    Vec<A> sum[V] = {};
    at.for_rows([&](std::int64_t d, std::int64_t h, std::int64_t row) {
      const A outer = factors[0][std::size_t(d)] * factors[1][std::size_t(h)];
      for (std::int64_t w = width.begin; w < width.end; ++w)
        for (int v = 0; v < V; ++v)
          sum[v] += channels.get(g + (row + w) * n + c, v) * (outer * factors[2][std::size_t(w)]);
    });
    for (int v = 0; v < V; ++v) channels.put(dx + offset, v, sum[v], non_temporal);
  };
  detail::for_positions<T>(overlap, grid.cells(), n, detail::mean_overlap(grid, grid.cells()), cell);
}

}  // namespace ktape::kernels
