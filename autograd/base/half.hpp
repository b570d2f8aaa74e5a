#pragma once
#include <ktape/autograd/base/dtype.hpp>

#include <cstdint>
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace ktape {

/// Converts half precision numbers to floats, and rounds floats to half precision; several numbers at a time
/// where the processor can. Internal: sources only.
inline void widen(std::int64_t n, const float16* from, float* to) {
  std::int64_t i = 0;
#if defined(__AVX512F__) && defined(__F16C__)
#pragma GCC unroll 4
  for (; i + 16 <= n; i += 16)
    _mm512_storeu_ps(to + i, _mm512_maskz_cvtph_ps(
                                 0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i))));
#endif
#if defined(__F16C__)
#pragma GCC unroll 4
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#endif
  for (; i < n; ++i) to[i] = from[i];
}
inline void narrow(std::int64_t n, const float* from, float16* to) {
  std::int64_t i = 0;
#if defined(__AVX512F__) && defined(__F16C__)
#pragma GCC unroll 4
  for (; i + 16 <= n; i += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
#if defined(__F16C__)
#pragma GCC unroll 4
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < n; ++i) to[i] = float16(from[i]);
}

// The compiler makes vectors of these loops. The instruction that rounds to bfloat16 is of no use, because it
// takes subnormal numbers for 0.
inline void widen(std::int64_t n, const bfloat16* from, float* to) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
}
inline void narrow(std::int64_t n, const float* from, bfloat16* to) {
  auto* const bits = reinterpret_cast<std::uint16_t*>(to);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) bits[i] = bfloat16(from[i]).bits();
}

/// Converts from and to the numbers of a half precision dtype.
inline void widen(std::int64_t n, DType half, const void* from, float* to) {
  if (half == DType::BFloat16) widen(n, static_cast<const bfloat16*>(from), to);
  else widen(n, static_cast<const float16*>(from), to);
}
inline void narrow(std::int64_t n, const float* from, DType half, void* to) {
  if (half == DType::BFloat16) narrow(n, from, static_cast<bfloat16*>(to));
  else narrow(n, from, static_cast<float16*>(to));
}

}  // namespace ktape
