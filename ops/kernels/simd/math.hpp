#pragma once
#include <ktape/ops/kernels/simd/elementary_functions.hpp>

/// Elementary functions for generic lambdas on vectors: with AVX-512 our own, else xsimd's.
namespace ktape::kernels::functions {

template <class A>
using Batch = xsimd::batch<A>;

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
/// log(1 + x) for 0 <= x <= 1.
template <class A>
Batch<A> log1p_of_fraction(const Batch<A>& x) {
  return wide::log1p_of_fraction<A>(x);
}
template <class A>
Batch<A> tanh(const Batch<A>& x) {
  return wide::tanh<A>(x);
}
template <class A>
Batch<A> sin(const Batch<A>& x) {
  return wide::few_turns<A>(x) ? Batch<A>(wide::sine<A>(x, 0)) : xsimd::sin(x);
}
template <class A>
Batch<A> cos(const Batch<A>& x) {
  return wide::few_turns<A>(x) ? Batch<A>(wide::sine<A>(x, 1)) : xsimd::cos(x);
}
/// |x|^a, without C's results for x = 1 and a = 0 where the other is not finite.
template <class A>
Batch<A> power_of_magnitude(const Batch<A>& x, const Batch<A>& a) {
  return wide::power_of_magnitude<A>(x, a);
}
#else
using xsimd::cos, xsimd::log, xsimd::log1p, xsimd::sin, xsimd::tanh;

template <class A>
Batch<A> log1p_of_fraction(const Batch<A>& x) {
  return xsimd::log1p(x);
}
template <class A>
Batch<A> expm1(const Batch<A>& x) {
  return xsimd::select(x > Batch<A>(A(80)), exp(x), xsimd::expm1(x));
}
/// One by one: an error in the logarithm grows with a.
template <class A>
Batch<A> power_of_magnitude(const Batch<A>& x, const Batch<A>& a) {
  A bases[Batch<A>::size], exponents[Batch<A>::size];
  x.store_unaligned(bases), a.store_unaligned(exponents);
  for (std::size_t i = 0; i < Batch<A>::size; ++i) bases[i] = std::pow(std::abs(bases[i]), exponents[i]);
  return Batch<A>::load_unaligned(bases);
}
#endif

/// In double one by one: xsimd's is off by 50 units in the last place, and converts numbers to integers that
/// do not hold them.
template <class A>
Batch<A> erf(const Batch<A>& x) {
  if constexpr (std::is_same_v<A, float>) return xsimd::erf(x);
  A elements[Batch<A>::size];
  x.store_unaligned(elements);
  for (A& each : elements) each = std::erf(each);
  return Batch<A>::load_unaligned(elements);
}

/// The standard normal distribution function.
template <class A>
Batch<A> normal_cdf(const Batch<A>& x) {
  return wide::normal_cdf<A>(x);
}

}  // namespace ktape::kernels::functions
