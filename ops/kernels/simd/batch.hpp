#pragma once
#include <ktape/ops/kernels/simd/vector.hpp>

/// xsimd vectors of the floating element types, for generic lambdas: float and double as they are, float16 as
/// float. Elements of other types are computed one by one, in loops that the compiler vectorizes.
namespace ktape::kernels {

template <class T>
inline constexpr bool vectorized =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, float16>;

/// The type of a lambda's argument: unlike `compute_type`, bool stays bool.
template <class T>
using compute_t = std::conditional_t<std::is_same_v<T, float16>, float, T>;

template <class T>
using batch_t = xsimd::batch<compute_t<T>>;

template <class T>
batch_t<T> load_batch(const T* from) {
  return load(from);
}

template <class T>
requires vectorized<T>
void store_batch(T* to, const batch_t<T>& value) { store(to, static_cast<Vec<compute_t<T>>>(value)); }

/// Stores a condition as bools, one for each lane.
template <class A>
void store_batch(bool* to, const xsimd::batch_bool<A>& condition) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  if constexpr (vector_bytes == 64) {
    const __m128i flags = _mm_maskz_set1_epi8(condition.data, 1);
    std::memcpy(static_cast<void*>(to), &flags, lanes<A>);
    return;
  }
#endif
  bits_of<A> flags[lanes<A>];
  const auto ones = select(condition, xsimd::batch<A>(A{1}), xsimd::batch<A>(A{0}));
  std::memcpy(flags, &ones, sizeof flags);
  for (int i = 0; i < lanes<A>; ++i) to[i] = flags[i] != 0;
}

/// Loads the first n <= lanes elements.
template <class T>
batch_t<T> load_batch(const T* from, std::int64_t n) {
  return load_partial(from, n);
}
template <class R, class B>
void store_batch(R* to, const B& value, std::int64_t n) {
  R buffer[B::size];
  store_batch(buffer, value);
  std::memcpy(static_cast<void*>(to), buffer, static_cast<std::size_t>(n) * sizeof(R));
}

}  // namespace ktape::kernels
