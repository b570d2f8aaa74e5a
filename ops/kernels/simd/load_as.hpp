#pragma once
#include <ktape/ops/kernels/simd/vector.hpp>

#include <algorithm>

namespace ktape::kernels {

/// Elements of A in one vector.
template <class A>
inline constexpr int lanes_of = vector_bytes / static_cast<int>(sizeof(A));

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

/// Loads lanes_of<A> elements of T, at any alignment, as numbers of A: the compute type of T, or of integers
/// int32, of int32 int64.
template <class A, class T>
Vec<A> load_as(const T* p) {
  if constexpr (std::is_same_v<A, compute_type<T>>) {
    return load(p);
  } else {
#if defined(__AVX512F__)
    if constexpr (vector_bytes == 64)
      return reinterpret_cast<Vec<A>>(detail::widened(reinterpret_cast<const compute_type<T>*>(p)));
#endif
    alignas(vector_bytes) A buffer[lanes_of<A>];
    for (int i = 0; i < lanes_of<A>; ++i) buffer[i] = element(p + i);
    return load(buffer);
  }
}

/// The first n elements, 0 <= n <= lanes_of<A>; the other lanes are those of `fill`. Memory behind them is
/// not touched.
template <class A, class T>
Vec<A> load_part_as(const T* p, std::int64_t n, Vec<A> fill) {
  if (n == lanes_of<A>) return load_as<A>(p);
  if constexpr (std::is_same_v<A, compute_type<T>>) {
    return load_partial(p, n, fill);
  } else {
    const auto some = load_partial(p, n, Vec<compute_type<T>>{});
    Vec<A> lane;
    for (int i = 0; i < lanes_of<A>; ++i) lane[i] = static_cast<A>(i);
    return lane < splat(static_cast<A>(n)) ? load_as<A>(reinterpret_cast<const T*>(&some)) : fill;
  }
}

/// Calls f(i, n) for the vectors of a run: n is the number of elements from i on, the constant W or, in the
/// last one, less.
template <int W, class F>
[[gnu::always_inline]] inline void in_vectors(std::int64_t size, const F& f) {
  std::int64_t i = 0;
  for (; i + W <= size; i += W) f(i, std::integral_constant<std::int64_t, W>());
  if (i < size) f(i, size - i);
}

/// Calls f(i, n, vectors) for the elements of each cache line that W of T to a vector fill, and for the rest
/// vector by vector: `vectors` is a constant, n as above that of each of them. For rows that a stride keeps
/// apart: where it is a multiple of a page few of them stay in the first cache until the next vector.
template <class T, int W, class F>
[[gnu::always_inline]] inline void in_lines(std::int64_t size, const F& f) {
  constexpr int vectors = std::max(1, 64 / static_cast<int>(W * sizeof(T)));
  constexpr std::integral_constant<int, 1> one;
  std::int64_t i = 0;
  for (; i + vectors * W <= size; i += vectors * W)
    f(i, std::integral_constant<std::int64_t, W>(), std::integral_constant<int, vectors>());
  in_vectors<W>(size - i, [&](std::int64_t j, auto n) { f(i + j, n, one); });
}

}  // namespace ktape::kernels
