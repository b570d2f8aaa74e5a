#pragma once
#include <ktape/ops/kernels/copy/contiguous_copy.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>

/// Rows picked by index. Index is int32_t or int64_t; the caller has checked that every index is in range.
namespace ktape::kernels {
namespace detail {

/// Copies one run of bytes.
inline void copy_bytes(const void* in, void* out, std::int64_t bytes) {
  copy_run(static_cast<const std::uint8_t*>(in), 1, static_cast<std::uint8_t*>(out), bytes, false);
}

/// out[j] += in[j] for j < n.
template <class T>
void add_run(const T* in, T* out, std::int64_t n) {
  constexpr int w = lanes<T>;
  std::int64_t j = 0;
  for (; j + w <= n; j += w) store(out + j, load(out + j) + load(in + j));
  for (; j < n; ++j) out[j] = static_cast<T>(element(out + j) + element(in + j));
}

/// Adds rows to the rows of `out` that the indices name. Threads divide the columns of wide rows, which is
/// balanced even when all rows have one destination; for narrow rows, threads divide the destinations. In
/// both cases each destination receives its rows in order.
template <class T, class Index>
void scatter_add(T* out, const Index* indices, const T* in, std::int64_t count, std::int64_t width,
                 std::int64_t rows) {
  constexpr std::int64_t strip = 256 / sizeof(T);
  const auto add = [=](std::int64_t i, std::int64_t first, std::int64_t n) {
    add_run(in + i * width + first, out + std::int64_t{indices[i]} * width + first, n);
  };
  const auto add_columns = [=](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * strip, n = std::min(width, end * strip) - first;
    for (std::int64_t i = 0; i < count; ++i) add(i, first, n);
  };
  const auto add_to_rows = [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < count; ++i)
      if (indices[i] >= begin && indices[i] < end) add(i, 0, width);
  };
  if (width >= 2 * strip) parallel_rows((width + strip - 1) / strip, count * strip, add_columns);
  else if (rows > 0) parallel_rows(rows, count * width / rows, add_to_rows);
}

}  // namespace detail

/// out[o, i, :] = in[o, indices[i], :] for o < outer, i < count, where a row has `row_bytes` bytes and in has
/// `axis` rows for every o.
template <class Index>
void gather_rows(void* out, const void* in, const Index* indices, std::int64_t outer, std::int64_t axis,
                 std::int64_t count, std::int64_t row_bytes) {
  const char* from = static_cast<const char*>(in);
  char* to = static_cast<char*>(out);
  parallel_rows(outer * count, row_bytes / 4 + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin / std::max<std::int64_t>(1, count); begin < end; ++o) {
      const std::int64_t last = std::min(end, (o + 1) * count);
      for (; begin < last; ++begin)
        detail::copy_bytes(from + (o * axis + indices[begin - o * count]) * row_bytes, to + begin * row_bytes,
                           row_bytes);
    }
  });
}

/// out[o, indices[i], :] += in[o, i, :] for o < outer and i = 0, ..., count - 1 in this order, whatever the
/// number of threads. Rows have `width` elements, and out has `axis` rows for every o. Integers wrap around;
/// T is not bool.
template <class T, class Index>
void scatter_add_rows(T* out, const Index* indices, const T* in, std::int64_t outer, std::int64_t axis,
                      std::int64_t count, std::int64_t width) {
  static_assert(!std::is_same_v<T, bool>, "bool has no sum");
  using U = std::conditional_t<std::is_integral_v<T>, bits_of<T>, T>;
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o)
      detail::scatter_add(reinterpret_cast<U*>(out) + o * axis * width, indices,
                          reinterpret_cast<const U*>(in) + o * count * width, count, width, axis);
  };
  if (outer < 16) run(0, outer);
  else parallel_rows(outer, count * width, run);
}

}  // namespace ktape::kernels
