#include <ktape/ops/kernels/copy/transpose.hpp>
#include <ktape/ops/kernels/fourier/fft.hpp>
#include <ktape/ops/kernels/fourier/transform_cache.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ktape::kernels {
namespace {

/// Rows of this length and longer are transformed one by one, because their parts have enough columns.
constexpr std::int64_t long_row = 256;
/// The elements of the columns that are transformed together, so that they stay in the caches.
constexpr std::int64_t cached_elements = 1 << 15;
/// Rows of more elements are split into two factors near the root, whose transforms stay in the caches.
constexpr std::int64_t longest_in_cache = 1 << 13;
/// The columns of a long row that are transformed together: whole cache lines, and few enough to stay in the caches.
constexpr std::int64_t columns_at_once = 16;

std::int64_t largest_prime_of(std::int64_t n) {
  std::int64_t largest = 1;
  for (std::int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) largest = p;
  return std::max(largest, n);
}

/// Returns the largest factor that is at most `most` and at most the root of n.
std::int64_t factor_of(std::int64_t n, std::int64_t most) {
  std::int64_t best = 1;
  for (std::int64_t a = 2; a <= most && a * a <= n; ++a)
    if (n % a == 0) best = a;
  return best;
}

/// Copies the transpose of the matrix x.
template <class T>
void transpose_matrix(std::int64_t rows, std::int64_t columns, const T* x, T* out) {
  using U = bits_of<T>;
  constexpr int group = detail::group_size<U>;
  const auto* in = reinterpret_cast<const U*>(x);
  auto* to = reinterpret_cast<U*>(out);
  if (rows % lanes<T> != 0 || columns % group != 0)
    return transpose_tile(in, columns, to, rows, rows, columns, 0, false);
  for (std::int64_t r = 0; r < rows; r += lanes<T>)
    for (std::int64_t c = 0; c < columns; c += group) {
      Vec<U> v[group];
      detail::load_columns<lanes<T>, group>(in + r * columns + c, columns, v);
      for (int i = 0; i < group; ++i) store(to + (c + i) * rows + r, v[i]);
    }
}

template <class T>
Parts<T> parts_of(std::vector<T>& buffer, std::int64_t at, std::int64_t n) {
  return {buffer.data() + at, buffer.data() + at + n};
}

template <class T>
Strided<T> strided(Parts<T> parts, std::int64_t stride) {
  return {parts.re, parts.im, stride};
}

/// Transforms the columns of a matrix. f(first column, width, results) receives the results of some columns, which lie
/// `width` apart.
template <class T, class F>
void transform_blocks(const FourierTransform<T>& transform, std::int64_t columns, Parts<const T> x, F f) {
  const std::int64_t rows = transform.size(), most = rows * columns_at_once;
  const std::int64_t blocks = (columns + columns_at_once - 1) / columns_at_once;
  parallel_rows(blocks, 4 * most, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> buffer(static_cast<std::size_t>(4 * most));
    const Parts<T> in = parts_of(buffer, 0, most), result = parts_of(buffer, 2 * most, most);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t c = i * columns_at_once, width = std::min(columns_at_once, columns - c);
      for (std::int64_t j = 0; j < rows; ++j) {
        std::copy_n(x.re + j * columns + c, width, in.re + j * width);
        std::copy_n(x.im + j * columns + c, width, in.im + j * width);
      }
      transform.columns(width, strided<const T>(in, width), strided(result, width));
      f(c, width, result);
    }
  });
}

}  // namespace

template <class T>
FourierTransform<T>::FourierTransform(std::int64_t n) : n_(n) {
  if (n < 2) return;
  if (largest_prime_of(n) > SmallFourierTransform<T>::largest_prime) {
    prepare_convolution();
    return;
  }
  constexpr std::int64_t most = SmallFourierTransform<T>::most;
  first_ = n <= most ? n : factor_of(n, n > longest_in_cache ? n : most);
  rest_ = n / first_;
  if (first_ <= most) small_ = std::make_shared<SmallFourierTransform<T>>(first_);
  else long_ = of(first_);
  if (rest_ == 1) return;
  other_ = of(rest_);
  for (std::int64_t k = 0; k < first_; ++k)
    for (std::int64_t j = 0; j < rest_; ++j) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(j * k) / static_cast<double>(n);
      twiddle_re_.push_back(static_cast<T>(std::cos(angle)));
      twiddle_im_.push_back(static_cast<T>(std::sin(angle)));
    }
}

template <class T>
std::shared_ptr<const FourierTransform<T>> FourierTransform<T>::of(std::int64_t n) {
  static TransformCache<FourierTransform> cache;
  return cache.of(n);
}

