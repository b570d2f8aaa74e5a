#pragma once
#include <ktape/ops/kernels/simd/vector.hpp>

#include <array>
#include <limits>

// Defined where a function of vectors rounds a product and a sum once.
#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#define KTAPE_FUSED
#endif

namespace ktape::kernels {

/// Returns the larger of a and b in each lane, and b where a or b is NaN.
template <class A>
Vec<A> larger(Vec<A> a, Vec<A> b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Vec<A>) == 64 && sizeof(A) == 4) return _mm512_maskz_max_ps(0xffff, a, b);
  if constexpr (sizeof(Vec<A>) == 64 && sizeof(A) == 8) return _mm512_maskz_max_pd(0xff, a, b);
#endif
  return a > b ? a : b;
}
/// Returns the smaller of a and b in each lane, and b where a or b is NaN.
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
  static constexpr int mantissa_bits = 23;
  static constexpr float bound = 150, magic = 12582912;  // 1.5 * 2^23
  static constexpr float ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
  // Of the least relative error, 2e-9.
  static constexpr std::array<float, 7> polynomial = {
      1.3836798758e-3f, 8.3748570513e-3f, 4.1668228597e-2f, 1.6666419681e-1f, 4.9999992056e-1f, 1, 1};
  static constexpr float fraction[] = {0.166668622f, 0.5000097769f, 1};
};
template <>
struct ExpConstants<double> {
  static constexpr int mantissa_bits = 52;
  static constexpr double bound = 1100, magic = 6755399441055744;  // 1.5 * 2^52
  static constexpr double ln2_high = 0.693147180369123816490, ln2_low = 1.90821492927058770002e-10;
  // Of the least relative error, 2e-17.
  static constexpr std::array<double, 12> polynomial = {2.5100424157005067e-8,
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
  static constexpr double fraction[] = {
      0.00138890343776930119, 0.0083334497245283562, 0.0416666666649597671, 0.166666666653011448, 0.5, 1};
};

/// Returns c[0] x^n + ... + c[n].
template <class A, std::size_t N>
Vec<A> polynomial(Vec<A> x, const A (&c)[N]) {
  auto p = splat(c[0]);
  for (std::size_t i = 1; i < N; ++i) p = p * x + c[i];
  return p;
}

/// Returns x y + z, rounded once if KTAPE_FUSED is defined.
#if defined(__AVX512F__)
inline __m512 fused(__m512 x, __m512 y, __m512 z) { return _mm512_fmadd_ps(x, y, z); }
inline __m512d fused(__m512d x, __m512d y, __m512d z) { return _mm512_fmadd_pd(x, y, z); }
#elif defined(KTAPE_FUSED)
inline __m256 fused(__m256 x, __m256 y, __m256 z) { return _mm256_fmadd_ps(x, y, z); }
inline __m256d fused(__m256d x, __m256d y, __m256d z) { return _mm256_fmadd_pd(x, y, z); }
#else
template <class V>
V fused(V x, V y, V z) {
  return x * y + z;
}
#endif

#if defined(__AVX512F__)
/// Returns x 2^k for a whole k.
inline __m512 scale_by_power(__m512 x, __m512 k) { return _mm512_maskz_scalef_ps(0xffff, x, k); }
inline __m512d scale_by_power(__m512d x, __m512d k) { return _mm512_maskz_scalef_pd(0xff, x, k); }
#else
/// Returns x 2^k for a whole k, if x and the result are normal numbers: k is added to the exponent.
template <class V>
V scale_by_power(V x, V k) {
  using C = ExpConstants<std::remove_cvref_t<decltype(x[0])>>;
  using Bits = Vec<bits_of<std::remove_cvref_t<decltype(x[0])>>>;
  return reinterpret_cast<V>(reinterpret_cast<Bits>(x) +
                             (reinterpret_cast<Bits>(k + C::magic) << C::mantissa_bits));
}
#endif

/// The parts of x = k ln(2) + r with an integer k and |r| <= ln(2) / 2, for x within the bounds. Adding the
/// magic number rounds to an integer; adding a sixteenth of the magic number rounds to sixteenths, whose
/// count stands in the last bits of `shifted`. With `rough`, ln(2) is one number instead of a sum of two.
template <class A>
struct ExpParts {
  using C = ExpConstants<A>;
  Vec<A> shifted, k, r;
  explicit ExpParts(Vec<A> x, A magic = C::magic, bool rough = false)
      : shifted(x * A(1.4426950408889634) + magic),
        k(shifted - magic),
        r(rough ? fused(k, splat(A(-0.69314718055994531)), x)
                : fused(k, splat(-C::ln2_low), fused(k, splat(-C::ln2_high), x))) {}
};

/// Returns the polynomial for e^r, without its last `drop` Horner steps.
template <class A>
Vec<A> exp_polynomial(Vec<A> r, std::size_t drop = 0) {
  auto p = splat(ExpConstants<A>::polynomial[0]);
  for (std::size_t i = 1; i + drop < ExpConstants<A>::polynomial.size(); ++i)
    p = p * r + ExpConstants<A>::polynomial[i];
  return p;
}

/// Returns the larger of x and the negative bound, below which e^x is 0; NaN stays NaN.
template <class A>
Vec<A> bounded_below(Vec<A> x) {
  return larger<A>(splat(-ExpConstants<A>::bound), x);
}

#if defined(__AVX512F__)
/// 2^(i / 16).
template <class A>
inline constexpr A sixteenth_powers[] = {A(1),
                                         A(1.0442737824274138),
                                         A(1.0905077326652577),
                                         A(1.1387886347566916),
                                         A(1.189207115002721),
                                         A(1.241857812073484),
                                         A(1.2968395546510096),
                                         A(1.3542555469368927),
                                         A(1.4142135623730951),
                                         A(1.4768261459394993),
                                         A(1.5422108254079407),
                                         A(1.6104903319492543),
                                         A(1.681792830507429),
                                         A(1.7562521603732995),
                                         A(1.8340080864093424),
                                         A(1.9152065613971474)};
/// Returns the power of 2^(1/16) that the last four bits of each lane select.
inline __m512 sixteenth_power(__m512 bits) {
  const __m512 table = _mm512_loadu_ps(sixteenth_powers<float>);
  return _mm512_maskz_permutexvar_ps(0xffff, _mm512_castps_si512(bits), table);
}
inline __m512d sixteenth_power(__m512d bits) {
  const double* const table = sixteenth_powers<double>;
  return _mm512_permutex2var_pd(_mm512_loadu_pd(table), _mm512_castpd_si512(bits),
                                _mm512_loadu_pd(table + 8));
}

/// e^x = 2^k e^r = 2^floor(k) 2^(i / 16) e^r with k = floor(k) + i / 16.
template <class A>
Vec<A> exp_by_powers(const ExpParts<A>& parts) {
  const Vec<A> power = sixteenth_power(parts.shifted);
  const Vec<A> more = parts.r * polynomial<A>(parts.r, ExpConstants<A>::fraction);
  return scale_by_power(Vec<A>(power * more + power), parts.k);
}

#else
/// e^x = 2^k e^r. Where 2^k need not be a normal number, two factors make 2^k.
template <class A>
Vec<A> exp_by_powers(const ExpParts<A>& parts) {
  const Vec<A> p = exp_polynomial<A>(parts.r);
  const xsimd::batch<A> k(parts.k);
  if (xsimd::all(xsimd::abs(k) < xsimd::batch<A>(std::numeric_limits<A>::max_exponent - 2)))
    return scale_by_power(p, parts.k);
  constexpr A magic = ExpConstants<A>::magic;
  const Vec<A> half = (parts.k * A(0.5) + magic) - magic, one = splat(A(1));
  return p * scale_by_power(one, half) * scale_by_power(one, Vec<A>(parts.k - half));
}
#endif

/// The magic number for the k of `exp_by_powers`: sixteenths with AVX-512, else integers.
#if defined(__AVX512F__)
template <class A>
inline constexpr A exp_steps = ExpConstants<A>::magic / 16;
#else
template <class A>
inline constexpr A exp_steps = ExpConstants<A>::magic;
#endif

}  // namespace detail

/// Returns e^x with an error of about one unit in the last place, for x that cannot overflow: at most 0, say.
template <class A>
Vec<A> exp_of_small(Vec<A> x) {
  return detail::exp_by_powers<A>(detail::ExpParts<A>(detail::bounded_below<A>(x), detail::exp_steps<A>));
}
/// Returns e^x for any x.
template <class A>
Vec<A> exp_of(Vec<A> x) {
  x = smaller<A>(splat(detail::ExpConstants<A>::bound), x);
  return exp_of_small<A>(x);
}
/// Returns e^x for a term of a sum whose largest term is 1: in floats, the error grows by one unit in the
/// last place for every 25 by which x is below 0.
template <class A>
Vec<A> exp_term(Vec<A> x) {
  const Vec<A> bounded = detail::bounded_below<A>(smaller<A>(splat(detail::ExpConstants<A>::bound), x));
#if defined(KTAPE_FUSED)
  constexpr bool rough = sizeof(A) == sizeof(float);
#else
  constexpr bool rough = false;  // the rounded product k ln(2) would lose more digits
#endif
  return detail::exp_by_powers<A>(detail::ExpParts<A>(bounded, detail::exp_steps<A>, rough));
}

}  // namespace ktape::kernels
