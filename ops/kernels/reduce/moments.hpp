#pragma once
#include <ktape/ops/kernels/reduce/accumulator.hpp>
#include <ktape/ops/kernels/reduce/along_axis.hpp>

namespace ktape::kernels {

/// Of n numbers, their mean and the sum of the squared differences from it.
struct Moments {
  double n, mean, squares;
};

/// Those of the numbers of both.
inline Moments merged(const Moments& a, const Moments& b) {
  const double n = a.n + b.n, share = n == 0 ? 0 : b.n / n, apart = b.mean - a.mean;
  return {n, a.mean + apart * share, a.squares + b.squares + apart * apart * (a.n * share)};
}

namespace detail {

/// Moments for `reduce_along_axis`. Blocks that fit registers or the first
/// cache are taken relative to a number of their own and merged by Chan's formula, so that nothing cancels
/// however large the mean. A is float or double.
template <class A>
class FindMoments {
 public:
  using Compute = A;
  using Partial = Moments;
  static constexpr std::int64_t capacity = 4096 / sizeof(A);

  template <class T>
  [[gnu::noinline]] void columns(const T* p, std::int64_t rows, std::int64_t stride, std::int64_t width) {
    rows_ = rows;
    if (rows == 0) std::fill_n(base_, width, 0), std::fill_n(sum_, width, 0), std::fill_n(squares_, width, 0);
    const std::int64_t ahead = prefetch_distance<T>(block * stride);
    for (std::int64_t r = 0; r < rows; r += block) {
      const int n = static_cast<int>(std::min<std::int64_t>(block, rows - r));
      if (n == block) together(p + r * stride, stride, width, ahead, std::integral_constant<int, block>());
      else together(p + r * stride, stride, width, ahead, n);
      if (rows > block) append(r, n, width);
    }
  }
  Partial column(std::int64_t j) const {
    const double n = static_cast<double>(rows_);
    if (rows_ > block) return {n, mean_[j], total_[j]};
    return {n, double(base_[j]) + double(sum_[j]), double(squares_[j])};
  }

  template <class T>
  [[gnu::noinline]] static Partial row(const T* p, std::int64_t n) {
    constexpr std::int64_t length = 2048;
    Partial total = run(p, std::min(n, length));
    for (std::int64_t i = length; i < n; i += length)
      total = merged(total, run(p + i, std::min(n - i, length)));
    return total;
  }
  static Partial placed(Partial x, std::int64_t, std::int64_t) { return x; }
  static Partial merge(const Partial& a, const Partial& b) { return merged(a, b); }

 private:
  static constexpr int w = lanes_of<A>, block = 16;

  /// A run that stays in the first cache: first its mean, then differences from that, whose own sum tells how
  /// far the mean was rounded.
  template <class T>
  static Partial run(const T* p, std::int64_t n) {
    if (n == 0) return {0, 0, 0};
    const A mean = Accumulator<Sum, A>::run(p, n) / static_cast<A>(n);
    const auto middle = splat(mean);
    Vec<A> sum[2] = {}, squares[2] = {};
    const auto add = [&](int chain, Vec<A> x) {
      const auto d = x - middle;
      sum[chain] += d, squares[chain] += d * d;
    };
    std::int64_t i = 0;
    for (; i + 2 * w <= n; i += 2 * w) add(0, load_as<A>(p + i)), add(1, load_as<A>(p + i + w));
    for (; i < n; i += w) add(0, load_part_as<A>(p + i, std::min<std::int64_t>(w, n - i), middle));
    const auto plus = [](auto a, auto b) { return a + b; };
    const double rest = fold_lanes<A>(sum[0] + sum[1], plus), count = static_cast<double>(n);
    return {count, mean + rest / count, fold_lanes<A>(squares[0] + squares[1], plus) - rest * rest / count};
  }

  /// At most `block` rows, relative to the first of them.
  template <class T, class N>
  void together(const T* p, std::int64_t stride, std::int64_t width, std::int64_t ahead, N rows) {
    const A share = A(1) / static_cast<A>(rows);
    in_lines<T, w>(width, [&](std::int64_t j, auto m, auto vectors) {
      prefetch_rows(p + j + ahead, stride, block);
      Vec<A> base[vectors], sum[vectors] = {}, squares[vectors] = {};
      for (int v = 0; v < vectors; ++v) base[v] = load_part_as<A>(p + j + v * w, m, Vec<A>{});
      for (int k = 0; k < rows; ++k)  // from the first on, whose difference is 0, or NaN for infinity
        for (int v = 0; v < vectors; ++v) {
          const auto d = load_part_as<A>(p + k * stride + j + v * w, m, Vec<A>{}) - base[v];
          sum[v] += d, squares[v] += d * d;
        }
      for (int v = 0; v < vectors; ++v) {
        const std::int64_t to = j + v * w;
        store(base_ + to, base[v]), store(sum_ + to, sum[v] * share);
        store(squares_ + to, squares[v] - sum[v] * sum[v] * share);
      }
    });
  }
  /// Joins these n rows to the r ones before them.
  void append(std::int64_t r, std::int64_t n, std::int64_t width) {
    const double share = static_cast<double>(n) / static_cast<double>(r + n);
    const double weight = static_cast<double>(r) * share;
    for (std::int64_t j = 0; j < width; ++j) {
      const double mean = double(base_[j]) + double(sum_[j]), apart = r == 0 ? 0 : mean - mean_[j];
      mean_[j] = r == 0 ? mean : mean_[j] + apart * share;
      total_[j] = (r == 0 ? 0 : total_[j]) + double(squares_[j]) + apart * apart * weight;
    }
  }

  std::int64_t rows_;
  /// Of the last rows: the first one, the mean difference from it, and the squares of those from the mean.
  alignas(64) A base_[capacity], sum_[capacity], squares_[capacity];
  double mean_[capacity], total_[capacity];
};

}  // namespace detail

/// The mean of the squares.
template <class T>
T variance_of(const Moments& x) {
  using A = compute_type<T>;
  return narrow<T>(static_cast<A>(x.squares) / static_cast<A>(x.n));
}

/// out[o, j] = the moments, or the variance, of in[o, :, j]. T is float16, float or double.
template <class T>
void reduce_moments(const T* in, Moments* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  using Kernel = detail::FindMoments<compute_type<T>>;
  detail::reduce_along_axis<Kernel>(in, out, outer, axis, inner, [](const Moments& found) { return found; });
}
template <class T, class Out>
void reduce_variance(const T* in, Out* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  using Kernel = detail::FindMoments<compute_type<T>>;
  detail::reduce_along_axis<Kernel>(in, out, outer, axis, inner,
                                    [](auto found) { return variance_of<Out>(found); });
}

/// The same of what was reduced before.
inline std::vector<Moments> merged(const std::vector<Moments>& in, std::int64_t outer, std::int64_t axis,
                                   std::int64_t inner) {
  std::vector<Moments> out(static_cast<std::size_t>(outer * inner), Moments{0, 0, 0});
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t k = 0; k < axis; ++k)
      for (std::int64_t j = 0; j < inner; ++j) {
        Moments& total = out[o * inner + j];
        total = merged(total, in[(o * axis + k) * inner + j]);
      }
  return out;
}

}  // namespace ktape::kernels