template <class T>
void FourierTransform<T>::rows(std::int64_t rows, Parts<const T> x, Parts<T> out) const {
  if (n_ < 2) {
    std::copy(x.re, x.re + rows * n_, out.re), std::copy(x.im, x.im + rows * n_, out.im);
    return;
  }
  if (first_ > 0 && (rest_ == 1 || (n_ < long_row && rows > 1))) return rows_as_columns(rows, x, out);
  Buffer buffer;
  for (std::int64_t r = 0; r < rows; ++r)
    if (first_ == 0) convolve(x + r * n_, out + r * n_, buffer);
    else if (long_) split_long_row(x + r * n_, out + r * n_, buffer);
    else split_row(x + r * n_, out + r * n_, buffer);
}

template <class T>
void FourierTransform<T>::rows_as_columns(std::int64_t rows, Parts<const T> x, Parts<T> out) const {
  constexpr std::int64_t side_by_side = lanes<T>;
  Buffer buffer(static_cast<std::size_t>(4 * n_ * side_by_side));
  const Parts<T> in = parts_of(buffer, 0, n_ * side_by_side),
                 result = parts_of(buffer, 2 * n_ * side_by_side, n_ * side_by_side);
  for (std::int64_t r = 0; r < rows; r += side_by_side) {
    const std::int64_t width = std::min(side_by_side, rows - r);
    const Parts<const T> from = x + r * n_;
    const Parts<T> to = out + r * n_;
    transpose_matrix<T>(width, n_, from.re, in.re), transpose_matrix<T>(width, n_, from.im, in.im);
    columns(width, strided(in, width), strided(result, width));
    transpose_matrix<T>(n_, width, result.re, to.re);
    transpose_matrix<T>(n_, width, result.im, to.im);
  }
}

template <class T>
void FourierTransform<T>::columns(std::int64_t width, Strided<const T> x, Strided<T> out) const {
  if (width == 0) return;
  if (rest_ == 1) return small_->run(width, x, out);
  Buffer buffer;
  if (small_) {
    const std::int64_t block = std::max<std::int64_t>(64, cached_elements / n_ / 64 * 64);
    for (std::int64_t c = 0; c < width; c += block)
      split_columns(std::min(block, width - c), x + c, out + c, buffer);
    return;
  }
  // Other columns become rows, as many as whole cache lines hold.
  const std::int64_t most = std::min(width, columns_at_once);
  Buffer copies(static_cast<std::size_t>(4 * n_ * most));
  const Parts<T> in = parts_of(copies, 0, n_ * most), result = parts_of(copies, 2 * n_ * most, n_ * most);
  for (std::int64_t c = 0; c < width; c += most) {
    const std::int64_t count = std::min(most, width - c);
    for (std::int64_t j = 0; j < n_; ++j)
      for (std::int64_t i = 0, at = j * x.stride + c; i < count; ++i)
        in.re[i * n_ + j] = x.re[at + i], in.im[i * n_ + j] = x.im[at + i];
    rows(count, in, result);
    for (std::int64_t j = 0; j < n_; ++j)
      for (std::int64_t i = 0, at = j * out.stride + c; i < count; ++i)
        out.re[at + i] = result.re[i * n_ + j], out.im[at + i] = result.im[i * n_ + j];
  }
}

/// Transforms each of `rest` interleaved parts, then the parts together.
template <class T>
void FourierTransform<T>::split_columns(std::int64_t width, Strided<const T> x, Strided<T> out,
                                        Buffer& buffer) const {
  buffer.resize(static_cast<std::size_t>(2 * n_ * width));
  const Parts<T> inner = parts_of(buffer, 0, n_ * width);
  for (std::int64_t j = 0; j < rest_; ++j) {
    const Strided<const T> part{x.re + j * x.stride, x.im + j * x.stride, x.stride * rest_};
    small_->run(width, part, strided(inner + j * width, rest_ * width),
                {twiddle_re_.data() + j, twiddle_im_.data() + j, rest_, false});
  }
  for (std::int64_t k = 0; k < first_; ++k)
    other_->columns(width, strided(inner + k * rest_ * width, width),
                    Strided<T>{out.re + k * out.stride, out.im + k * out.stride, out.stride * first_});
}

/// Transforms the columns of x, seen as a matrix of `first` rows, and then the rows of the matrix, a vector of rows at a
/// time.
template <class T>
void FourierTransform<T>::split_row(Parts<const T> x, Parts<T> out, Buffer& buffer) const {
  const std::int64_t width = std::min<std::int64_t>(lanes<T>, first_), tile = rest_ * width;
  buffer.resize(static_cast<std::size_t>(2 * n_ + 2 * tile));
  const Parts<T> inner = parts_of(buffer, 0, n_), turned = parts_of(buffer, 2 * n_, tile);
  small_->run(rest_, strided(x, rest_), strided(inner, rest_),
              {twiddle_re_.data(), twiddle_im_.data(), rest_, true});
  for (std::int64_t c = 0; c < first_; c += width) {
    // The last vector repeats some rows of the vector before.
    const std::int64_t at = std::min(c, first_ - width);
    transpose_matrix<T>(width, rest_, inner.re + at * rest_, turned.re);
    transpose_matrix<T>(width, rest_, inner.im + at * rest_, turned.im);
    other_->columns(width, strided(turned, width), strided(out + at, first_));
  }
}

