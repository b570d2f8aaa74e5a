#pragma once
#include <ktape/ops/kernels/simd.hpp>

#include <array>

namespace ktape::kernels {

/// The larger of a and b, lane by lane, and b where one of them is NaN.
template <class A>
Vec<A> larger(Vec<A> a, Vec<A> b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Vec<A>) == 64 && sizeof(A) == 4) return _mm512_maskz_max_ps(0xffff, a, b);
  if constexpr (sizeof(Vec<A>) == 64 && sizeof(A) == 8) return _mm512_maskz_max_pd(0xff, a, b);
#endif
  return a > b ? a : b;
}
/// The smaller, likewise.
template <class A>
Vec<A> smaller(Vec<A> a, Vec<A> b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Vec<A>) == 64 && sizeof(A) == 4) return _mm512_maskz_min_ps(0xffff, a, b);
  if constexpr (sizeof(Vec<A>) == 64 && sizeof(A) == 8) return _mm512_maskz_min_pd(0xff, a, b);
#endif
  return a < b ? a : b;
}

namespace detail {

template <class A>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  static constexpr float bound = 150, magic = 12582912;  // 1.5 * 2^23
  static constexpr float ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
  static constexpr std::array<float, 7> polynomial = {
      // of the least relative error, 2e-9
      1.3836798758e-3f, 8.3748570513e-3f, 4.1668228597e-2f, 1.6666419681e-1f, 4.9999992056e-1f, 1, 1};
};
template <>
struct ExpConstants<double> {
  static constexpr double bound = 1100, magic = 6755399441055744;  // 1.5 * 2^52
  static constexpr double ln2_high = 0.693147180369123816490, ln2_low = 1.90821492927058770002e-10;
  static constexpr std::array<double, 12> polynomial = {// of the least relative error, 2e-17
                                                        2.5100424157005067e-8,
                                                        2.7620138719733994e-7,
                                                        2.7557268378684192e-6,
                                                        2.480152119021773e-5,
                                                        1.9841269863105968e-4,
                                                        1.3888888917281794e-3,
                                                        8.333333333330051e-3,
                                                        4.166666666662399e-2,
                                                        1.6666666666666669e-1,
                                                        0.5000000000000001,
                                                        1,
                                                        1};
};

#if defined(__AVX512F__)
inline __m512 scale_by_power(__m512 x, __m512 k) { return _mm512_maskz_scalef_ps(0xffff, x, k); }
inline __m512d scale_by_power(__m512d x, __m512d k) { return _mm512_maskz_scalef_pd(0xff, x, k); }

/// x = k ln(2) + r with an integer k and |r| <= ln(2) / 2, for x within the bounds. Adding the magic number
/// rounds to an integer.
template <class A>
struct ExpParts {
  using C = ExpConstants<A>;
  Vec<A> k, r;
  explicit ExpParts(Vec<A> x) {
    const auto magic = splat(C::magic);
    k = x * A(1.4426950408889634) + magic - magic;
    r = x - k * C::ln2_high - k * C::ln2_low;
  }
};

/// The polynomial of e^r, or what is left of it when the last `drop` steps are not made.
template <class A>
Vec<A> exp_polynomial(Vec<A> r, std::size_t drop = 0) {
  auto p = splat(ExpConstants<A>::polynomial[0]);
  for (std::size_t i = 1; i + drop < ExpConstants<A>::polynomial.size(); ++i)
    p = p * r + ExpConstants<A>::polynomial[i];
  return p;
}

/// e^x = 2^k e^r, for x below the bound. Below its negative, where the result is 0, the bound keeps r finite;
/// a NaN passes it.
template <class A>
Vec<A> exp_by_powers(Vec<A> x) {
  const ExpParts<A> parts(larger<A>(splat(-ExpConstants<A>::bound), x));
  return scale_by_power(exp_polynomial<A>(parts.r), parts.k);
}
#endif

}  // namespace detail

/// e^x, lane by lane, with an error of about one unit in the last place, for x that is not large: 0 at most,
/// say.
template <class A>
Vec<A> exp_of_small(Vec<A> x) {
#if defined(__AVX512F__)
  if constexpr (vector_bytes == 64) return detail::exp_by_powers<A>(x);
#endif
  return xsimd::exp(xsimd::batch<A>(x));
}
/// The same for any x.
template <class A>
Vec<A> exp_of(Vec<A> x) {
#if defined(__AVX512F__)
  if constexpr (vector_bytes == 64) {
    x = smaller<A>(splat(detail::ExpConstants<A>::bound), x);
  }
#endif
  return exp_of_small<A>(x);
}

}  // namespace ktape::kernels
