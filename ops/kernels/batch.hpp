#pragma once
#include <ktape/ops/kernels/simd.hpp>

/// xsimd vectors of the floating element types, for generic lambdas: float and double as they are, float16 as float. Elements
/// of other types are computed one by one, in loops that the compiler vectorizes.
namespace ktape::kernels {

template <class T>
inline constexpr bool vectorized = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, float16>;

/// The type of a lambda's argument: unlike `compute_type`, bool stays bool.
template <class T>
using compute_t = std::conditional_t<std::is_same_v<T, float16>, float, T>;

template <class T>
using batch_t = xsimd::batch<compute_t<T>>;

template <class T>
inline constexpr std::int64_t width = static_cast<std::int64_t>(batch_t<T>::size);

template <class T>
batch_t<T> load_batch(const T* from) {
  if constexpr (!std::is_same_v<T, float16>) {
    return batch_t<T>::load_unaligned(from);
  } else {
    alignas(vector_bytes) float buffer[width<T>];
    for (int i = 0; i < width<T>; ++i) buffer[i] = to_float(from[i]);
    return batch_t<T>::load_aligned(buffer);
  }
}

template <class T>
void store_batch(T* to, const batch_t<T>& value) {
  if constexpr (!std::is_same_v<T, float16>) {
    value.store_unaligned(to);
  } else {
    alignas(vector_bytes) float buffer[width<T>];
    value.store_aligned(buffer);
    for (int i = 0; i < width<T>; ++i) to[i] = to_half(buffer[i]);
  }
}

/// The first n elements (n < width) of a row that must not be read further; the rest is zero.
template <class T>
batch_t<T> load_batch_part(const T* from, std::int64_t n) {
  T buffer[width<T>] = {};
  std::memcpy(static_cast<void*>(buffer), from, static_cast<std::size_t>(n) * sizeof(T));
  return load_batch(buffer);
}

template <class T>
void store_batch_part(T* to, const batch_t<T>& value, std::int64_t n) {
  T buffer[width<T>];
  store_batch(buffer, value);
  std::memcpy(static_cast<void*>(to), buffer, static_cast<std::size_t>(n) * sizeof(T));
}

}  // namespace ktape::kernels