/// Transforms the columns of x, seen as a matrix of `first` rows, a few columns at a time in a buffer of their own,
/// because the rows of the matrix lie so far apart that they share the sets of a cache. The results are the columns of
/// a second matrix of `rest` rows, to whose columns the rest is done.
template <class T>
void FourierTransform<T>::split_long_row(Parts<const T> x, Parts<T> out, Buffer& buffer) const {
  buffer.resize(static_cast<std::size_t>(2 * n_));
  const Parts<T> turned = parts_of(buffer, 0, n_);
  transform_blocks(*long_, rest_, x, [&](std::int64_t c, std::int64_t width, Parts<T> block) {
    for (std::int64_t k = 0; k < first_; ++k) {
      const T *re = twiddle_re_.data() + k * rest_ + c, *im = twiddle_im_.data() + k * rest_ + c;
      T *a = block.re + k * width, *b = block.im + k * width;
      for (std::int64_t i = 0; i < width; ++i) {
        const T product = a[i] * re[i] - b[i] * im[i];
        b[i] = a[i] * im[i] + b[i] * re[i], a[i] = product;
      }
    }
    transpose_matrix<T>(first_, width, block.re, turned.re + c * first_);
    transpose_matrix<T>(first_, width, block.im, turned.im + c * first_);
  });
  transform_blocks(*other_, first_, Parts<const T>(turned),
                   [&](std::int64_t c, std::int64_t width, Parts<T> block) {
                     for (std::int64_t k = 0; k < rest_; ++k) {
                       std::copy_n(block.re + k * width, width, out.re + k * first_ + c);
                       std::copy_n(block.im + k * width, width, out.im + k * first_ + c);
                     }
                   });
}

// --- Bluestein's convolution ------------------------------------------------------------------------------

template <class T>
void FourierTransform<T>::prepare_convolution() {
  std::int64_t m = 1;
  while (m < 2 * n_) m *= 2;
  other_ = of(m);
  Buffer buffer(static_cast<std::size_t>(2 * m), T(0));
  const Parts<T> filter = parts_of(buffer, 0, m);
  for (std::int64_t j = 0; j < n_; ++j) {
    // j^2 modulo 2 n keeps the digits of the angle.
    const double angle = -std::numbers::pi * static_cast<double>(j * j % (2 * n_)) / static_cast<double>(n_);
    chirp_re_.push_back(static_cast<T>(std::cos(angle))),
        chirp_im_.push_back(static_cast<T>(std::sin(angle)));
    for (const std::int64_t at : {j, (m - j) % m})
      filter.re[at] = static_cast<T>(std::cos(angle)), filter.im[at] = static_cast<T>(-std::sin(angle));
  }
  filter_re_.resize(static_cast<std::size_t>(m)), filter_im_.resize(static_cast<std::size_t>(m));
  other_->rows(1, filter, {filter_re_.data(), filter_im_.data()});
}

template <class T>
void FourierTransform<T>::convolve(Parts<const T> x, Parts<T> out, Buffer& buffer) const {
  const auto m = static_cast<std::int64_t>(filter_re_.size());
  buffer.assign(static_cast<std::size_t>(4 * m), T(0));
  const Parts<T> in = parts_of(buffer, 0, m), result = parts_of(buffer, 2 * m, m);
  const auto multiply = [](std::int64_t n, Parts<const T> a, const T* re, const T* im, Parts<T> to, T scale) {
    for (std::int64_t i = 0; i < n; ++i) {
      const T x = a.re[i], y = a.im[i];
      to.re[i] = (x * re[i] - y * im[i]) * scale, to.im[i] = (x * im[i] + y * re[i]) * scale;
    }
  };
  multiply(n_, x, chirp_re_.data(), chirp_im_.data(), in, 1);
  other_->rows(1, in, result);
  multiply(m, result, filter_re_.data(), filter_im_.data(), in, 1);
  other_->rows(1, Parts<const T>(in.exchanged()), result.exchanged());
  multiply(n_, result, chirp_re_.data(), chirp_im_.data(), out, T(1) / static_cast<T>(m));
}

template class FourierTransform<float>;
template class FourierTransform<double>;

}  // namespace ktape::kernels
