#pragma once
#include <ktape/ops/kernels/simd.hpp>

#include <array>

namespace ktape::kernels {
namespace detail {

template <class A>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  static constexpr float bound = 150, magic = 12582912;  // 1.5 * 2^23
  static constexpr float ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
  static constexpr std::array<float, 7> polynomial = {  // of the least relative error, 2e-9
      1.3836798758e-3f, 8.3748570513e-3f, 4.1668228597e-2f, 1.6666419681e-1f, 4.9999992056e-1f, 1, 1};
};
template <>
struct ExpConstants<double> {
  static constexpr double bound = 1100, magic = 6755399441055744;  // 1.5 * 2^52
  static constexpr double ln2_high = 0.693147180369123816490, ln2_low = 1.90821492927058770002e-10;
  static constexpr std::array<double, 14> polynomial = [] {
    std::array<double, 14> inverse_factorials{1};
    double factorial = 1;
    for (int i = 0; i < 14; factorial *= ++i) inverse_factorials[13 - i] = 1 / factorial;
    return inverse_factorials;
  }();
};

#if defined(__AVX512F__)
inline __m512 scale_by_power(__m512 x, __m512 k) { return _mm512_maskz_scalef_ps(0xffff, x, k); }
inline __m512d scale_by_power(__m512d x, __m512d k) { return _mm512_maskz_scalef_pd(0xff, x, k); }

/// e^x = 2^k e^r with an integer k and |r| <= ln(2) / 2. The bounds keep r finite where the result is 0 or
/// infinity; a NaN passes them. Adding the magic number rounds to an integer.
template <class A>
Vec<A> exp_by_powers(Vec<A> x) {
  using C = ExpConstants<A>;
  const auto most = splat(C::bound), magic = splat(C::magic);
  x = most < x ? most : x;
  x = -most > x ? -most : x;
  const Vec<A> k = x * A(1.4426950408889634) + magic - magic;
  const Vec<A> r = x - k * C::ln2_high - k * C::ln2_low;
  auto p = splat(C::polynomial[0]);
  for (std::size_t i = 1; i < C::polynomial.size(); ++i) p = p * r + C::polynomial[i];
  return scale_by_power(p, k);
}
#endif

}  // namespace detail

/// e^x, lane by lane, with an error of about one unit in the last place.
template <class A>
Vec<A> exp_of(Vec<A> x) {
#if defined(__AVX512F__)
  if constexpr (vector_bytes == 64) return detail::exp_by_powers<A>(x);
#endif
  return xsimd::exp(xsimd::batch<A>(x));
}

}  // namespace ktape::kernels
