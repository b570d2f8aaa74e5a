#pragma once
#include <ktape/ops/kernels/axis_shape.hpp>
#include <ktape/ops/kernels/reduce/accumulator.hpp>
#include <ktape/ops/kernels/reduce/along_axis.hpp>

/// Positions of the largest and smallest elements over the middle dimension of contiguous [outer, axis,
/// inner] arrays.
namespace ktape::kernels {
namespace detail {

/// Finds the first of the largest (Op = Max) or smallest (Min) elements, or the first NaN, for
/// `reduce_along_axis`.
template <class Op, class A>
class Find {
 public:
  using Compute = A;
  struct Partial {
    A value;
    std::int64_t index;
  };
  static constexpr std::int64_t capacity = 8192 / sizeof(A);

  template <class T>
  [[gnu::noinline]] void columns(const T* p, std::int64_t rows, std::int64_t stride, std::int64_t width) {
    for (std::int64_t first = 0; first < rows; first += stretch) {
      compare_all_rows(p + first * stride, std::min(stretch, rows - first), stride, width);
      for (std::int64_t j = 0; j < width; ++j)
        if (first == 0 || better(value_[j], best_[j]))
          best_[j] = value_[j], index_[j] = first + static_cast<std::int64_t>(at_[j]);
    }
  }
  Partial column(std::int64_t j) const { return {best_[j], index_[j]}; }

  /// Finds the best block of a run, by vectors, then the position in the block.
  template <class T>
  [[gnu::noinline]] static Partial row(const T* p, std::int64_t n) {
    constexpr std::int64_t block = sizeof(A) == 1 ? 4 * w : 32 * w;  // positions in a block fit the lanes
    Partial best{Accumulator<Op, A>::run(p, std::min(n, block)), 0};
    for (std::int64_t i = block; i < n; i += block) {
      const A value = Accumulator<Op, A>::run(p + i, std::min(n - i, block));
      if (better(value, best.value)) best = {value, i};
    }
    best.index += position(p + best.index, std::min(n - best.index, block), best.value);
    return best;
  }
  static Partial renumbered(Partial x, std::int64_t step, std::int64_t first) {
    return {x.value, first + step * x.index};
  }
  /// Returns the better of two results, of equal values the value with the smaller index: b may hold smaller
  /// indices than a.
  static Partial merge(Partial a, Partial b) {
    if (better(b.value, a.value)) return b;
    return b.index < a.index && !better(a.value, b.value) ? b : a;
  }

 private:
  using U = bits_of<A>;
  static constexpr int w = lanes<A>;
  static constexpr std::int64_t stretch = std::int64_t{1} << std::min<int>(30, 8 * sizeof(A));

  /// Returns the position of the first element of a block that equals `value`; such an element must exist.
  template <class T>
  static std::int64_t position(const T* p, std::int64_t n, A value) {
    const auto wanted = splat(value);
    Vec<U> first = splat(static_cast<U>(~U(0))), at;
    for (int i = 0; i < w; ++i) at[i] = static_cast<U>(i);
    for_vectors<A>(n, [&](std::int64_t i, auto m) {
      const auto x = load_partial_as<A>(p + i, m, Vec<A>{});
      const auto found = (x == wanted) | ((x != x) & (wanted != wanted));
      const auto here = found ? at : splat(static_cast<U>(~U(0)));
      first = here < first ? here : first;
      at += static_cast<U>(w);
    });
    return static_cast<std::int64_t>(fold_lanes<U>(first, [](auto a, auto b) { return a < b ? a : b; }));
  }

  /// Returns whether x is better than y, an earlier element.
  template <class V>
  static auto better(V x, V y) {
    if constexpr (std::is_same_v<Op, Max>) return (!(x <= y)) & (y == y);
    else return (!(x >= y)) & (y == y);
  }

  /// Compares the rows of a stretch, whose positions fit the lanes, eight rows at a time, so that the arrays
  /// are read and written once for eight loads.
  template <class T>
  void compare_all_rows(const T* p, std::int64_t rows, std::int64_t stride, std::int64_t width) {
    const std::int64_t ahead = prefetch_distance<T>(8 * stride);
    for (std::int64_t r = 0; r < rows; r += 8)
      if (rows - r >= 8)
        compare_rows(p + r * stride, r, stride, width, ahead, std::integral_constant<int, 8>());
      else compare_rows(p + r * stride, r, stride, width, ahead, static_cast<int>(rows - r));
  }
  template <class T, class N>
  void compare_rows(const T* p, std::int64_t r, std::int64_t stride, std::int64_t width, std::int64_t ahead,
                    N rows) {
    for_vectors<A>(width, [&](std::int64_t j, auto n) {
      prefetch_rows(p + j + ahead, stride, 8);
      auto best = load_partial_as<A>(p + j, n, Vec<A>{});
      auto at = splat(static_cast<U>(r));
      if (r > 0) {
        const auto x = best;
        best = load(value_ + j);
        const auto found = better(x, best);
        best = found ? x : best, at = found ? at : load(at_ + j);
      }
      for (int k = 1; k < rows; ++k) {
        const auto x = load_partial_as<A>(p + k * stride + j, n, Vec<A>{});
        const auto found = better(x, best);
        best = found ? x : best, at = found ? splat(static_cast<U>(r + k)) : at;
      }
      store(value_ + j, best), store(at_ + j, at);
    });
  }

  alignas(64) A value_[capacity];
  alignas(64) U at_[capacity];
  A best_[capacity];
  std::int64_t index_[capacity];
};

template <class Op, class T>
void find(const T* in, std::int64_t* out, AxisShape shape) {
  using Kernel = Find<Op, compute_type<T>>;
  reduce_along_axis<Kernel>(in, out, shape, [](const auto& found) { return found.index; });
}

}  // namespace detail

/// out[o, j] = the position of the first largest, or first smallest, element of in[o, :, j], or of the first
/// NaN if there is a NaN, as in NumPy. The axis must not be empty.
template <class T>
void argmax(const T* in, std::int64_t* out, AxisShape shape) {
  detail::find<detail::Max>(in, out, shape);
}
template <class T>
void argmin(const T* in, std::int64_t* out, AxisShape shape) {
  detail::find<detail::Min>(in, out, shape);
}

}  // namespace ktape::kernels
