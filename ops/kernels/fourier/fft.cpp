#include <ktape/ops/kernels/fourier/fft.hpp>

#include <numbers>

namespace ktape::kernels {
namespace {

constexpr std::size_t largest_factor = 31;

/// Returns the factors of n, 4 before 2, the largest last.
std::vector<std::size_t> factors_of(std::size_t n) {
  std::vector<std::size_t> out;
  for (; n % 4 == 0; n /= 4) out.push_back(4);
  for (std::size_t p = 2; n > 1; ++p) {
    if (p * p > n) p = n;
    for (; n % p == 0; n /= p) out.push_back(p);
  }
  return out;
}

}  // namespace

template <class T>
FourierTransform<T>::FourierTransform(std::int64_t n, bool inverse)
    : n_(static_cast<std::size_t>(n)), inverse_(inverse), factors_(factors_of(n_)) {
  const double turn = (inverse ? 2 : -2) * std::numbers::pi;
  if (!factors_.empty() && factors_.back() > largest_factor) {
    std::size_t m = 1;
    while (m < 2 * n_) m *= 2;
    inner_.emplace_back(static_cast<std::int64_t>(m), false),
        inner_.emplace_back(static_cast<std::int64_t>(m), true);
    filter_.resize(m);
    for (std::size_t j = 0; j < n_; ++j) {
      // j^2 modulo 2 n keeps the digits of the angle.
      const double angle = turn / 2 * static_cast<double>(j * j % (2 * n_)) / static_cast<double>(n_);
      chirp_.emplace_back(static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle)));
      filter_[j] = filter_[(m - j) % m] = std::conj(chirp_[j]);
    }
    inner_[0].run(filter_.data());
    copy_.resize(m);
    return;
  }
  for (std::size_t k = 0; k < n_; ++k) {
    const double angle = turn * static_cast<double>(k) / static_cast<double>(n_);
    roots_.emplace_back(static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle)));
  }
  copy_.resize(n_);
  column_.resize(largest_factor);
}

template <class T>
void FourierTransform<T>::run(Complex* x) {
  if (n_ < 2) return;
  if (!inner_.empty()) return convolve(x);
  std::copy(x, x + n_, copy_.begin());
  transform(copy_.data(), x, n_, 1, 0);
}

template <class T>
void FourierTransform<T>::convolve(Complex* x) {
  const std::size_t m = filter_.size();
  std::fill(copy_.begin(), copy_.end(), Complex());
  for (std::size_t j = 0; j < n_; ++j) copy_[j] = x[j] * chirp_[j];
  inner_[0].run(copy_.data());
  for (std::size_t j = 0; j < m; ++j) copy_[j] *= filter_[j];
  inner_[1].run(copy_.data());
  for (std::size_t j = 0; j < n_; ++j) x[j] = copy_[j] * chirp_[j] / static_cast<T>(m);
}

/// Transforms n numbers that stand `step` apart: each of `radix` interleaved parts, and then the parts together.
template <class T>
void FourierTransform<T>::transform(const Complex* in, Complex* out, std::size_t n, std::size_t step,
                                    std::size_t factor) {
  if (n == 1) {
    *out = *in;
    return;
  }
  const std::size_t radix = factors_[factor], part = n / radix;
  for (std::size_t r = 0; r < radix; ++r)
    transform(in + r * step, out + r * part, part, step * radix, factor + 1);
  combine(out, n, step, radix);
}

template <class T>
void FourierTransform<T>::combine(Complex* out, std::size_t n, std::size_t step, std::size_t radix) {
  const std::size_t part = n / radix;
  const auto times = [](Complex a, Complex b) {
    return Complex(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  };
  for (std::size_t k = 0; k < part; ++k) {
    if (radix == 2) {
      const Complex a = out[k], b = times(out[k + part], roots_[k * step]);
      out[k] = a + b, out[k + part] = a - b;
      continue;
    }
    if (radix == 4) {
      const Complex a = out[k], b = times(out[k + part], roots_[k * step]),
                    c = times(out[k + 2 * part], roots_[2 * k * step]),
                    d = times(out[k + 3 * part], roots_[3 * k * step]);
      const Complex ac = a + c, a_c = a - c, bd = b + d, b_d = b - d;
      const Complex turned = inverse_ ? Complex(-b_d.imag(), b_d.real()) : Complex(b_d.imag(), -b_d.real());
      out[k] = ac + bd, out[k + part] = a_c + turned, out[k + 2 * part] = ac - bd,
      out[k + 3 * part] = a_c - turned;
      continue;
    }
    for (std::size_t r = 0; r < radix; ++r) column_[r] = times(out[k + r * part], roots_[r * k * step]);
    for (std::size_t q = 0; q < radix; ++q) {
      Complex sum = column_[0];
      for (std::size_t r = 1; r < radix; ++r) sum += times(column_[r], roots_[r * q * part * step % n_]);
      out[k + q * part] = sum;
    }
  }
}

template class FourierTransform<float>;
template class FourierTransform<double>;

}  // namespace ktape::kernels
