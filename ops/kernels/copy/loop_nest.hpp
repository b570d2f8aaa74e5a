#pragma once
#include <ktape/ops/kernels/simd/vector.hpp>

#include <array>

namespace ktape::kernels::detail {

/// Nested loops over elements of two arrays: sizes, and the steps (in elements, of any sign) in each array.
struct LoopNest {
  struct Loop {
    std::int64_t size, in, out;
  };
  static constexpr int capacity = 16;
  int rank = 0;
  std::array<Loop, capacity> at{};

  /// Appends an inner loop. A loop of size 1 is dropped; an inner loop whose elements continue those of the
  /// outer loop is merged with the outer loop.
  void append(Loop inner) {
    if (inner.size == 1) return;
    if (rank > 0) {
      Loop& last = at[rank - 1];
      if (last.in == inner.size * inner.in && last.out == inner.size * inner.out) {
        last = {last.size * inner.size, inner.in, inner.out};
        return;
      }
    }
    at[rank++] = inner;
  }
  /// Returns the nest with outer loops of one step added until there are two loops.
  LoopNest at_least_two() const {
    LoopNest loops = *this;
    while (loops.rank < 2) {
      loops.at[1] = loops.rank++ > 0 ? loops.at[0] : Loop{1, 1, 1};
      loops.at[0] = {1, 0, 0};
    }
    return loops;
  }
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= at[d].size;
    return n;
  }
};

/// A position in nested loops that can step to the next position; `in` and `out` are the offsets in the two
/// arrays.
class Odometer {
 public:
  Odometer(const LoopNest& loops, std::int64_t position) : loops_(loops) {
    for (int d = loops.rank - 1; d >= 0; --d) {
      index_[d] = position % loops.at[d].size;
      position /= loops.at[d].size;
      in += index_[d] * loops.at[d].in, out += index_[d] * loops.at[d].out;
    }
  }
  void next() {
    for (int d = loops_.rank - 1; d >= 0; --d) {
      const LoopNest::Loop& loop = loops_.at[d];
      in += loop.in, out += loop.out;
      if (++index_[d] < loop.size) return;
      in -= loop.size * loop.in, out -= loop.size * loop.out, index_[d] = 0;
    }
  }
  std::int64_t index(int d) const { return index_[d]; }
  std::int64_t in = 0, out = 0;

 private:
  const LoopNest& loops_;
  std::array<std::int64_t, LoopNest::capacity> index_{};
};

/// Calls f(in, out) for every step of the loops other than p and q, in order.
template <class U, class F>
void for_each_but(const LoopNest& loops, int p, int q, const U* in, U* out, const F& f) {
  LoopNest others;
  for (int d = 0; d < loops.rank; ++d)
    if (d != p && d != q) others.at[others.rank++] = loops.at[d];
  Odometer at(others, 0);
  for (std::int64_t n = others.elements(); n > 0; --n, at.next()) f(in + at.in, out + at.out);
}

}  // namespace ktape::kernels::detail
