#pragma once
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/ops/kernels/reduce/sort_key.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace ktape::kernels {

/// The positions of the first k elements of sorted rows of n elements. Rows of some length are sorted by the digits of
/// their keys, from the last digit to the first: the time grows with n alone.
template <class T>
class RowSorter {
 public:
  RowSorter(std::int64_t n, std::int64_t k, bool descending)
      : n_(n), k_(k), flip_(descending ? static_cast<Key>(~Key(0)) : Key(0)) {}

  /// Writes base + position for the first k elements of the row in sorted order.
  void run(const T* row, std::int64_t* out, std::int64_t base) {
    if (k_ * few < n_) return select(row, out, base);
    for (int i = 0; i < 2; ++i)
      if (!entries_[i]) entries_[i].reset(new Entry[static_cast<std::size_t>(n_)]);
    for (std::int64_t i = 0; i < n_; ++i) entries_[0][i] = entry(row, i);
    if (n_ < short_row) std::sort(entries_[0].get(), entries_[0].get() + n_, Before());
    else sort_by_digits();
    for (std::int64_t i = 0; i < k_; ++i) out[i] = base + entries_[0][i].at;
  }

 private:
  using Key = UnsignedOfSize<sizeof(T)>;
  struct Entry {
    Key key;
    std::int32_t at;
  };
  static constexpr std::int64_t few = 64;  ///< the least share of a row, 1 / few, for which the row is sorted
  static constexpr std::int64_t short_row = 256;  ///< rows below are sorted by comparisons
  static constexpr int bits = 8 * sizeof(T), digits = (bits + 10) / 11,
                       digit_bits = (bits + digits - 1) / digits;
  static constexpr std::size_t buckets = std::size_t{1} << digit_bits;

  Entry entry(const T* row, std::int64_t i) const {
    return {static_cast<Key>(sort_key(row[i]) ^ flip_), static_cast<std::int32_t>(i)};
  }
  struct Before {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.key != b.key ? a.key < b.key : a.at < b.at;
    }
  };
  static std::size_t digit(Key key, int d) {
    return static_cast<std::size_t>(key >> (d * digit_bits)) & (buckets - 1);
  }

  void sort_by_digits() {
    if (!counts_) counts_.reset(new Counts[digits]);
    for (int d = 0; d < digits; ++d) counts_[d].fill(0);
    for (std::int64_t i = 0; i < n_; ++i)
      for (int d = 0; d < digits; ++d) ++counts_[d][digit(entries_[0][i].key, d)];
    for (int d = 0; d < digits; ++d) {
      Counts& count = counts_[d];
      if (count[digit(entries_[0][0].key, d)] == n_) continue;  // all keys have this digit
      std::int64_t first = 0;
      for (std::int64_t& c : count) first += std::exchange(c, first);
      for (std::int64_t i = 0; i < n_; ++i) {
        const Entry& moved = entries_[0][i];
        entries_[1][count[digit(moved.key, d)]++] = moved;
      }
      std::swap(entries_[0], entries_[1]);
    }
  }

  /// Keeps the first elements that were seen in a heap.
  void select(const T* row, std::int64_t* out, std::int64_t base) {
    if (!entries_[0]) entries_[0].reset(new Entry[static_cast<std::size_t>(k_)]);
    Entry* const heap = entries_[0].get();
    Entry* const end = heap + k_;
    for (std::int64_t i = 0; i < k_; ++i) heap[i] = entry(row, i);
    std::make_heap(heap, end, Before());
    for (std::int64_t i = k_; i < n_ && k_ > 0; ++i) {
      const Entry next = entry(row, i);
      if (next.key >= heap->key) continue;  // of equal elements the first one stays
      std::pop_heap(heap, end, Before());
      end[-1] = next;
      std::push_heap(heap, end, Before());
    }
    std::sort_heap(heap, end, Before());
    for (std::int64_t i = 0; i < k_; ++i) out[i] = base + heap[i].at;
  }

  using Counts = std::array<std::int64_t, buckets>;
  std::int64_t n_, k_;
  Key flip_;
  std::unique_ptr<Entry[]> entries_[2];
  std::unique_ptr<Counts[]> counts_;
};

/// Computes, for each of `rows` rows of n elements, the indices of the first k elements of the sorted row.
/// Indices count over all rows. The sort is stable; NaN is the largest element.
template <class T>
void argsort_rows(std::int64_t* indices, const T* x, std::int64_t rows, std::int64_t n, std::int64_t k,
                  bool descending) {
  parallel_for(rows, std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, n)),
               [=](std::int64_t begin, std::int64_t end) {
                 RowSorter<T> sorter(n, k, descending);
                 for (std::int64_t row = begin; row < end; ++row)
                   sorter.run(x + row * n, indices + row * k, row * n);
               });
}

}  // namespace ktape::kernels
