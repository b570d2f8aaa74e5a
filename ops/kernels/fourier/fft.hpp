#pragma once
#include <complex>
#include <cstdint>
#include <vector>

namespace ktape::kernels {

/// The discrete Fourier transform of n numbers, sum over j of x[j] exp(-+ 2 pi i j k / n), not normalized: by factors of n, and
/// for large prime factors as a convolution of a power of 2 (Bluestein).
template <class T>
class FourierTransform {
 public:
  using Complex = std::complex<T>;
  FourierTransform(std::int64_t n, bool inverse);
  /// Transforms in place.
  void run(Complex* x);

 private:
  void transform(const Complex* in, Complex* out, std::size_t n, std::size_t step, std::size_t factor);
  void combine(Complex* out, std::size_t n, std::size_t step, std::size_t radix);
  void convolve(Complex* x);

  std::size_t n_;
  bool inverse_;
  std::vector<std::size_t> factors_;
  std::vector<Complex> roots_, copy_, column_;
  std::vector<Complex> chirp_, filter_;  // for Bluestein
  std::vector<FourierTransform> inner_;  // forward and backward
};

}  // namespace ktape::kernels
