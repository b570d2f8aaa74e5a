#pragma once
#include <ktape/autograd/base/dtype.hpp>

#include <xsimd/xsimd.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ktape::kernels {

/// The size in bytes of the widest vector for which this source is compiled.
inline constexpr int vector_bytes = sizeof(xsimd::batch<float>);

namespace detail {
template <class T, int Bytes>
struct VecOf {
  typedef T type __attribute__((vector_size(Bytes)));
};
}  // namespace detail

/// A hardware vector of T with the operators of the language, lane by lane. Works for every arithmetic type
/// but bool.
template <class T, int Bytes = vector_bytes>
using Vec = typename detail::VecOf<T, Bytes>::type;

/// A vector of A as the class of xsimd, whose functions (abs, select, ...) generic lambdas call. Converts from and
/// to Vec<A>.
template <class A>
using Batch = xsimd::batch<A>;

/// The unsigned integer as wide as T.
template <class T>
using bits_of =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// The type in which elements of T are computed: T itself, bytes for bool.
template <class T>
using compute_type = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

/// The number of elements of T in one vector of its compute type.
template <class T>
inline constexpr int lanes = vector_bytes / sizeof(compute_type<T>);

template <class T>
Vec<T> splat(T value) {
  return value - Vec<T>{};
}

/// Returns the element at p in its compute type. Like all loads of this file, `element` may read p through an
/// integer type of the same size.
template <class T>
compute_type<T> element(const T* p) {
  std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T> x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

/// Loads lanes<T> elements, at any alignment, in the compute type.
template <class T>
Vec<compute_type<T>> load(const T* p) {
  Vec<compute_type<T>> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// Keeps a vector that several instructions read in a register: g++ would let each of them load it again.
template <class A>
void keep_in_register([[maybe_unused]] Vec<A>& x) {
#if defined(__x86_64__)
  asm("" : "+v"(x));
#endif
}

/// Stores lanes<T> elements at any alignment.
template <class T>
void store(T* p, Vec<compute_type<T>> v) {
  std::memcpy(static_cast<void*>(p), &v, sizeof v);
}

/// Loads the first n elements, 0 <= n <= lanes<T>, without touching memory after them; the other lanes are
/// the lanes of `fill`.
template <class T>
Vec<compute_type<T>> load_partial(const T* p, std::int64_t n,
                                  Vec<compute_type<T>> fill = Vec<compute_type<T>>{}) {
  if (n == lanes<T>) return load(p);
#if defined(__AVX512BW__)
  if constexpr (vector_bytes == 64) {
    const std::uint64_t mask = (std::uint64_t{1} << n) - 1;
    const auto old = reinterpret_cast<__m512i>(fill);
    const auto cast = [](__m512i bits) { return reinterpret_cast<Vec<compute_type<T>>>(bits); };
    if constexpr (sizeof(T) == 1) return cast(_mm512_mask_loadu_epi8(old, mask, p));
    else if constexpr (sizeof(T) == 2) return cast(_mm512_mask_loadu_epi16(old, __mmask32(mask), p));
    else if constexpr (sizeof(T) == 4) return cast(_mm512_mask_loadu_epi32(old, __mmask16(mask), p));
    else return cast(_mm512_mask_loadu_epi64(old, __mmask8(mask), p));
  }
#endif
  alignas(vector_bytes) compute_type<T> buffer[lanes<T>];
  std::memcpy(buffer, &fill, sizeof fill);
  for (std::int64_t i = 0; i < n; ++i) buffer[i] = element(p + i);
  return load<compute_type<T>>(buffer);
}

/// Stores the first n <= lanes<T> lanes without touching memory after them.
template <class T>
void store_partial(T* p, Vec<compute_type<T>> v, std::int64_t n) {
  if (n == lanes<T>) return store(p, v);
#if defined(__AVX512BW__)
  if constexpr (vector_bytes == 64) {
    const std::uint64_t mask = (std::uint64_t{1} << n) - 1;
    const auto bits = reinterpret_cast<__m512i>(v);
    if constexpr (sizeof(T) == 1) return _mm512_mask_storeu_epi8(p, mask, bits);
    else if constexpr (sizeof(T) == 2) return _mm512_mask_storeu_epi16(p, __mmask32(mask), bits);
    else if constexpr (sizeof(T) == 4) return _mm512_mask_storeu_epi32(p, __mmask16(mask), bits);
    else return _mm512_mask_storeu_epi64(p, __mmask8(mask), bits);
  }
#endif
  for (std::int64_t i = 0; i < n; ++i) p[i] = static_cast<T>(v[i]);
}

/// Results above this many bytes are written with non-temporal stores: the results would be evicted anyway,
/// and a cache line that is written whole need not be read first. Smaller results are still in the caches
/// when the next op reads them: a permutation of 3 MB alone is a fifth faster with non-temporal stores, but a
/// permutation followed by a sum takes twice as long.
inline constexpr std::int64_t streaming_bytes = std::int64_t{8} << 20;

/// Returns whether p and all addresses at multiples of `step` bytes from p are aligned as `stream` requires.
inline bool streamable(const void* p, std::int64_t step) {
  return reinterpret_cast<std::uintptr_t>(p) % vector_bytes == 0 && step % vector_bytes == 0;
}

/// Stores a vector with a non-temporal store. p must be aligned to the vector; `stream_fence()` must run
/// before another thread reads the vector.
template <class V>
void stream(void* p, V v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64)
    return _mm512_stream_si512(static_cast<__m512i*>(p), reinterpret_cast<__m512i>(v));
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32)
    return _mm256_stream_si256(static_cast<__m256i*>(p), reinterpret_cast<__m256i>(v));
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(V) == 16)
    return _mm_stream_si128(static_cast<__m128i*>(p), reinterpret_cast<__m128i>(v));
