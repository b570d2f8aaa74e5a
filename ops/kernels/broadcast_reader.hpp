#pragma once
#include <ktape/ops/kernels/broadcast.hpp>
#include <ktape/ops/kernels/loops.hpp>
#include <ktape/ops/kernels/runs.hpp>

namespace ktape::kernels {

/// An array seen in a shape that it broadcasts to: its elements in the order of that shape, a block at a time.
/// They are read in place where they are consecutive, else they are put in order in a small buffer. An object
/// serves one thread.
template <class T>
class BroadcastReader {
 public:
  static constexpr std::int64_t block = 512;  ///< the most elements that one call may ask for

  BroadcastReader(const T* at, const Shape& from, const Shape& to)
      : BroadcastReader(at, to.rank(), to.begin(), broadcast_steps(from, to).data()) {}
  BroadcastReader(const T* at, int rank, const std::int64_t* shape, const std::int64_t* step)
      : at_(reinterpret_cast<const U*>(at)) {
    for (int d = 0; d < rank; ++d) loops_.append({shape[d], step[d], 0});
    if (loops_.rank > 0) row_ = loops_.at[--loops_.rank];
    if (loops_.rank > 0) next_ = loops_.at[--loops_.rank];
    consecutive_ = row_.in == 1 && next_.size == 1;
    // Where every block is the same, one is enough: all elements are one number, or short rows repeat.
    const bool fixed = loops_.rank == 0 && next_.in == 0 && (row_.in == 0 ? next_.size == 1 : row_.size <= short_row);
    if (!fixed || consecutive_) return;
    period_ = row_.in == 0 ? 1 : row_.size;
    put_rows(at_, buffer_, (block + period_ - 1) / period_ + 1, period_);
  }

  /// The n <= block elements from `begin` on.
  const T* operator()(std::int64_t begin, std::int64_t n) {
    return reinterpret_cast<const T*>(find(begin, n));
  }

 private:
  using U = bits_of<T>;
  static constexpr std::int64_t short_row = 64;

  const U* find(std::int64_t begin, std::int64_t n) {
    if (consecutive_) return at_ + begin;
    if (period_ > 0) return buffer_ + begin % period_;
    const std::int64_t row = begin / row_.size, first = begin % row_.size;
    detail::Odometer at(loops_, row / next_.size);
    std::int64_t index = row % next_.size;
    if (row_.in == 1 && first + n <= row_.size) return at_ + at.in + index * next_.in + first;
    if (row_.size > short_row) return put_pieces(at, index, first, n);
    const std::int64_t rows = (first + n + row_.size - 1) / row_.size;
    U* to = buffer_;
    for (std::int64_t r = 0; r < rows; index = 0, at.next()) {
      const std::int64_t m = std::min(rows - r, next_.size - index);
      put_rows(at_ + at.in + index * next_.in, to, m, row_.size);
      r += m, to += m * row_.size;
    }
    return buffer_ + first;
  }
  /// Short rows of n elements, next_.in apart.
  void put_rows(const U* from, U* to, std::int64_t rows, std::int64_t n) {
    if (row_.in == 0) return detail::repeat_runs(from, next_.in, to, rows, n);
    for (std::int64_t r = 0; r < rows; ++r) detail::copy_run(from + r * next_.in, 1, to + r * n, n, false);
  }
  /// Parts of long rows.
  const U* put_pieces(detail::Odometer at, std::int64_t index, std::int64_t first, std::int64_t n) {
    for (std::int64_t i = 0, m; i < n; i += m, first = 0) {
      m = std::min(n - i, row_.size - first);
      detail::copy_run(at_ + at.in + index * next_.in + first * row_.in, row_.in, buffer_ + i, m, false);
      if (++index == next_.size) index = 0, at.next();
    }
    return buffer_;
  }

  const U* at_;
  detail::Loops loops_;                             ///< around the two innermost loops
  detail::Loops::Loop next_{1, 0, 0}, row_{1, 0, 0};
  bool consecutive_;
  std::int64_t period_ = 0;
  alignas(64) U buffer_[block + 4 * short_row];
};

/// Calls f(i, n) for the elements i, ..., i + n - 1 of begin..end, as many at a time as a BroadcastReader gives.
template <class F>
void for_blocks(std::int64_t begin, std::int64_t end, const F& f) {
  constexpr std::int64_t block = BroadcastReader<bool>::block;
  for (; begin < end; begin += block) f(begin, std::min(block, end - begin));
}

}  // namespace ktape::kernels
