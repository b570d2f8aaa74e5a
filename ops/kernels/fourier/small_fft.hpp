#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ktape::kernels {

/// The arrays of the real and of the imaginary parts.
template <class T>
struct Parts {
  T *re, *im;

  Parts operator+(std::int64_t n) const { return {re + n, im + n}; }
  Parts exchanged() const { return {im, re}; }
  operator Parts<const T>() const { return {re, im}; }
};

/// Parts whose numbers lie `stride` elements apart.
template <class T>
struct Strided {
  T *re, *im;
  std::int64_t stride;

  Strided operator+(std::int64_t n) const { return {re + n, im + n, stride}; }
  operator Strided<const T>() const { return {re, im, stride}; }
};

/// Factors for the results of a small transform.
template <class T>
struct Twiddles {
  const T *re = nullptr, *im = nullptr;  ///< null for no factors
  std::int64_t stride = 0;               ///< between the factors of one result and of the next
  bool each_column = false;              ///< whether each column has a factor of its own
};

/// The Fourier transform of at most 64 numbers, without a prime factor above 31, for columns that lie side by side
/// (Stockham's algorithm, in vectors of columns).
template <class T>
class SmallFourierTransform {
 public:
  static constexpr std::int64_t most = 64, largest_prime = 31;

  explicit SmallFourierTransform(std::int64_t n);
  std::int64_t size() const { return n_; }

  /// Transforms `width` adjacent columns. The result must not overlap x.
  void run(std::int64_t width, Strided<const T> x, Strided<T> out, Twiddles<T> twiddles = {}) const;

 private:
  struct Stage {
    std::int64_t radix, groups, stride;  ///< n = radix * groups * stride
    std::size_t twiddles;                ///< where the factors of the stage begin
  };
  void run_vector(Strided<const T> x, Strided<T> out, const Twiddles<T>& twiddles) const;
  void run_narrow(std::int64_t width, Strided<const T> x, Strided<T> out, Twiddles<T> twiddles) const;

  std::int64_t n_;
  std::vector<Stage> stages_;
  std::vector<T> re_, im_;                         ///< the factors of all stages
  std::vector<std::vector<T>> root_re_, root_im_;  ///< for each stage, the roots of 1 of the order `radix`
};

}  // namespace ktape::kernels
