#pragma once
#include <ktape/ops/kernels/fourier/small_fft.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace ktape::kernels {

/// The discrete Fourier transform of n numbers, sum over j of x[j] exp(-2 pi i j k / n), not normalized. The real and the
/// imaginary parts lie in arrays of their own; exchanged parts of x and of the result give the transform with +2 pi i. A
/// length is split into factors of at most 64, whose transforms run on the vectors of adjacent columns; a long
/// row is split near the root of its length first. A length with a large prime factor becomes a convolution (Bluestein).
/// Objects do not change and may be shared by threads.
template <class T>
class FourierTransform {
 public:
  explicit FourierTransform(std::int64_t n);
  /// Returns the transform of n numbers from a cache of bounded size.
  static std::shared_ptr<const FourierTransform> of(std::int64_t n);

  std::int64_t size() const { return n_; }

  /// Transforms rows of n elements. The result must not overlap x.
  void rows(std::int64_t rows, Parts<const T> x, Parts<T> out) const;
  /// Transforms `width` columns of n elements: element j of a column lies j * stride behind its first element.
  void columns(std::int64_t width, Strided<const T> x, Strided<T> out) const;

 private:
  using Buffer = std::vector<T>;
  void prepare_convolution();
  void split_columns(std::int64_t width, Strided<const T> x, Strided<T> out, Buffer& buffer) const;
  void split_row(Parts<const T> x, Parts<T> out, Buffer& buffer) const;
  void split_long_row(Parts<const T> x, Parts<T> out, Buffer& buffer) const;
  void rows_as_columns(std::int64_t rows, Parts<const T> x, Parts<T> out) const;
  void convolve(Parts<const T> x, Parts<T> out, Buffer& buffer) const;

  std::int64_t n_, first_ = 0, rest_ = 0;                  ///< n = first * rest; both 0 for a convolution
  std::shared_ptr<const SmallFourierTransform<T>> small_;  ///< of the first factor
  std::shared_ptr<const FourierTransform> long_;           ///< of a first factor above 64
  std::shared_ptr<const FourierTransform> other_;  ///< of the rest, or of the length of the convolution
  Buffer twiddle_re_, twiddle_im_;                 ///< exp(-2 pi i j k / n) at k * rest + j
  Buffer chirp_re_, chirp_im_, filter_re_, filter_im_;
};

}  // namespace ktape::kernels
