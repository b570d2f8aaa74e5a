#include <ktape/ops/kernels/fourier/real_fft.hpp>
#include <ktape/ops/kernels/fourier/transform_cache.hpp>

#include <cmath>
#include <numbers>

namespace ktape::kernels {
namespace {

template <class T>
Parts<T> halves(std::vector<T>& buffer, std::int64_t at, std::int64_t n) {
  return {buffer.data() + at, buffer.data() + at + n};
}

}  // namespace

template <class T>
RealTransform<T>::RealTransform(std::int64_t n)
    : n_(n), transform_(FourierTransform<T>::of(n % 2 == 0 ? n / 2 : n)) {
  if (n % 2 == 1) return;
  for (std::int64_t k = 0; k <= n / 2; ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    re_.push_back(static_cast<T>(std::cos(angle))), im_.push_back(static_cast<T>(std::sin(angle)));
  }
}

template <class T>
std::shared_ptr<const RealTransform<T>> RealTransform<T>::of(std::int64_t n) {
  static TransformCache<RealTransform> cache;
  return cache.of(n);
}

template <class T>
void RealTransform<T>::forward(std::int64_t rows, const T* x, Parts<T> out) const {
  const std::int64_t bins = n_ / 2 + 1, h = n_ % 2 == 0 ? n_ / 2 : n_;
  std::vector<T> buffer(static_cast<std::size_t>(4 * h));
  const Parts<T> in = halves(buffer, 0, h), result = halves(buffer, 2 * h, h);
  for (std::int64_t r = 0; r < rows; ++r, x += n_, out = out + bins) {
    if (n_ % 2 == 1) {
      std::copy(x, x + n_, in.re);
      transform_->rows(1, in, result);
      std::copy(result.re, result.re + bins, out.re), std::copy(result.im, result.im + bins, out.im);
      continue;
    }
    for (std::int64_t j = 0; j < h; ++j) in.re[j] = x[2 * j], in.im[j] = x[2 * j + 1];
    transform_->rows(1, in, result);
    // The transforms of the even and of the odd numbers are the two halves of the result and its mirror image.
    out.re[0] = result.re[0] + result.im[0], out.im[0] = 0;
    out.re[h] = result.re[0] - result.im[0], out.im[h] = 0;
    for (std::int64_t k = 1; k < h; ++k) {
      const T a = result.re[k], b = result.im[k], c = result.re[h - k], d = -result.im[h - k];
      const T odd_re = (b - d) / 2, odd_im = (c - a) / 2;
      out.re[k] = (a + c) / 2 + odd_re * re_[k] - odd_im * im_[k];
      out.im[k] = (b + d) / 2 + odd_re * im_[k] + odd_im * re_[k];
    }
  }
}

template <class T>
void RealTransform<T>::backward(std::int64_t rows, Parts<const T> x, T* out) const {
  const std::int64_t bins = n_ / 2 + 1, h = n_ % 2 == 0 ? n_ / 2 : n_;
  std::vector<T> buffer(static_cast<std::size_t>(4 * h));
  const Parts<T> in = halves(buffer, 0, h), result = halves(buffer, 2 * h, h);
  for (std::int64_t r = 0; r < rows; ++r, x = x + bins, out += n_) {
    if (n_ % 2 == 1) {
      in.re[0] = x.re[0], in.im[0] = 0;
      for (std::int64_t k = 1; k < bins; ++k)
        in.re[k] = in.re[n_ - k] = x.re[k], in.im[k] = x.im[k], in.im[n_ - k] = -x.im[k];
      transform_->rows(1, Parts<const T>(in.exchanged()), result.exchanged());
      std::copy(result.re, result.re + n_, out);
      continue;
    }
    in.re[0] = x.re[0] + x.re[h], in.im[0] = x.re[0] - x.re[h];
    for (std::int64_t k = 1; k < h; ++k) {
      const T a = x.re[k], b = x.im[k], c = x.re[h - k], d = -x.im[h - k];
      // i (x[k] - conj x[h - k]) exp(+2 pi i k / n)
      const T odd_re = (a - c) * re_[k] + (b - d) * im_[k], odd_im = (b - d) * re_[k] - (a - c) * im_[k];
      in.re[k] = a + c - odd_im, in.im[k] = b + d + odd_re;
    }
    transform_->rows(1, Parts<const T>(in.exchanged()), result.exchanged());
    for (std::int64_t j = 0; j < h; ++j) out[2 * j] = result.re[j], out[2 * j + 1] = result.im[j];
  }
}

template class RealTransform<float>;
template class RealTransform<double>;

}  // namespace ktape::kernels
