#pragma once
#include <cstdlib>
#include <string_view>

/// Returns whether oneDNN may use the instructions of AVX-512, without which oneDNN has no fast convolutions for few
/// channels: plans then leave these to the layers.
inline bool has_avx512() {
#if defined(__x86_64__)
  const char* const most = std::getenv("ONEDNN_MAX_CPU_ISA");
  const bool hidden = most && (std::string_view(most) == "AVX2" || std::string_view(most) == "SSE41");
  return !hidden && __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}
