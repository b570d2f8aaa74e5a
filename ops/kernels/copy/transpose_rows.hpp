#pragma once
#include <ktape/ops/kernels/copy/contiguous_copy.hpp>
#include <ktape/ops/kernels/copy/transpose.hpp>
#include <ktape/ops/kernels/simd/load_as.hpp>

#include <algorithm>
#include <bit>

/// Many short rows turned into columns, in registers, so that what is done to each of them can be done to a
/// vector of them.
namespace ktape::kernels {
namespace detail {

template <int First, class V, std::size_t... L>
V every_second(V a, V b, std::index_sequence<L...>) {
  return __builtin_shufflevector(a, b, int(2 * L + First)...);
}

/// v[k] = the elements k, k + G, k + 2 G... of the G vectors in a row.
template <int G, class V>
[[gnu::always_inline]] inline void separate(V* v) {
  if constexpr (G > 1) {
    constexpr auto lanes = std::make_index_sequence<sizeof(V) / sizeof(v[0][0])>();
    V even[G / 2], odd[G / 2];
#pragma GCC unroll 32
    for (int i = 0; i < G / 2; ++i) {
      even[i] = every_second<0>(v[2 * i], v[2 * i + 1], lanes);
      odd[i] = every_second<1>(v[2 * i], v[2 * i + 1], lanes);
    }
    separate<G / 2>(even), separate<G / 2>(odd);
#pragma GCC unroll 32
    for (int i = 0; i < G / 2; ++i) v[2 * i] = even[i], v[2 * i + 1] = odd[i];
  }
}

/// Separates the vectors at(0) ... at(G - 1) and stores the results.
template <int G, class A, class At>
[[gnu::always_inline]] inline void separate_to(A* out, std::int64_t stride, const At& at) {
  Vec<bits_of<A>> v[G];
#pragma GCC unroll 64
  for (int i = 0; i < G; ++i) v[i] = reinterpret_cast<Vec<bits_of<A>>>(at(i));
  separate<G>(v);
#pragma GCC unroll 64
  for (int k = 0; k < G; ++k, out += stride) std::memcpy(out, &v[k], sizeof v[k]);
}

/// Rows of n <= G elements: vectors of whole rows, each padded to G. `held` rows are in a vector.
template <int G, class A, class T>
void transpose_narrow(const T* in, std::int64_t rows, std::int64_t n, A* out, std::int64_t stride,
                      std::int64_t readable) {
  constexpr int w = lanes_of<A>, held = w / G;
  Vec<bits_of<A>> places;
  for (int i = 0; i < w; ++i) places[i] = static_cast<bits_of<A>>(i / G * n + i % G);
  T last[(w - held) * G + w];
  for (std::int64_t r = 0; r < rows; r += w) {
    const T* from = in + r * n;
    const std::int64_t reach = (w - held) * n + w, left = readable - r * n;
    if (left < reach) std::memcpy(static_cast<void*>(last), from, left * sizeof(T)), from = last;
    separate_to<G>(out + r, stride, [&](int i) {
      return permuted<bits_of<A>>(reinterpret_cast<Vec<bits_of<A>>>(load_as<A>(from + i * held * n)), places);
    });
  }
}

/// Rows of any length, a vector of columns at a time.
template <class A, class T>
void transpose_wide(const T* in, std::int64_t rows, std::int64_t n, A* out, std::int64_t stride,
                    std::int64_t readable) {
  using U = bits_of<A>;
  constexpr int w = lanes_of<A>, g = group_size<U>;
  const std::int64_t ahead = prefetch_distance<T>(w * n);
  T last[w * w];
  for (std::int64_t r = 0; r < rows; r += w)
    for (std::int64_t c = 0; c < n; c += w) {
      const T* from = in + r * n + c;
      std::int64_t step = n;
      if (readable < (r + w - 1) * n + c + w) {
        for (std::int64_t i = 0; i < std::min<std::int64_t>(w, rows - r); ++i)
          std::memcpy(static_cast<void*>(last + i * w), from + i * n,
                      std::min<std::int64_t>(w, n - c) * sizeof(T));
        from = last, step = w;
      }
      prefetch_rows(in + r * n + c + ahead, n, w);
      alignas(64) A computed[w * w];
      if constexpr (!std::is_same_v<A, T>) {
        for (int i = 0; i < w; ++i) store(computed + i * w, load_as<A>(from + i * step));
        step = w;
      }
      const void* const elements = std::is_same_v<A, T> ? static_cast<const void*>(from) : computed;
      for (std::int64_t k = 0; k < std::min<std::int64_t>(w, n - c); k += g)
        transpose_block<w, g>(static_cast<const U*>(elements) + k, step,
                              reinterpret_cast<U*>(out) + (c + k) * stride + r, stride, false);
    }
}

}  // namespace detail

/// Columns that transpose_rows writes for rows of n elements: those behind hold nothing of use.
template <class A>
std::int64_t transposed_columns(std::int64_t n) {
  constexpr std::int64_t g = detail::group_size<bits_of<A>>;
  if (n > g) return (n + g - 1) / g * g;
  return std::max<std::int64_t>(2, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n))));
}

/// out[k * stride + r] = in[r * n + k] for r < rows, k < n. Whole vectors are written: `stride` must have
/// room for `rows` rounded up to them. `readable` elements may be read from `in` on.
template <class A, class T>
[[gnu::noinline]] void transpose_rows(const T* in, std::int64_t rows, std::int64_t n, A* out,
                                      std::int64_t stride, std::int64_t readable) {
  const auto narrow = [&]<int G>(std::integral_constant<int, G>) {
    if constexpr (G <= detail::group_size<bits_of<A>>)
      detail::transpose_narrow<G>(in, rows, n, out, stride, readable);
  };
  if (n > detail::group_size<bits_of<A>>) return detail::transpose_wide(in, rows, n, out, stride, readable);
  switch (transposed_columns<A>(n)) {
    case 2:
      return narrow(std::integral_constant<int, 2>());
    case 4:
      return narrow(std::integral_constant<int, 4>());
    case 8:
      return narrow(std::integral_constant<int, 8>());
    default:
      return narrow(std::integral_constant<int, 16>());
  }
}

}  // namespace ktape::kernels
