#pragma once
#include <ktape/ops/kernels/reduce/operations.hpp>
#include <ktape/ops/kernels/simd/load_as.hpp>

#include <algorithm>

namespace ktape::kernels::detail {

/// A reduction by one of the ops of operations.hpp, computed in A, for `reduce_along_axis`.
template <class Op, class A>
class Accumulator {
 public:
  using Compute = A;
  using Partial = typename Op::template Total<A>;
  static constexpr std::int64_t capacity = 8192 / sizeof(A);

  /// Reduces each of the `width` columns of `rows` rows.
  template <class T>
  [[gnu::noinline]] void columns(const T* p, std::int64_t rows, std::int64_t stride, std::int64_t width) {
    if (rows == 0) std::fill_n(acc_, width, Op::template identity<A>());
    for (std::int64_t r = 0; r < rows || r == 0; r += block) {
      accumulate(p + r * stride, std::min(block, rows - r), stride, width);
      if constexpr (!direct)
        for (std::int64_t j = 0; j < width; ++j)
          total_[j] = r == 0 ? Partial(acc_[j]) : Op::combine(total_[j], Partial(acc_[j]));
    }
  }
  Partial column(std::int64_t j) const {
    if constexpr (direct) return acc_[j];
    else return total_[j];
  }

  /// Reduces a contiguous run; blocks bound the rounding error.
  template <class T>
  [[gnu::noinline]] static Partial row(const T* p, std::int64_t n) {
    constexpr std::int64_t length = 4096;
    Partial total = run(p, std::min(n, length));
    for (std::int64_t i = length; i < n; i += length)
      total = Op::combine(total, Partial(run(p + i, std::min(n - i, length))));
    return total;
  }
  static Partial renumbered(Partial x, std::int64_t, std::int64_t) { return x; }
  static Partial merge(Partial a, Partial b) { return Op::combine(a, b); }

  /// Reduces a short contiguous run in four independent chains of vectors.
  template <class T>
  static A run(const T* p, std::int64_t n) {
    const auto at = [p](std::int64_t i) { return Op::map(load_as<A>(p + i)); };
    auto a = splat(Op::template identity<A>()), b = a, c = a, d = a;
    std::int64_t i = 0;
    for (; i + 4 * w <= n; i += 4 * w) {
      a = Op::combine(a, at(i)), b = Op::combine(b, at(i + w));
      c = Op::combine(c, at(i + 2 * w)), d = Op::combine(d, at(i + 3 * w));
    }
    for (; i + w <= n; i += w) a = Op::combine(a, at(i));
    if (i < n)
      b = Op::combine(b, Op::map(load_partial_as<A>(p + i, n - i, splat(Op::template neutral<A>()))));
    return fold_lanes<A>(Op::combine(Op::combine(a, b), Op::combine(c, d)),
                         [](auto x, auto y) { return Op::combine(x, y); });
  }

 private:
  static constexpr int w = lanes<A>;
  static constexpr bool direct = std::is_same_v<A, Partial>;
  static constexpr std::int64_t block = direct ? std::int64_t{1} << 62 : 256;

  /// Adds the rows to acc_, eight rows at a time, so that acc_ is read and written once for eight loads.
  template <class T>
  void accumulate(const T* p, std::int64_t rows, std::int64_t stride, std::int64_t width) {
    const std::int64_t ahead = prefetch_distance<T>(8 * stride);
    std::int64_t r = 0;
    for (; r + 8 <= rows; r += 8) add_rows<8>(p + r * stride, stride, width, ahead, r == 0);
    if (rows - r >= 4) add_rows<4>(p + r * stride, stride, width, ahead, r == 0), r += 4;
    if (rows - r >= 2) add_rows<2>(p + r * stride, stride, width, ahead, r == 0), r += 2;
    if (rows - r >= 1) add_rows<1>(p + r * stride, stride, width, ahead, r == 0);
  }
  template <int N, class T>
  void add_rows(const T* p, std::int64_t stride, std::int64_t width, std::int64_t ahead, bool fresh) {
    const auto fill = splat(Op::template neutral<A>());
    for_vectors<A>(width, [&](std::int64_t j, auto n) {
      if constexpr (N == 8) prefetch_rows(p + j + ahead, stride, 8);
      const auto value =
          tree<N>(p + j, stride, [&](const T* q) { return Op::map(load_partial_as<A>(q, n, fill)); });
      store(acc_ + j, fresh ? value : Op::combine(load(acc_ + j), value));
    });
  }
  template <int N, class T, class F>
  static Vec<A> tree(const T* p, std::int64_t stride, const F& at) {
    if constexpr (N == 1) return at(p);
    else return Op::combine(tree<N / 2>(p, stride, at), tree<N / 2>(p + N / 2 * stride, stride, at));
  }

  alignas(64) A acc_[capacity];
  Partial total_[direct ? 1 : capacity];
};

}  // namespace ktape::kernels::detail
