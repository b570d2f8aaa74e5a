#pragma once
#include <ktape/ops/kernels/axis_shape.hpp>
#include <ktape/ops/kernels/reduce/accumulator.hpp>
#include <ktape/ops/kernels/reduce/along_axis.hpp>

#include <vector>

namespace ktape::kernels {

/// The mean of `count` numbers, and the sum of their squared differences from the mean.
struct Moments {
  double count = 0, mean = 0, squares = 0;

  /// Merges the moments of other numbers, by Chan's formula.
  void merge(const Moments& other) {
    const double total = count + other.count, share = total == 0 ? 0 : other.count / total,
                 difference = other.mean - mean;
    squares += other.squares + difference * difference * (count * share);
    mean += difference * share;
    count = total;
  }
  double variance() const { return squares / count; }
};

namespace detail {

/// Moments for `reduce_along_axis`. Within a block, which fits registers or the first-level cache, sums are
/// computed of differences from a number of the block; blocks are merged by Chan's formula. So no digits
/// cancel, however large the mean is. A is float or double.
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
      if (n == block) add_rows(p + r * stride, stride, width, ahead, std::integral_constant<int, block>());
      else add_rows(p + r * stride, stride, width, ahead, n);
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
    for (std::int64_t i = length; i < n; i += length) total.merge(run(p + i, std::min(n - i, length)));
    return total;
  }
  static Partial renumbered(Partial x, std::int64_t, std::int64_t) { return x; }
  static Partial merge(Partial a, const Partial& b) { return a.merge(b), a; }

 private:
  static constexpr int w = lanes<A>, block = 16;

  /// Returns the moments of a run that stays in the first-level cache. The first pass computes the mean, the
  /// second the differences from the mean, whose sum corrects the rounding of the mean.
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
    for (; i < n; i += w) add(0, load_partial_as<A>(p + i, std::min<std::int64_t>(w, n - i), middle));
    const auto plus = [](auto a, auto b) { return a + b; };
    const double rest = fold_lanes<A>(sum[0] + sum[1], plus), count = static_cast<double>(n);
    return {count, mean + rest / count, fold_lanes<A>(squares[0] + squares[1], plus) - rest * rest / count};
  }

  /// Computes the sums of at most `block` rows, as differences from the first row.
  template <class T, class N>
  void add_rows(const T* p, std::int64_t stride, std::int64_t width, std::int64_t ahead, N rows) {
    const A share = A(1) / static_cast<A>(rows);
    for_vectors<A>(width, [&](std::int64_t j, auto m) {
      prefetch_rows(p + j + ahead, stride, block);
      const Vec<A> base = load_partial_as<A>(p + j, m, Vec<A>{});
      Vec<A> sum{}, squares{};
      for (int k = 0; k < rows; ++k) {  // also for k = 0, whose d is 0, or NaN for infinity
        const Vec<A> d = load_partial_as<A>(p + k * stride + j, m, Vec<A>{}) - base;
        sum += d, squares += d * d;
      }
      store(base_ + j, base), store(sum_ + j, sum * share), store(squares_ + j, squares - sum * sum * share);
    });
  }
  /// Merges the last n rows with the r rows before.
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
  /// For each column of the last rows: the first element, the mean difference from that element, and the sum
  /// of the squared differences from the mean.
  alignas(64) A base_[capacity], sum_[capacity], squares_[capacity];
  double mean_[capacity], total_[capacity];
};

}  // namespace detail

/// Returns the variance, rounded to T.
template <class T>
T variance_of(const Moments& x) {
  using A = compute_type<T>;
  return static_cast<T>(static_cast<A>(x.squares) / static_cast<A>(x.count));
}

/// out[o, j] = the moments, or the variance, of in[o, :, j]. T is float or double.
template <class T>
void reduce_moments(const T* in, Moments* out, AxisShape shape) {
  using Kernel = detail::FindMoments<compute_type<T>>;
  detail::reduce_along_axis<Kernel>(in, out, shape, [](const Moments& found) { return found; });
}
template <class T, class Out>
void reduce_variance(const T* in, Out* out, AxisShape shape) {
  using Kernel = detail::FindMoments<compute_type<T>>;
  detail::reduce_along_axis<Kernel>(in, out, shape, [](auto found) { return variance_of<Out>(found); });
}

/// Merges moments that were reduced before, along an axis.
inline std::vector<Moments> merged(const std::vector<Moments>& in, AxisShape shape) {
  std::vector<Moments> out(static_cast<std::size_t>(shape.results()));
  for (std::int64_t o = 0; o < shape.outer; ++o)
    for (std::int64_t k = 0; k < shape.axis; ++k)
      for (std::int64_t j = 0; j < shape.inner; ++j)
        out[o * shape.inner + j].merge(in[(o * shape.axis + k) * shape.inner + j]);
  return out;
}

}  // namespace ktape::kernels
