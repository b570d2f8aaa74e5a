#pragma once
#include <ktape/ops/kernels/simd/elementary_functions.hpp>

#include <cmath>

/// Elementary functions for generic lambdas on vectors: with AVX-512 our own, else those of xsimd and of the
/// C library.
namespace ktape::kernels::functions {

/// Applies f to each lane, one by one.
template <class A, class F>
Batch<A> one_by_one(const Batch<A>& x, F f) {
  A elements[Batch<A>::size];
  x.store_unaligned(elements);
  for (A& each : elements) each = f(each);
  return Batch<A>::load_unaligned(elements);
}

template <class A>
Batch<A> exp(const Batch<A>& x) {
  return exp_of<A>(x);
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
/// Returns log(1 + x) for 0 <= x <= 1.
template <class A>
Batch<A> log1p_of_fraction(const Batch<A>& x) {
  return wide::log1p_of_fraction<A>(x);
}
template <class A>
Batch<A> tanh(const Batch<A>& x) {
  return wide::tanh<A>(x);
}
/// Returns the sine of each lane: by vectors for moderate x, one by one with `exact` for lanes of many turns,
/// infinities and NaN. No lane depends on its neighbours.
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
using xsimd::log, xsimd::log1p, xsimd::tanh;

/// Computes lane by lane: xsimd chooses one algorithm for all lanes by the largest of them.
template <class A>
Batch<A> sin(const Batch<A>& x) {
  return one_by_one(x, [](A a) { return std::sin(a); });
}
template <class A>
Batch<A> cos(const Batch<A>& x) {
  return one_by_one(x, [](A a) { return std::cos(a); });
}

template <class A>
Batch<A> log1p_of_fraction(const Batch<A>& x) {
  return xsimd::log1p(x);
}
template <class A>
Batch<A> expm1(const Batch<A>& x) {
  return xsimd::select(x > Batch<A>(A(80)), exp(x), xsimd::expm1(x));
}
/// Computes lane by lane: with vectors, an error in the logarithm grows with a.
template <class A>
Batch<A> power_of_magnitude(const Batch<A>& x, const Batch<A>& a) {
  A bases[Batch<A>::size], exponents[Batch<A>::size];
  x.store_unaligned(bases), a.store_unaligned(exponents);
  for (std::size_t i = 0; i < Batch<A>::size; ++i) bases[i] = std::pow(std::abs(bases[i]), exponents[i]);
  return Batch<A>::load_unaligned(bases);
}
#endif

/// Computes doubles lane by lane: xsimd's function is off by 50 units in the last place, and converts numbers
/// to integers that cannot hold them.
template <class A>
Batch<A> erf(const Batch<A>& x) {
  if constexpr (std::is_same_v<A, float>) return xsimd::erf(x);
  else return one_by_one(x, [](A a) { return std::erf(a); });
}

/// Returns the standard normal distribution function.
template <class A>
Batch<A> normal_cdf(const Batch<A>& x) {
  return wide::normal_cdf<A>(x);
}

}  // namespace ktape::kernels::functions
