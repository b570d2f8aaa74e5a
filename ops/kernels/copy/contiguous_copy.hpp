#pragma once
#include <ktape/ops/kernels/copy/transpose.hpp>

/// Consecutive elements, copied or made. U is the unsigned integer as wide as an element.
namespace ktape::kernels::detail {

template <class U, std::size_t... L>
Vec<U> reversed(Vec<U> v, std::index_sequence<L...>) {
  return __builtin_shufflevector(v, v, int(sizeof...(L) - 1 - L)...);
}

/// Whether `permuted` is a single instruction.
#if defined(__AVX512BW__) && defined(__AVX512VBMI__)
inline constexpr bool permutes_fast = vector_bytes == 64;
#else
inline constexpr bool permutes_fast = false;
#endif

/// Returns the elements of v at the indices, of which the lowest bits count.
template <class U>
Vec<U> permuted(Vec<U> v, Vec<U> index) {
#if defined(__AVX512BW__) && defined(__AVX512VBMI__)
  if constexpr (permutes_fast) {
    const auto bits = reinterpret_cast<__m512i>(v), at = reinterpret_cast<__m512i>(index);
    const auto cast = [](__m512i result) { return reinterpret_cast<Vec<U>>(result); };
    if constexpr (sizeof(U) == 1) return cast(_mm512_permutexvar_epi8(at, bits));
    else if constexpr (sizeof(U) == 2) return cast(_mm512_permutexvar_epi16(at, bits));
    else if constexpr (sizeof(U) == 4) return cast(_mm512_maskz_permutexvar_epi32(0xffff, at, bits));
    else return cast(_mm512_maskz_permutexvar_epi64(0xff, at, bits));
  }
#endif
  Vec<U> out;
  for (int i = 0; i < lanes<U>; ++i) out[i] = v[index[i] % lanes<U>];
  return out;
}

/// Writes n elements to out. `at(i, m)` returns a vector with the m elements from i on. Short runs use
/// non-temporal stores for whole cache lines only, since the lines at their ends belong to other runs, too.
template <class U, class F>
void write_run(U* out, std::int64_t n, bool non_temporal, const F& at) {
  constexpr std::int64_t w = lanes<U>;
  std::int64_t i = 0;
  if (non_temporal && (n >= 8 * w || streamable(out, n * sizeof(U)))) {
    const auto address = reinterpret_cast<std::uintptr_t>(out);
    if ((i = -address % vector_bytes / sizeof(U)) > 0) store_partial(out, at(0, i), i);
    if ((address + i * sizeof(U)) % vector_bytes == 0)
      for (; i + w <= n; i += w) stream(out + i, at(i, w));
  }
  for (; i + w <= n; i += w) store(out + i, at(i, w));
  if (i == n) return;
  if (n >= w && !non_temporal) store(out + n - w, at(n - w, w));
  else store_partial(out + i, at(i, n - i), n - i);
}

/// Copies `rows` runs of `bytes` < 64 bytes, each as two words that overlap: masked stores are slower.
inline void copy_short_runs(const void* in, std::int64_t in_step, void* out, std::int64_t out_step,
                            std::int64_t rows, std::int64_t bytes) {
  const auto words = [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
    auto from = static_cast<const char*>(in);
    auto to = static_cast<char*>(out);
    for (std::int64_t r = 0; r < rows; ++r, from += in_step, to += out_step) {
      char first[N], last[N];
      std::memcpy(first, from, N);
      std::memcpy(last, from + bytes - N, N);
      std::memcpy(to, first, N);
      std::memcpy(to + bytes - N, last, N);
    }
  };
  if (bytes >= 32) words(std::integral_constant<std::size_t, 32>());
  else if (bytes >= 16) words(std::integral_constant<std::size_t, 16>());
  else if (bytes >= 8) words(std::integral_constant<std::size_t, 8>());
  else if (bytes >= 4) words(std::integral_constant<std::size_t, 4>());
  else if (bytes >= 2) words(std::integral_constant<std::size_t, 2>());
  else if (bytes == 1) words(std::integral_constant<std::size_t, 1>());
}

/// Copies `rows` runs of n elements, where n is at least a vector: whole vectors, then a last vector that
/// overlaps the previous vector.
template <class U>
void copy_medium_runs(const U* in, std::int64_t in_step, U* out, std::int64_t out_step, std::int64_t rows,
                      std::int64_t n) {
  constexpr int w = lanes<U>;
  for (std::int64_t r = 0; r < rows; ++r, in += in_step, out += out_step) {
    for (std::int64_t i = 0; i < n - w; i += w) store(out + i, load(in + i));
    store(out + n - w, load(in + n - w));
  }
}

/// Copies `rows` runs of n elements, fewer than a vector holds, that follow one another in the output: with
/// non-temporal stores of whole lines, each assembled in a register. Runs are loaded G elements at a time; if
/// a run does not fit, the function calls itself with twice the G. Runs at a distance of `ahead` are
/// prefetched.
template <int G, class U>
void stream_short_runs(const U* in, std::int64_t in_step, std::int64_t ahead, U* out, std::int64_t rows,
                       std::int64_t n) {
  constexpr int w = lanes<U>, group = w / G;
  if constexpr (G < w)
    if (n > G) return stream_short_runs<2 * G>(in, in_step, ahead, out, rows, n);
  const auto copy = [&](std::int64_t count) {
    copy_short_runs(in, in_step * sizeof(U), out, n * sizeof(U), count, n * sizeof(U));
    in += count * in_step, out += count * n, rows -= count;
  };
  std::int64_t head = 0;
  while (head < w && !streamable(out + head * n, vector_bytes)) ++head;
  if (head == w || head >= rows) return copy(rows);
  copy(head);
  Vec<U> line{}, index, pack;  // for each element of a group: its lanes in line and group
  for (int i = 0; i < w; ++i) index[i] = static_cast<U>(i), pack[i] = static_cast<U>(i / n * G + i % n);
  const auto length = splat(static_cast<U>(group * n));
  std::int64_t filled = 0;
  for (; rows > group; rows -= group, in += group * in_step) {
    if (ahead != 0) prefetch_rows(in + ahead, in_step, group);
    const Vec<U> runs = permuted<U>(load_groups<w, G>(in, in_step), pack);
    line = index < length ? permuted<U>(runs, index) : line;
    if ((filled += group * n) >= w) {
      stream(out, line);
      out += w, filled -= w, index += static_cast<U>(w);
      line = index < length ? permuted<U>(runs, index) : line;
    }
    index -= length;
  }
  store_partial(out, line, filled);
  out += filled;
  copy(rows);
}

/// Copies n elements of in that are `step` apart to consecutive elements of out.
template <class U>
void copy_run(const U* in, std::int64_t step, U* out, std::int64_t n, bool non_temporal) {
  constexpr int w = lanes<U>;
  if (step == 1 && n < w) return copy_short_runs(in, 0, out, 0, 1, n * sizeof(U));
  if (step == 1)
    return write_run(out, n, non_temporal,
                     [&](std::int64_t i, std::int64_t m) { return load_partial(in + i, m); });
  if (step == 0)
    return write_run(out, n, non_temporal, [all = splat(element(in))](auto, auto) { return all; });
  constexpr auto all_lanes = std::make_index_sequence<w>();
  std::int64_t i = 0;
  if (step == -1)
    for (; i + w <= n; i += w) store(out + i, reversed<U>(load(in - i - w + 1), all_lanes));
  for (; i < n; ++i) std::memcpy(out + i, in + i * step, sizeof(U));
}

/// Writes `rows` runs of n copies of an element, run after run, in whole vectors: the next run overwrites the
/// elements that a run writes beyond its end.
template <class U>
void repeat_runs(const U* in, std::int64_t step, U* out, std::int64_t rows, std::int64_t n) {
  std::int64_t r = 0;
  if (n <= lanes<U>)
    for (; r * n + lanes<U> <= rows * n; ++r) store(out + r * n, splat(element(in + r * step)));
  for (; r < rows; ++r) copy_run(in + r * step, 0, out + r * n, n, false);
}

}  // namespace ktape::kernels::detail
