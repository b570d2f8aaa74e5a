#pragma once
#include <ktape/ops/kernels/parallel_rows.hpp>
#include <ktape/ops/kernels/simd.hpp>

#include <array>

namespace ktape::kernels::detail {

/// Nested loops over elements of two arrays: sizes, and the steps (in elements, of any sign) in each array.
struct Loops {
  struct Loop {
    std::int64_t size, in, out;
  };
  static constexpr int capacity = 16;
  int rank = 0;
  std::array<Loop, capacity> at{};

  /// Appends an inner loop: sizes of 1 vanish, a loop that goes on where the one before left off joins it.
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
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= at[d].size;
    return n;
  }
};

/// Steps through loops from any point on; `in` and `out` are the offsets.
class Odometer {
 public:
  Odometer(const Loops& loops, std::int64_t position) : loops_(loops) {
    for (int d = loops.rank - 1; d >= 0; --d) {
      index_[d] = position % loops.at[d].size;
      position /= loops.at[d].size;
      in += index_[d] * loops.at[d].in, out += index_[d] * loops.at[d].out;
    }
  }
  void next() {
    for (int d = loops_.rank - 1; d >= 0; --d) {
      const Loops::Loop& loop = loops_.at[d];
      in += loop.in, out += loop.out;
      if (++index_[d] < loop.size) return;
      in -= loop.size * loop.in, out -= loop.size * loop.out, index_[d] = 0;
    }
  }
  std::int64_t index(int d) const { return index_[d]; }
  std::int64_t in = 0, out = 0;

 private:
  const Loops& loops_;
  std::array<std::int64_t, Loops::capacity> index_{};
};

/// Calls f(in offset, out offset, n_p, n_q) for every tile of at most t_p x t_q steps of the loops p and q,
/// in parallel.
template <class F>
void for_tiles(const Loops& loops, int p, std::int64_t t_p, int q, std::int64_t t_q, const F& f) {
  const Loops::Loop a = loops.at[p], b = loops.at[q];
  Loops tiles;
  for (int d = 0; d < loops.rank; ++d)
    if (d != p && d != q) tiles.at[tiles.rank++] = loops.at[d];
  const int tile_q = tiles.rank++, tile_p = tiles.rank++;
  tiles.at[tile_q] = {(b.size + t_q - 1) / t_q, t_q * b.in, t_q * b.out};
  tiles.at[tile_p] = {(a.size + t_p - 1) / t_p, t_p * a.in, t_p * a.out};
  parallel_rows(tiles.elements(), std::min(t_p, a.size) * std::min(t_q, b.size),
                [&](std::int64_t begin, std::int64_t end) {
                  Odometer at(tiles, begin);
                  for (; begin < end; ++begin, at.next())
                    f(at.in, at.out, std::min(t_p, a.size - at.index(tile_p) * t_p),
                      std::min(t_q, b.size - at.index(tile_q) * t_q));
                  stream_fence();
                });
}

}  // namespace ktape::kernels::detail
