#pragma once
#include <ktape/ops/kernels/simd/vector.hpp>

#include <algorithm>

namespace ktape::kernels {

namespace detail {
#if defined(__AVX512F__)
inline __m128i sixteen_bytes(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
inline __m256i half_vector(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline __m512i widened(const std::uint8_t* p) { return _mm512_cvtepu8_epi32(sixteen_bytes(p)); }
inline __m512i widened(const std::int8_t* p) { return _mm512_cvtepi8_epi32(sixteen_bytes(p)); }
inline __m512i widened(const std::int16_t* p) { return _mm512_cvtepi16_epi32(half_vector(p)); }
inline __m512i widened(const std::int32_t* p) { return _mm512_cvtepi32_epi64(half_vector(p)); }
#endif
}  // namespace detail

/// Loads lanes<A> elements of T, at any alignment, as numbers of A: the compute type of T, or a wider integer
/// type (int32, or int64 for int32).
template <class A, class T>
Vec<A> load_as(const T* p) {
  if constexpr (std::is_same_v<A, compute_type<T>>) {
    return load(p);
  } else {
#if defined(__AVX512F__)
    if constexpr (vector_bytes == 64)
      return reinterpret_cast<Vec<A>>(detail::widened(reinterpret_cast<const compute_type<T>*>(p)));
#endif
    alignas(vector_bytes) A buffer[lanes<A>];
    for (int i = 0; i < lanes<A>; ++i) buffer[i] = element(p + i);
    return load(buffer);
  }
}

/// Loads the first n elements, 0 <= n <= lanes<A>, without touching memory after them; the other lanes are
/// the lanes of `fill`.
template <class A, class T>
Vec<A> load_partial_as(const T* p, std::int64_t n, Vec<A> fill) {
  if (n == lanes<A>) return load_as<A>(p);
  if constexpr (std::is_same_v<A, compute_type<T>>) {
    return load_partial(p, n, fill);
  } else {
    const auto some = load_partial(p, n, Vec<compute_type<T>>{});
    Vec<A> lane;
    for (int i = 0; i < lanes<A>; ++i) lane[i] = static_cast<A>(i);
    return lane < splat(static_cast<A>(n)) ? load_as<A>(reinterpret_cast<const T*>(&some)) : fill;
  }
}

}  // namespace ktape::kernels
