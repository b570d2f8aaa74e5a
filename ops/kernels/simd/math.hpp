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

#if defined(__AVX512F__)
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
template <class A>
Batch<A> tanh(const Batch<A>& x) {
  return wide::tanh<A>(x);
}
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
  return sine_or([](A a) { return std::sin(a); }, x, 0);
}
template <class A>
Batch<A> cos(const Batch<A>& x) {
  return sine_or([](A a) { return std::cos(a); }, x, 1);
}
/// Returns |x|^a, except for C's special cases x = 1 and a = 0 with an operand that is not finite.
template <class A>
Batch<A> power_of_magnitude(const Batch<A>& x, const Batch<A>& a) {
  return wide::power_of_magnitude<A>(x, a);
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
#if defined(KTAPE_FUSED)
/// Returns |x|^a: by vectors where x and the result are normal numbers, else one by one.
template <class A>
Batch<A> power_of_magnitude(const Batch<A>& x, const Batch<A>& a) {
  using Limits = std::numeric_limits<A>;
  const Batch<A> size = xsimd::abs(x), most(Limits::max()), y = wide::power_of_magnitude<A>(x, a);
  const auto normal = (size >= Batch<A>(Limits::min())) & (size <= most) & (xsimd::abs(a) <= most) &
                      (y >= Batch<A>(Limits::min() * 4)) & (y <= Batch<A>(Limits::max() / 8));
  if (xsimd::all(normal)) return y;
  const Batch<A> one(A(1));
  return xsimd::select(normal, y,
                       pair_by_pair(xsimd::select(normal, one, size), xsimd::select(normal, one, a),
                                    [](A base, A exponent) { return std::pow(base, exponent); }));
}

#else
/// Computes lane by lane: with vectors, an error in the logarithm grows with a.
template <class A>
Batch<A> power_of_magnitude(const Batch<A>& x, const Batch<A>& a) {
  return pair_by_pair(x, a, [](A base, A exponent) { return std::pow(std::abs(base), exponent); });
}
#endif
#endif

}  // namespace ktape::kernels::functions
