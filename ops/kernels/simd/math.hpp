#pragma once
#include <ktape/ops/kernels/simd/elementary_functions.hpp>
#include <ktape/ops/kernels/simd/library_functions.hpp>

/// Elementary functions for generic lambdas on vectors: our own where they are faster or more exact, else those
/// of the C library. No lane of a result depends on other lanes.
namespace ktape::kernels::functions {

template <class A>
Batch<A> exp(const Batch<A>& x) {
  return exp_of<A>(x);
}

/// Returns 1 / (1 + e^-x), also where e^-x overflows.
template <class A>
Batch<A> logistic(const Batch<A>& x) {
  const Batch<A> one(A(1)), part = exp_of_small<A>(-xsimd::abs(x));
  return xsimd::select(x < Batch<A>(A(0)), part, one) / (one + part);
}
/// Returns the derivative of the logistic function.
template <class A>
Batch<A> logistic_slope(const Batch<A>& x) {
  const Batch<A> part = exp_of_small<A>(-xsimd::abs(x)), sum = part + Batch<A>(A(1));
  return part / (sum * sum);
}

template <class A>
Batch<A> tanh(const Batch<A>& x) {
  return wide::tanh<A>(x);
}

/// Returns the error function.
inline Batch<float> erf(const Batch<float>& x) { return wide::erf(x); }

/// Returns e^(-x^2).
template <class A>
Batch<A> gaussian(const Batch<A>& x) {
  return wide::exp_of_square<A>(x, A(-1));
}

/// Round each lane down, up, or towards zero, with the sign of x, which xsimd 8.1 loses for zeros without SSE4.1.
template <class A>
Batch<A> floor(const Batch<A>& x) {
  return xsimd::copysign(xsimd::floor(x), x);
}
template <class A>
Batch<A> ceil(const Batch<A>& x) {
  return xsimd::copysign(xsimd::ceil(x), x);
}
template <class A>
Batch<A> trunc(const Batch<A>& x) {
  return xsimd::copysign(xsimd::trunc(x), x);
}

/// Returns log(1 + x) for 0 <= x <= 1.
template <class A>
Batch<A> log1p_of_fraction(const Batch<A>& x) {
  return wide::log1p_of_fraction<A>(x);
}

/// Returns the standard normal distribution function.
template <class A>
Batch<A> normal_cdf(const Batch<A>& x) {
  return wide::normal_cdf<A>(x);
}

#if defined(KTAPE_FUSED)
/// Returns the sine of each lane: by vectors for moderate x, one by one with `exact` for lanes of many turns,
/// infinities and NaN.
template <class A, class F>
Batch<A> sine_or(F exact, const Batch<A>& x, bits_of<A> quarter) {
  const Batch<A> y = wide::sine<A>(x, quarter);
  const auto few = xsimd::abs(x) < Batch<A>(wide::Constants<A>::most_turns);
  return xsimd::all(few) ? y
                         : xsimd::select(few, y, one_by_one(xsimd::select(few, Batch<A>(A(0)), x), exact));
}
template <class A>
Batch<A> sin(const Batch<A>& x) {
  const Batch<A> y = sine_or([](A a) { return std::sin(a); }, x, 0);
  return xsimd::select(x == Batch<A>(A(0)), x, y);  // the sign of 0
}
template <class A>
Batch<A> cos(const Batch<A>& x) {
  return sine_or([](A a) { return std::cos(a); }, x, 1);
}
#endif

#if defined(__AVX512F__)
/// Returns x^a with the special cases of C's pow: 1 for x^0, 1^a and (-1)^infinity, the sign of x for odd powers, NaN
/// for other powers of negative numbers.
inline Batch<float> pow(const Batch<float>& x, const Batch<float>& a) {
  const Batch<float> half = a * 0.5f, infinite(INFINITY), one(1.f), size = xsimd::abs(x);
  const auto whole = a == xsimd::trunc(a);
  const auto is_one = (a == Batch<float>(0.f)) | (x == one) | ((size == one) & (xsimd::abs(a) == infinite));
  const Batch<float> power = through_doubles(wide::power_of_doubles, size, a);
  const Batch<float> y = xsimd::select(is_one, one, power);
  const Batch<float> kept = xsimd::select(whole & !(half == xsimd::trunc(half)), xsimd::copysign(y, x), y);
  return xsimd::select(whole | !(x < Batch<float>(0.f)) | (size == infinite) | !(a == a), kept,
                       Batch<float>(NAN));
}

template <class A>
Batch<A> expm1(const Batch<A>& x) {
  return wide::expm1<A>(x);
}
template <class A>
Batch<A> log(const Batch<A>& x) {
  return wide::log<A>(x);
}
template <class A>
Batch<A> log1p(const Batch<A>& x) {
  return wide::log1p<A>(x);
}
#else
/// Returns log(x): numbers that are not normal and positive are scaled, or have a result of their own.
template <class A>
Batch<A> log(const Batch<A>& x) {
  using Limits = std::numeric_limits<A>;
  const Batch<A> least(Limits::min()), infinity(Limits::infinity());
  if (xsimd::all((x >= least) & (x < infinity))) return wide::log<A>(x);
  constexpr A scale = A(1) / Limits::epsilon();
  const auto subnormal = x < least;
  const Batch<A> y = wide::log<A>(xsimd::select(subnormal, x * scale, x));
  const Batch<A> none = xsimd::select(x == Batch<A>(A(0)), -infinity, Batch<A>(Limits::quiet_NaN()));
  const Batch<A> small = xsimd::select(x > Batch<A>(A(0)), y - std::log(scale), none);
  return xsimd::select(x < infinity, xsimd::select(subnormal, small, y), x);
}
#endif

}  // namespace ktape::kernels::functions