#endif
  std::memcpy(p, &v, sizeof v);
}
inline void stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// Prefetches a cache line of each of `n` rows, a stride apart, from p on: the hardware does not prefetch
/// across pages. (Inlined, because GCC drops calls that only do this.)
template <class T>
[[gnu::always_inline]] inline void prefetch_rows(const T* p, std::int64_t stride, int n) {
  for (int i = 0; i < n; ++i) __builtin_prefetch(p + i * stride, 0, 2);
}

/// Prefetches the memory 8 kB after the n elements from p on, for loops over short rows, whose work between
/// two cache lines is too much for the prefetching of the hardware.
template <class T>
[[gnu::always_inline]] inline void prefetch_following(const T* p, std::int64_t n) {
  constexpr std::int64_t line = 64 / sizeof(T), distance = 8192 / sizeof(T);
  for (std::int64_t i = 0; i < n; i += line) __builtin_prefetch(p + distance + i);
}

/// Returns the prefetch distance of a loop that reads `elements` at a time: a multiple of `elements`, at
/// least 16 kB.
template <class T>
std::int64_t prefetch_distance(std::int64_t elements) {
  constexpr std::int64_t least = 16384 / sizeof(T);
  return (least + elements - 1) / elements * elements;
}

namespace detail {
template <int H, class V, std::size_t... L>
V moved_down(V v, std::index_sequence<L...>) {
  return __builtin_shufflevector(v, v, int(L ^ H)...);
}
/// Combines each lane of v with the lane at a distance of H, then H / 2 and so on.
template <int H, class V, class F>
V fold_within(V v, const F& combine) {
  v = combine(v, moved_down<H>(v, std::make_index_sequence<sizeof(V) / sizeof(v[0])>()));
  if constexpr (H > 1) return fold_within<H / 2>(v, combine);
  return v;
}
}  // namespace detail

/// Returns the reduction of all lanes of v by `combine`, pairwise.
template <class T, class V, class F>
T fold_lanes(V v, const F& combine) {
  if constexpr (sizeof(V) <= 16) {
    return detail::fold_within<sizeof(V) / sizeof(T) / 2>(v, combine)[0];
  } else {
    Vec<T, sizeof(V) / 2> half[2];
    std::memcpy(half, &v, sizeof v);
    return fold_lanes<T>(combine(half[0], half[1]), combine);
  }
}

/// Calls f(i, n) for the vectors of `size` elements of A: n is the number of elements in the vector, the
/// constant lanes<A> or, for the last vector, less.
template <class A, class F>
[[gnu::always_inline]] inline void for_vectors(std::int64_t size, const F& f) {
  constexpr std::integral_constant<std::int64_t, lanes<A>> all;
  std::int64_t i = 0;
  for (; i + all <= size; i += all) f(i, all);
  if (i < size) f(i, size - i);
}

/// Calls f(i, vectors, n) for V whole vectors at a time as long as V are left, then for single vectors:
/// `vectors` is a compile-time constant, n the number of elements of each vector.
template <class A, int V, class F>
[[gnu::always_inline]] inline void for_vector_groups(std::int64_t size, const F& f) {
  constexpr std::integral_constant<std::int64_t, lanes<A>> all;
  std::int64_t i = 0;
  for (; i + V * all <= size; i += V * all) f(i, std::integral_constant<int, V>(), all);
  for_vectors<A>(size - i, [&](std::int64_t j, auto n) { f(i + j, std::integral_constant<int, 1>(), n); });
}

/// Returns `size` rounded up to whole vectors.
template <class A>
std::int64_t padded(std::int64_t size) {
  return (size + lanes<A> - 1) / lanes<A> * lanes<A>;
}

}  // namespace ktape::kernels
