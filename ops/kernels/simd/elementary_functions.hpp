#pragma once
#include <ktape/ops/kernels/simd/exp.hpp>

#include <limits>

/// Elementary functions of vectors, most of them of 64 bytes, made for throughput: no branches, at most one
/// division, errors of one or two units in the last place.
namespace ktape::kernels::wide {

using kernels::detail::ExpConstants, kernels::detail::polynomial;

/// Returns x with the sign of `sign`.
template <class A>
Vec<A> with_sign(Vec<A> x, Vec<A> sign) {
  const auto bit = reinterpret_cast<Vec<bits_of<A>>>(splat(A(-0.0)));
  const auto bits =
      (reinterpret_cast<Vec<bits_of<A>>>(x) & ~bit) | (reinterpret_cast<Vec<bits_of<A>>>(sign) & bit);
  return reinterpret_cast<Vec<A>>(bits);
}
template <class A>
Vec<A> magnitude(Vec<A> x) {
  return with_sign<A>(x, Vec<A>{});
}

template <class A>
struct Constants;
template <>
struct Constants<float> : ExpConstants<float> {
  static constexpr float log[] = {0.2995919673f, 0.3997891011f, 0.6666671374f};
  static constexpr float log1p[] = {0.2685202729f, 0.2823654666f, 0.4000756307f, 0.6666664033f};
  static constexpr float tanh[] = {-0.005692296661f, 0.02062816732f, -0.05373651534f, 0.1333140582f,
                                   -0.3333328068f};
  static constexpr float erf[] = {7.995048509e-5f, -0.0008049514727f, 0.005192392506f, -0.02685572952f,
                                  0.1128362566f,   -0.3761262894f,    0.1283791661f};
  static constexpr float log_erfc[] = {0.0001959337969f, -0.003043210367f, 0.02222693525f,   -0.103931658f,
                                       -0.6371821761f,   -1.127675653f,    -0.0001956768538f};
  static constexpr float half_pi[] = {1.57079637f, -4.37113883e-8f, -1.71512489e-15f}, most_turns = 1e5f;
  static constexpr float sin[] = {-1.958784052e-4f, 8.332748038e-3f, -0.1666666466f};
  static constexpr float cos[] = {2.454789162e-5f, -1.38883028e-3f, 0.04166666466f};
  static constexpr float one_from = 10, centre = 4;
  static constexpr float tail[] = {-1.22983157e-4f,  1.948018511e-4f, 1.569313645e-3f, -3.523574056e-3f,
                                   -7.527212912e-3f, 6.040646975e-2f, -0.1865230059f,  0.3871366798f,
                                   -0.6078966061f,   0.7552851385f};
};
template <>
struct Constants<double> : ExpConstants<double> {
  static constexpr double log[] = {0.151184871087245714, 0.152837037524031468, 0.181846102462940646,
                                   0.222221827766744816, 0.285714288360455504, 0.399999999993355553,
                                   0.666666666666669386};
  static constexpr double log1p[] = {0.161649381694713386, 0.0880031765086877347, 0.120011551828577787,
                                     0.133141355508811629, 0.153855705929122436,  0.181817894173264479,
                                     0.222222227178017817, 0.285714285671050609,  0.400000000000145966,
                                     0.666666666666666586};
  static constexpr double tanh[] = {
      -0.0000160725689872875138, 0.0000771443654722925445, -0.000228564210318991527, 0.000586316540070448461,
      -0.00145495887794868718,   0.00359198917381649274,   -0.00886322100263185753,  0.0218694875760947725,
      -0.0539682539312677095,    0.133333333332620901,     -0.333333333333328541};
  static constexpr double half_pi[] = {1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33};
  static constexpr double most_turns = 1e9;
  static constexpr double sin[] = {1.59181012302741203e-10, -2.50511314554279474e-8, 2.75573161006830291e-6,
                                   -1.984126983675497e-4,   8.3333333333309461e-3,   -0.166666666666666646};
  static constexpr double cos[] = {-1.13826148685563246e-11, 2.08761460246897466e-9,  -2.75573172705603241e-7,
                                   2.48015872987634332e-5,   -1.38888888888873957e-3, 0.0416666666666666654};
  static constexpr double one_from = 20, centre = 5;
  static constexpr double tail[] = {
      -1.49670159451461043e-10, 1.77992574115252822e-9, 7.66251844253481918e-9,  -9.38328942298160547e-9,
      -6.59833805756738953e-8,  4.23486886510800386e-8, 4.33208145094611436e-7,  -3.36655343400617907e-7,
      -2.76931789406582283e-6,  3.98091325394834108e-6, 1.66812357605362047e-5,  -4.97628152960913993e-5,
      -5.93757337857678798e-5,  5.44899064544392937e-4, -7.97869397552774827e-4, -2.99337677043635441e-3,
      0.0207950667998005039,    -0.0691186387063174347, 0.165020366170388522,    -0.313533156671304262,
      0.495305615969976345,     -0.665382502890056703,  0.769193049750062959};
};

/// Returns x without the low half of its digits.
template <class A>
Vec<A> high_half(Vec<A> x) {
  constexpr auto low_half = (bits_of<A>(1) << (sizeof(A) == 4 ? 12 : 27)) - 1;
  return reinterpret_cast<Vec<A>>(reinterpret_cast<Vec<bits_of<A>>>(x) & ~low_half);
}

/// Returns e^(c y^2) for c = -1 or -1/2. The exponent includes the rounding error of y^2, which matters for large y.
template <class A>
Vec<A> exp_of_square(Vec<A> y, A c) {
#if defined(KTAPE_FUSED)
  const Vec<A> bounded = smaller<A>(splat(A(40)), magnitude<A>(y));  // an infinite square has no error
  const Vec<A> square = bounded * bounded * c, density = exp_of_small<A>(square);
  return density + density * kernels::detail::fused(bounded * c, bounded, -square);
#else
  const Vec<A> bounded = smaller<A>(splat(A(40)), magnitude<A>(y)), high = high_half<A>(bounded);
  return exp_of_small<A>(high * high * c) * exp_of<A>((bounded - high) * (high + bounded) * c);
#endif
}

/// Returns the standard normal distribution function: its tail at -|x| is e^(-x^2 / 2) / (|x| + c) times a
/// polynomial of 1 - 2 c / (|x| + c).
template <class A>
Vec<A> normal_cdf(Vec<A> x) {
  using C = Constants<A>;
  const Vec<A> y = smaller<A>(splat(A(40)), magnitude<A>(x));
  const Vec<A> inverse = A(1) / (y + C::centre);
  const Vec<A> tail =
      exp_of_square<A>(y, A(-0.5)) * inverse * polynomial<A>(A(1) - A(2) * C::centre * inverse, C::tail);
  return x > A(0) ? A(1) - tail : tail;
}

/// Returns log(1 + x) for 0 <= x <= 1, where the argument needs no scaling by a power of 2.
template <class A>
Vec<A> log1p_of_fraction(Vec<A> x) {
  const Vec<A> s = x / (x + A(2)), z = s * s;
  return s * z * polynomial<A>(z, Constants<A>::log1p) + (s + s);
}

using kernels::detail::exp_polynomial, kernels::detail::ExpParts, kernels::detail::fused;

/// Returns x y - product, the rounding error of a product.
template <class A>
Vec<A> lost_of_product(Vec<A> x, Vec<A> y, Vec<A> product) {
#if defined(KTAPE_FUSED)
  return fused(x, y, -product);
#else
  const Vec<A> xh = high_half<A>(x), yh = high_half<A>(y), xl = x - xh, yl = y - yh;
  return (xh * yh - product) + xh * yl + xl * yh + xl * yl;
#endif
}

/// A number as the sum of two, with about twice the digits.
template <class A>
struct LongNumber {
  Vec<A> high, low;
  friend LongNumber operator*(const LongNumber& x, const LongNumber& y) {
    const Vec<A> product = x.high * y.high;
    return {product, lost_of_product<A>(x.high, y.high, product) + (x.high * y.low + x.low * y.high)};
  }
};

/// Returns x^n, where x^2, x^4, ... keep their rounding errors, which the power would multiply.
template <class A>
Vec<A> whole_power(Vec<A> x, int n) {
  const Vec<A> one = splat(A(1)), inverse = one / x;
  LongNumber<A> base{x, Vec<A>{}}, power{one, Vec<A>{}};
  if (n < 0) base = {inverse, (-lost_of_product<A>(inverse, x, one)) * inverse};
  for (int rest = n < 0 ? -n : n; rest > 0; rest >>= 1) {
    if (rest & 1) power = power * base;
    if (rest > 1) base = base * base;
  }
  // The low part of 0 has no sign, and that of an infinite number no value.
  const auto both = power.high != A(0) && magnitude<A>(power.high) <= std::numeric_limits<A>::max();
  return both ? power.high + power.low : power.high;
}
using kernels::detail::scale_by_power;

/// x = m 2^e with 0.75 <= m < 1.5.
template <class A>
struct Split {
  Vec<A> m, e;
};

#if defined(__AVX512F__)
/// Returns the exponent of x = m 2^e with 1 <= m < 2; -infinity for 0, infinity for infinity.
inline __m512 exponent(__m512 x) { return _mm512_maskz_getexp_ps(0xffff, x); }
inline __m512d exponent(__m512d x) { return _mm512_maskz_getexp_pd(0xff, x); }
/// Returns the m of x = m 2^e with 0.75 <= m < 1.5; 1 for 0 and infinity, NaN for negative numbers.
inline __m512 mantissa(__m512 x) {
  return _mm512_maskz_getmant_ps(0xffff, x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
}
inline __m512d mantissa(__m512d x) {
  return _mm512_maskz_getmant_pd(0xff, x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
}
/// Splits any x: m is 1 for 0 and infinity, whose e is infinite, and NaN for negative numbers.
template <class A>
Split<A> split(Vec<A> x) {
  const Vec<A> m = mantissa(x);
  return {m, exponent(x) - exponent(m)};
}
#else
/// Splits a positive normal x. The integer e + bias is positive; its sum with the bits of `magic` is the number
/// magic + e + bias.
template <class A>
Split<A> split(Vec<A> x) {
  using Bits = bits_of<A>;
  constexpr int mantissa_bits = Constants<A>::mantissa_bits;
  constexpr Bits bias = std::numeric_limits<A>::max_exponent;
  constexpr Bits least = (bias - 2) << mantissa_bits | Bits(1) << (mantissa_bits - 1);  // 0.75
  const auto bits = reinterpret_cast<Vec<Bits>>(x);
  const auto steps = (bits - least + (bias << mantissa_bits)) >> mantissa_bits;
  const auto m = bits - ((steps - bias) << mantissa_bits);
  const auto shifted = steps + reinterpret_cast<Vec<Bits>>(splat(Constants<A>::magic));
  return {reinterpret_cast<Vec<A>>(m), reinterpret_cast<Vec<A>>(shifted) - (Constants<A>::magic + A(bias))};
}
#endif

/// log(1 + f) = f - square + rest, with the square f^2 / 2, for -0.25 <= f <= 0.5: an even polynomial of f /
/// (2 + f).
template <class A>
struct LogParts {
  Vec<A> square, rest;
  explicit LogParts(Vec<A> f) {
    const Vec<A> s = f / (f + A(2)), z = s * s;
    square = f * A(0.5) * f;
    rest = s * (square + z * polynomial<A>(z, Constants<A>::log));
  }
};
/// Returns log((1 + f) 2^e).
template <class A>
Vec<A> log_of(Vec<A> f, Vec<A> e) {
  using C = Constants<A>;
  const LogParts<A> parts(f);
  return f - (parts.square - (parts.rest + e * C::ln2_low)) + e * C::ln2_high;
}
/// Returns log(x): of any x with AVX-512, else of positive normal numbers.
template <class A>
Vec<A> log(Vec<A> x) {
  const Split<A> parts = split<A>(x);
  return log_of<A>(parts.m - A(1), parts.e);
}

#if defined(__AVX512F__)
/// Returns log(1 + x). The scaled x is added to the scaled 1, because 1 + x would lose the digits of a small
/// x.
template <class A>
Vec<A> log1p(Vec<A> x) {
  const Vec<A> u = x + A(1), e = exponent(u) - exponent(mantissa(u));
  const Vec<A> scale = scale_by_power(splat(A(1)), -e);
  const Vec<A> f = fused(x, scale, scale - A(1));
  const Vec<A> infinite = splat(std::numeric_limits<A>::infinity());
  const Vec<A> y = log_of<A>(magnitude<A>(e) == infinite ? Vec<A>{} : f, e);
  return x == A(0) ? x : y;
}

/// e^x = 2^k (1 + r + q): r is larger than q and should be added to the other terms first.
template <class A>
struct Expm1Parts : ExpParts<A> {
  Vec<A> q;
  explicit Expm1Parts(Vec<A> x) : ExpParts<A>(x) { q = this->r * this->r * exp_polynomial<A>(this->r, 2); }
  /// Returns e^x 2^-k - 1 + c.
  Vec<A> plus(Vec<A> c) const { return (c + this->r) + q; }
};
template <class A>
Vec<A> expm1(Vec<A> x) {
  using C = Constants<A>;
  const Expm1Parts<A> parts(larger<A>(splat(A(-4) * C::one_from), smaller<A>(splat(C::bound), x)));
  const Vec<A> y = scale_by_power(parts.plus(A(1) - scale_by_power(splat(A(1)), -parts.k)), parts.k);
  return x == A(0) ? x : y;
}
/// The middle c of the sixteenth of [1, 2) in which a number lies, by the first four bits of its fraction, as 1 / c and
/// log2(c). At the ends, c is 1 and 2: the logarithms of numbers near 1 keep all digits.
struct SixteenthLogs {
  double inverse[16], log2[16];
};
inline constexpr SixteenthLogs sixteenth_logs = {
    {1, 0.9142857142857143, 0.8648648648648649, 0.8205128205128205, 0.7804878048780488, 0.7441860465116279,
     0.7111111111111111, 0.6808510638297872, 0.6530612244897959, 0.6274509803921569, 0.6037735849056604,
     0.5818181818181818, 0.5614035087719298, 0.5423728813559322, 0.5245901639344263, 0.5},
    {0, 0.1292830169449665, 0.2094533656289497, 0.28540221886224837, 0.3575520046180836, 0.42626475470209796,
     0.49185309632967467, 0.5545888516776374, 0.6147098441152083, 0.6724253419714956, 0.7279204545631992,
     0.7813597135246597, 0.8328900141647417, 0.8826430493618412, 0.9307373375628862, 1}};

/// Returns x^a for positive x that were floats: its logarithm is exact to 34 bits, enough for a float of any size.
inline __m512d power_of_doubles(__m512d x, __m512d a) {
  static constexpr double log2_of_one_plus[] = {-0.223835439776359335, 0.288616872154247917,
                                                -0.360700417028059328, 0.480898475151519178,
                                                -0.721347511288888299, 1.44269504086989042};
  static constexpr double exp2_less_one[] = {0.0096186973888812248, 0.055505748154609659,
                                             0.240226506726165051, 0.693147180156760911};
  const auto looked_up = [index = _mm512_srli_epi64(_mm512_castpd_si512(x), 48)](const double* table) {
    return _mm512_permutex2var_pd(_mm512_loadu_pd(table), index, _mm512_loadu_pd(table + 8));
  };
  const __m512d fraction = _mm512_maskz_getmant_pd(0xff, x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan);
  const __m512d r = fused(fraction, looked_up(sixteenth_logs.inverse), splat(-1.));
  const __m512d log2 =
      fused(r, polynomial<double>(r, log2_of_one_plus), looked_up(sixteenth_logs.log2) + exponent(x));
  constexpr double bound = 200, magic = kernels::detail::exp_steps<double>;  // floats are below 2^128
  const __m512d y = larger<double>(splat(-bound), smaller<double>(splat(bound), a * log2));
  const __m512d shifted = y + magic, k = shifted - magic, rest = y - k;
  const __m512d power = kernels::detail::sixteenth_power(shifted);
  return scale_by_power(__m512d(fused(power, rest * polynomial<double>(rest, exp2_less_one), power)), k);
}
#endif

/// Returns the square of a size, but never a subnormal number, which processors are slow with: a polynomial of it is
/// added to 1.
template <class A>
Vec<A> normal_square(Vec<A> size) {
  const Vec<A> some = larger<A>(splat(sizeof(A) == 4 ? A(0x1p-14) : A(0x1p-30)), size);
  return some * some;
}

/// Returns tanh(x): a polynomial for small x, else 1 - 2 / (e^2x + 1).
template <class A>
Vec<A> tanh(Vec<A> x) {
  using C = Constants<A>;
  const Vec<A> size = magnitude<A>(x), z = normal_square<A>(size);
  const Vec<A> near = size * (z * polynomial<A>(z, C::tanh)) + size;
  const Vec<A> far = A(1) - A(2) / (exp_of_small<A>(smaller<A>(splat(C::one_from), size) * A(2)) + A(1));
  return with_sign<A>(size < A(0.625) ? near : far, x);
}

/// Returns erf(x) of floats: a polynomial for small x, else 1 - e^p, where p is a polynomial for the logarithm of the rest.
inline Vec<float> erf(Vec<float> x) {
  using C = Constants<float>;
  const Vec<float> size = magnitude<float>(x), z = normal_square<float>(size);
  const Vec<float> near = size * polynomial<float>(z, C::erf) + size;
  const Vec<float> far =
      1.f - exp_of_small<float>(polynomial<float>(smaller<float>(splat(4.f), size), C::log_erfc));
  return with_sign<float>(size < 0.92f ? near : far, x);
}

#if defined(KTAPE_FUSED)
/// Returns the sine of x, or the cosine where `quarter` is 1. Multiples of pi / 2 are subtracted in three
/// parts, which is exact enough for |x| below `most_turns`.
template <class A>
Vec<A> sine(Vec<A> x, bits_of<A> quarter) {
  using C = Constants<A>;
  using Bits = bits_of<A>;
  const Vec<A> shifted = x * A(0.63661977236758134) + C::magic, k = shifted - C::magic;
  const Vec<A> r =
      fused(k, splat(-C::half_pi[2]), fused(k, splat(-C::half_pi[1]), fused(k, splat(-C::half_pi[0]), x)));
  const Vec<A> z = r * r;
  const Vec<A> sin = r * z * polynomial<A>(z, C::sin) + r;
  const Vec<A> cos = z * z * polynomial<A>(z, C::cos) + (A(1) - z * A(0.5));
  const Vec<Bits> turns = reinterpret_cast<Vec<Bits>>(shifted) + quarter;
  const Vec<A> value = (turns & Bits(1)) != Bits(0) ? cos : sin;
  return reinterpret_cast<Vec<A>>(reinterpret_cast<Vec<Bits>>(value) ^ (turns >> 1 << (8 * sizeof(A) - 1)));
}
#endif

}  // namespace ktape::kernels::wide
