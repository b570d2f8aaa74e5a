#pragma once

/// Returns whether the processor has the instructions of AVX-512, without which oneDNN has no fast convolutions
/// for few channels: plans then leave these to the layers.
inline bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}
