#pragma once
#include <ktape/autograd/dtype.hpp>
#include <ktape/autograd/parallel.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

/// Rows picked by number, added up by number, and put in order.
namespace ktape::kernels {
namespace detail {

template <class U>
void pick_elements(U* out, const U* in, const std::int64_t* rows, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) out[i] = in[rows[i]];
}

}  // namespace detail

/// Row i of out is row rows[i] of in; rows have `bytes` bytes.
inline void pick_rows(void* out, const void* in, const std::int64_t* rows, std::int64_t n, std::int64_t bytes) {
  if (bytes == 0) return;
  const std::int64_t grain = std::max<std::int64_t>(1, 131072 / bytes);
  parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
    if (bytes == 4) return detail::pick_elements(static_cast<std::uint32_t*>(out), static_cast<const std::uint32_t*>(in), rows, begin, end);
    if (bytes == 8) return detail::pick_elements(static_cast<std::uint64_t*>(out), static_cast<const std::uint64_t*>(in), rows, begin, end);
    for (std::int64_t i = begin; i < end; ++i)
      std::memcpy(static_cast<char*>(out) + i * bytes, static_cast<const char*>(in) + rows[i] * bytes, static_cast<std::size_t>(bytes));
  });
}

/// out[rows[i]] += x[i] for rows of `inner` elements, in the order of i. Each thread owns a range of out's rows.
template <class T>
void add_rows(T* out, std::int64_t out_rows, const T* x, const std::int64_t* rows, std::int64_t n, std::int64_t inner) {
  const auto range = [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (rows[i] < begin || rows[i] >= end) continue;
      T* to = out + rows[i] * inner;
      const T* from = x + i * inner;
      for (std::int64_t j = 0; j < inner; ++j) to[j] = static_cast<T>(to[j] + from[j]);
    }
  };
  if (n * inner < 32768) return range(0, out_rows);
  parallel_for(out_rows, 64, range);
}

/// For each of `rows` rows of n elements, the places (counted over all rows) of its first k elements in order. Equal elements
/// stay in order; NaN is the largest.
template <class T>
void rank_rows(std::int64_t* places, const T* x, std::int64_t rows, std::int64_t n, std::int64_t k, bool descending) {
  struct Entry {
    T value;
    std::int32_t at;
  };
  const auto less = [](T a, T b) { return a < b || (b != b && a == a); };
  const auto before = [=](const Entry& a, const Entry& b) {
    const bool ahead = descending ? less(b.value, a.value) : less(a.value, b.value);
    const bool behind = descending ? less(a.value, b.value) : less(b.value, a.value);
    return ahead || (!behind && a.at < b.at);
  };
  parallel_for(rows, std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, n)), [=](std::int64_t begin, std::int64_t end) {
    std::vector<Entry> entries(static_cast<std::size_t>(n));
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t i = 0; i < n; ++i) entries[static_cast<std::size_t>(i)] = {x[row * n + i], static_cast<std::int32_t>(i)};
      if (k == n) std::sort(entries.begin(), entries.end(), before);
      else std::partial_sort(entries.begin(), entries.begin() + k, entries.end(), before);
      for (std::int64_t i = 0; i < k; ++i) places[row * k + i] = row * n + entries[static_cast<std::size_t>(i)].at;
    }
  });
}

}  // namespace ktape::kernels
