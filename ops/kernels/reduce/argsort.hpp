#pragma once
#include <ktape/autograd/base/parallel.hpp>

#include <algorithm>
#include <vector>

namespace ktape::kernels {

/// Computes, for each of `rows` rows of n elements, the indices of the first k elements of the sorted row.
/// Indices count over all rows. The sort is stable; NaN is the largest element.
template <class T>
void argsort_rows(std::int64_t* indices, const T* x, std::int64_t rows, std::int64_t n, std::int64_t k,
                  bool descending) {
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
  parallel_for(rows, std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, n)),
               [=](std::int64_t begin, std::int64_t end) {
                 std::vector<Entry> entries(static_cast<std::size_t>(n));
                 for (std::int64_t row = begin; row < end; ++row) {
                   for (std::int64_t i = 0; i < n; ++i)
                     entries[static_cast<std::size_t>(i)] = {x[row * n + i], static_cast<std::int32_t>(i)};
                   if (k == n) std::sort(entries.begin(), entries.end(), before);
                   else std::partial_sort(entries.begin(), entries.begin() + k, entries.end(), before);
                   for (std::int64_t i = 0; i < k; ++i)
                     indices[row * k + i] = row * n + entries[static_cast<std::size_t>(i)].at;
                 }
               });
}

}  // namespace ktape::kernels
