#pragma once
#include <ktape/ops/kernels/copy/contiguous_copy.hpp>
#include <ktape/ops/kernels/copy/loop_nest.hpp>
#include <ktape/ops/kernels/elementwise/broadcast.hpp>

namespace ktape::kernels {

/// A reader of an array in the order of a larger shape to which the array broadcasts, a block of elements at
/// a time. Consecutive elements are read in place; other elements are first copied to a small buffer. A
/// reader serves one thread.
template <class T>
class BroadcastReader {
 public:
  static constexpr std::int64_t block = 512;  ///< the most elements that one call may ask for

  BroadcastReader(const T* at, const Shape& from, const Shape& to)
      : BroadcastReader(at, to.rank(), to.begin(), broadcast_steps(from, to).data()) {}
  BroadcastReader(const T* at, int rank, const std::int64_t* shape, const std::int64_t* step)
      : at_(reinterpret_cast<const U*>(at)), end_(at_ + 1) {
    for (int d = 0; d < rank; ++d) {
      loops_.append({shape[d], step[d], 0});
      end_ += (shape[d] - 1) * step[d];
    }
    const std::int64_t size = loops_.elements();
    row_ = take_inner();
    consecutive_ = row_.in == 1 && loops_.rank == 0;
    patterned_ = !consecutive_ && row_.size <= longest_pattern && size >= 8 * row_.size;
    if (patterned_) find_pattern(size);
    else next_ = take_inner();
  }

  /// Returns the n <= block elements from `begin` on.
  const T* operator()(std::int64_t begin, std::int64_t n) {
    return reinterpret_cast<const T*>(find(begin, n));
  }

 private:
  using U = bits_of<T>;
  using Loop = detail::LoopNest::Loop;
  static constexpr std::int64_t longest_pattern = 256, w = lanes<U>;

  Loop take_inner() { return loops_.rank > 0 ? loops_.at[--loops_.rank] : Loop{1, 0, 0}; }

  const U* find(std::int64_t begin, std::int64_t n) {
    if (consecutive_) return at_ + begin;
    if (repeats_) return buffer_ + begin % row_.size;
    const std::int64_t row = begin / row_.size, first = begin % row_.size;
    detail::Odometer at(loops_, row / next_.size);
    const std::int64_t index = row % next_.size;
    if (patterned_) return copy_patterns(at, index, first, n);
    if (row_.in == 1 && first + n <= row_.size) return at_ + at.in + index * next_.in + first;
    return copy_pieces(at, index, first, n);
  }

  /// Copies parts of long rows to the buffer.
  const U* copy_pieces(detail::Odometer at, std::int64_t index, std::int64_t first, std::int64_t n) {
    for (std::int64_t i = 0, m; i < n; i += m, first = 0) {
      m = std::min(n - i, row_.size - first);
      detail::copy_run(at_ + at.in + index * next_.in + first * row_.in, row_.in, buffer_ + i, m, false);
      if (++index == next_.size) index = 0, at.next();
    }
    return buffer_;
  }

  /// Merges the innermost loops into one row, whose offsets repeat for each step of the next outer loop.
  /// Stores the offsets of the row, and for each w consecutive elements the smallest offset and whether the
  /// elements lie within one vector.
  void find_pattern(std::int64_t size) {
    std::int64_t& n = row_.size;
    for (std::int64_t i = 0; i < n; ++i) offset_[i] = static_cast<std::int16_t>(i * row_.in);
    // A pattern costs about as much as its copies save if they are fewer than eight.
    for (next_ = take_inner(); next_.size > 1 && next_.size * n <= std::min(longest_pattern, size / 8);
         next_ = take_inner()) {
      for (std::int64_t i = n; i < next_.size * n; ++i)
        offset_[i] = static_cast<std::int16_t>(offset_[i - n] + next_.in);
      n *= next_.size;
    }
    for (std::int64_t i = n; i < n + w; ++i)
      offset_[i] = static_cast<std::int16_t>(offset_[i - n] + next_.in);
    std::int16_t most[longest_pattern + w];
    std::copy_n(offset_, n + w, least_), std::copy_n(offset_, n + w, most);
    for (std::int64_t span = 1; span < w; span *= 2)
      for (std::int64_t i = 0; i + span < n + w; ++i)
        least_[i] = std::min(least_[i], least_[i + span]), most[i] = std::max(most[i], most[i + span]);
    for (std::int64_t i = 0; i < n; ++i) all_near_ &= near_[i] = most[i] - least_[i] < w;
    for (std::int64_t i = 0; i < n + w; ++i) index_[i] = static_cast<U>(offset_[i]);
    // If all blocks are equal, the reader fills the buffer once.
    repeats_ = loops_.rank == 0 && next_.in == 0;
    if (repeats_ && size > 0) copy_patterns(detail::Odometer(loops_, 0), 0, 0, std::min(block, size) + n);
  }

  const U* copy_patterns(detail::Odometer at, std::int64_t index, std::int64_t first, std::int64_t n) {
    for (std::int64_t i = 0, m; i < n; i += m, index = first = 0, at.next()) {
      m = std::min(n - i, (next_.size - index) * row_.size - first);
      copy_pattern(at_ + at.in + index * next_.in, first, buffer_ + i, m);
    }
    return buffer_;
  }
  /// Copies n elements of repeated rows, and up to a vector more, from position `first` of the first row on.
  void copy_pattern(const U* from, std::int64_t first, U* to, std::int64_t n) {
    const std::int64_t step = w % row_.size, jump = w / row_.size * next_.in;
    const bool inside = all_near_ && from + (n + first) / row_.size * next_.in + row_.size + w <= end_;
    for (std::int64_t i = 0; i < n; i += w, first += step, from += jump) {
      if (first >= row_.size) first -= row_.size, from += next_.in;
      const U* least = from + least_[first];
      const Vec<U> index = load(index_ + first) - static_cast<U>(least_[first]);
      if (inside) {
        store(to + i, detail::permuted<U>(load(least), index));
      } else if (near_[first]) {
        const Vec<U> some = least + w <= end_ ? load(least) : load_partial(least, end_ - least, Vec<U>{});
        store(to + i, detail::permuted<U>(some, index));
      } else {
        for (std::int64_t j = 0; j < std::min(w, n - i); ++j) to[i + j] = from[offset_[first + j]];
      }
    }
  }

  const U *at_, *end_;
  detail::LoopNest loops_;  ///< the loops outside of the two innermost loops
  Loop next_{1, 0, 0}, row_{1, 0, 0};
  bool consecutive_, patterned_, repeats_ = false, all_near_ = true;
  std::int16_t offset_[longest_pattern + w], least_[longest_pattern + w];
  bool near_[longest_pattern];
  U index_[longest_pattern + w];
  alignas(64) U buffer_[block + longest_pattern + w];
};

/// Calls f(i, n) for the elements i, ..., i + n - 1 of begin..end, as many at a time as a BroadcastReader
/// gives.
template <class F>
void for_blocks(std::int64_t begin, std::int64_t end, const F& f) {
  constexpr std::int64_t block = BroadcastReader<bool>::block;
  for (; begin < end; begin += block) f(begin, std::min(block, end - begin));
}

}  // namespace ktape::kernels
