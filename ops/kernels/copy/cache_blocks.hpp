#pragma once
#include <ktape/ops/kernels/copy/loop_nest.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>

#include <cstdlib>

namespace ktape::kernels::detail {

/// A block of nested loops: its first element in both arrays, and its loops. Blocks form rows along the
/// innermost loop, in which a block is the first, the last, both or neither. The next block begins `ahead`
/// elements later in the input; 0 if there is no next block.
struct CacheBlock {
  std::int64_t in, out, ahead;
  LoopNest loops;
  bool first, last;
};

/// Nested loops, cut into blocks that fit the second-level cache: each reads a few cache lines of the input
/// and as much of the output as there is room for. Blocks that are neighbours in the input follow one
/// another.
class CacheBlocks {
 public:
  CacheBlocks(const LoopNest& loops, std::int64_t elem_size)
      : line_(64 / elem_size), loops_(loops), block_(loops) {
    const std::int64_t room = std::clamp<std::int64_t>(loops.elements() / 16, 64 * line_, 2048 * line_);
    for (int d = 0; d < loops.rank; ++d) block_.at[d].size = 1, order_[d] = d;
    std::sort(order_.begin(), order_.begin() + loops.rank,
              [&](int a, int b) { return std::abs(loops.at[a].in) > std::abs(loops.at[b].in); });
    // Runs are read in order, many short runs in one block, so that they are also neighbours in the output.
    // The number of columns is limited so that their cache lines fit the first-level cache and short rows of
    // the output are whole.
    const LoopNest::Loop run = loops.at[loops.rank - 1];
    std::int64_t length = std::min<std::int64_t>(256, 16 * line_);
    if (run.in == 1) length = (run.size < line_ ? 8 : 32) * line_;
    if (run.in != 1 && run.size * 4 * line_ <= room) length = std::min(length, room / run.size);
    for (int i = loops.rank - 1; i >= 0; --i)
      if (loops.at[order_[i]].in != 0 && !grow(order_[i], length)) break;
    for (int d = loops.rank - 1; d >= 0; --d)
      if (!grow(d, room)) break;
    for (int i = 0; i < loops.rank; ++i) {
      const auto [size, in, out] = loops.at[order_[i]];
      std::int64_t& n = block_.at[order_[i]].size;
      n = even(size, n);
      tiles_.at[i] = {(size + n - 1) / n, in * n, out * n};
    }
    tiles_.rank = loops.rank;
  }

  std::int64_t count() const { return tiles_.elements(); }
  /// Returns the loops of a whole block.
  const LoopNest& block() const { return block_; }

  /// Calls f(block) for the blocks in [begin, end).
  template <class F>
  void for_range(std::int64_t begin, std::int64_t end, const F& f) const {
    Odometer at(tiles_, begin);
    CacheBlock block{0, 0, 0, block_, false, false};
    while (begin < end) {
      for (int i = 0; i < tiles_.rank; ++i) {
        const std::int64_t n = block_.at[order_[i]].size, left = loops_.at[order_[i]].size - at.index(i) * n;
        block.loops.at[order_[i]].size = std::min(n, left);
        if (order_[i] == tiles_.rank - 1) block.first = at.index(i) == 0, block.last = left <= n;
      }
      block.in = at.in, block.out = at.out;
      at.next();
      block.ahead = ++begin < end ? at.in - block.in : 0;
      f(block);
    }
  }

 private:
  /// Makes loop d of the block as long as `room` elements allow, in whole lines; returns whether the loop is
  /// complete.
  bool grow(int d, std::int64_t room) {
    std::int64_t& n = block_.at[d].size;
    std::int64_t most = room / (block_.elements() / n);
    if (most > line_) most = most / line_ * line_;
    n = std::min(loops_.at[d].size, std::max(n, most));
    return n == loops_.at[d].size;
  }

  /// Returns the size of parts of at most about n that divide `size` evenly.
  std::int64_t even(std::int64_t size, std::int64_t n) const {
    const std::int64_t parts = (size + n - 1) / n, part = (size + parts - 1) / parts;
    return part > line_ ? std::min(size, (part + line_ - 1) / line_ * line_) : part;
  }

  std::int64_t line_;
  LoopNest loops_, block_, tiles_;
  std::array<int, LoopNest::capacity> order_{};
};

}  // namespace ktape::kernels::detail
