#pragma once
#include <ktape/ops/kernels/simd/exp.hpp>

#include <cmath>

#if defined(__x86_64__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35)
#define KTAPE_LIBMVEC
#endif
#endif

/// The elementary functions of C for vectors, of libmvec, the vector library of glibc, or else of the C
/// library, lane by lane. The errors of libmvec are below 4 units in the last place.
namespace ktape::kernels::functions {

/// Applies f to each lane, one by one.
template <class A, class F>
Batch<A> one_by_one(const Batch<A>& x, F f) {
  A elements[Batch<A>::size];
  x.store_unaligned(elements);
  for (A& each : elements) each = static_cast<A>(f(each));
  return Batch<A>::load_unaligned(elements);
}

/// Applies f to each pair of lanes, one by one.
template <class A, class F>
Batch<A> pair_by_pair(const Batch<A>& x, const Batch<A>& y, F f) {
  A a[Batch<A>::size], b[Batch<A>::size];
  x.store_unaligned(a), y.store_unaligned(b);
  for (std::size_t i = 0; i < Batch<A>::size; ++i) a[i] = static_cast<A>(f(a[i], b[i]));
  return Batch<A>::load_unaligned(a);
}

namespace detail {
using HalfOfFloats = Vec<float, vector_bytes / 2>;
#if defined(__AVX512F__)
inline Vec<double> as_doubles(HalfOfFloats x) { return _mm512_cvtps_pd(x); }  // g++ 12 converts quarters
inline HalfOfFloats as_floats(Vec<double> x) { return _mm512_cvtpd_ps(x); }
#else
inline Vec<double> as_doubles(HalfOfFloats x) { return __builtin_convertvector(x, Vec<double>); }
inline HalfOfFloats as_floats(Vec<double> x) { return __builtin_convertvector(x, HalfOfFloats); }
#endif

template <class F, int... I, class... X>
Batch<float> through_doubles(F f, std::integer_sequence<int, I...>, X... x) {
  constexpr int half = sizeof...(I);
  const HalfOfFloats low = as_floats(f(as_doubles(__builtin_shufflevector(x, x, I...))...));
  const HalfOfFloats high = as_floats(f(as_doubles(__builtin_shufflevector(x, x, (half + I)...))...));
  return Vec<float>(__builtin_shufflevector(low, high, I..., (half + I)...));
}
}  // namespace detail

/// Applies f, a function of vectors of doubles, to floats: a result in double, rounded once, is off by half a unit.
template <class F, class... X>
Batch<float> through_doubles(F f, const X&... x) {
  return detail::through_doubles(f, std::make_integer_sequence<int, Batch<double>::size>(), Vec<float>(x)...);
}

#if defined(KTAPE_LIBMVEC)
// The name of a function in libmvec begins with the set of instructions (b SSE, c AVX, d AVX2, e AVX-512) and the
// number of lanes.
#if defined(__AVX512F__)
#define KTAPE_FLOATS "_ZGVeN16"
#define KTAPE_DOUBLES "_ZGVeN8"
#elif defined(__AVX2__)
#define KTAPE_FLOATS "_ZGVdN8"
#define KTAPE_DOUBLES "_ZGVdN4"
#elif defined(__AVX__)
#define KTAPE_FLOATS "_ZGVcN8"
#define KTAPE_DOUBLES "_ZGVcN4"
#else
#define KTAPE_FLOATS "_ZGVbN4"
#define KTAPE_DOUBLES "_ZGVbN2"
#endif
#define KTAPE_FUNCTION(name)                                                  \
  Vec<float> libmvec_##name(Vec<float>) __asm__(KTAPE_FLOATS "v_" #name "f"); \
  Vec<double> libmvec_##name(Vec<double>) __asm__(KTAPE_DOUBLES "v_" #name);  \
  template <class A>                                                          \
  Batch<A> name(const Batch<A>& x) {                                          \
    return libmvec_##name(Vec<A>(x));                                         \
  }
#define KTAPE_FUNCTION_BY_DOUBLES(name)                                                \
  Vec<double> libmvec_##name(Vec<double>) __asm__(KTAPE_DOUBLES "v_" #name);           \
  template <class A>                                                                   \
  Batch<A> name(const Batch<A>& x) {                                                   \
    if constexpr (std::is_same_v<A, float>) return through_doubles(libmvec_##name, x); \
    else return libmvec_##name(Vec<A>(x));                                             \
  }
#define KTAPE_FUNCTION_OF_TWO(name)                                                        \
  Vec<float> libmvec_##name(Vec<float>, Vec<float>) __asm__(KTAPE_FLOATS "vv_" #name "f"); \
  Vec<double> libmvec_##name(Vec<double>, Vec<double>) __asm__(KTAPE_DOUBLES "vv_" #name); \
  template <class A>                                                                       \
  Batch<A> name(const Batch<A>& x, const Batch<A>& y) {                                    \
    return libmvec_##name(Vec<A>(x), Vec<A>(y));                                           \
  }
#else
#define KTAPE_FUNCTION(name)                                      \
  template <class A>                                              \
  Batch<A> name(const Batch<A>& x) {                              \
    return one_by_one(x, [](A each) { return std::name(each); }); \
  }
#define KTAPE_FUNCTION_BY_DOUBLES KTAPE_FUNCTION
#define KTAPE_FUNCTION_OF_TWO(name)                                      \
  template <class A>                                                     \
  Batch<A> name(const Batch<A>& x, const Batch<A>& y) {                  \
    return pair_by_pair(x, y, [](A a, A b) { return std::name(a, b); }); \
  }
#endif

KTAPE_FUNCTION_BY_DOUBLES(acos)
KTAPE_FUNCTION_BY_DOUBLES(acosh)
KTAPE_FUNCTION_BY_DOUBLES(asin)
KTAPE_FUNCTION_BY_DOUBLES(asinh)
KTAPE_FUNCTION(atanh)
KTAPE_FUNCTION_BY_DOUBLES(cbrt)
KTAPE_FUNCTION_BY_DOUBLES(cosh)
KTAPE_FUNCTION(erfc)
KTAPE_FUNCTION(exp2)
KTAPE_FUNCTION_BY_DOUBLES(log10)
KTAPE_FUNCTION_BY_DOUBLES(log2)
KTAPE_FUNCTION(sinh)
KTAPE_FUNCTION_BY_DOUBLES(tan)
KTAPE_FUNCTION_OF_TWO(atan2)
KTAPE_FUNCTION_OF_TWO(hypot)
KTAPE_FUNCTION_OF_TWO(pow)
KTAPE_FUNCTION_BY_DOUBLES(erf)
#if defined(KTAPE_LIBMVEC)
KTAPE_FUNCTION_BY_DOUBLES(atan)
#else
using xsimd::atan;
#endif

// math.hpp has these functions where products and sums are rounded once, or with AVX-512.
#if !defined(KTAPE_FUSED)
KTAPE_FUNCTION(cos)
KTAPE_FUNCTION(sin)
#endif
#if !defined(__AVX512F__)
#if defined(KTAPE_LIBMVEC)
KTAPE_FUNCTION(expm1)
KTAPE_FUNCTION(log1p)
#else
using xsimd::log1p;
template <class A>
Batch<A> expm1(const Batch<A>& x) {
  return xsimd::select(x > Batch<A>(A(80)), xsimd::exp(x), xsimd::expm1(x));
}
#endif
#endif

#undef KTAPE_FUNCTION
#undef KTAPE_FUNCTION_BY_DOUBLES
#undef KTAPE_FUNCTION_OF_TWO
#undef KTAPE_FLOATS
#undef KTAPE_DOUBLES

}  // namespace ktape::kernels::functions
