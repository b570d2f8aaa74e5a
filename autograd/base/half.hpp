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
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#endif
  for (; i < n; ++i) to[i] = from[i];
}
inline void narrow(std::int64_t n, const float* from, float16* to) {
  std::int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < n; ++i) to[i] = float16(from[i]);
}

}  // namespace ktape
