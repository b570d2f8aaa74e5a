#pragma once
#include <ktape/ops/kernels/fourier/fft.hpp>

namespace ktape::kernels {

/// The Fourier transform of n real numbers, of which the first n / 2 + 1 elements tell the others. An even number of numbers
/// is transformed as half as many complex numbers.
template <class T>
class RealTransform {
 public:
  explicit RealTransform(std::int64_t n);
  /// Returns the transform of n numbers from a cache of bounded size.
  static std::shared_ptr<const RealTransform> of(std::int64_t n);
  std::int64_t size() const { return n_; }

  /// Transforms rows of n numbers into rows of n / 2 + 1 elements.
  void forward(std::int64_t rows, const T* x, Parts<T> out) const;
  /// Computes, from rows of n / 2 + 1 elements, the sums of the whole transforms back, n times the numbers. The imaginary
  /// parts of the first and the middle element do not count.
  void backward(std::int64_t rows, Parts<const T> x, T* out) const;

 private:
  std::int64_t n_;
  std::shared_ptr<const FourierTransform<T>> transform_;  ///< of n / 2 numbers, or of n for an odd n
  std::vector<T> re_, im_;                                ///< exp(-2 pi i k / n)
};

}  // namespace ktape::kernels
