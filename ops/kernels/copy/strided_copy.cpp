#include <ktape/autograd/base/parallel.hpp>
#include <ktape/ops/kernels/copy/cache_blocks.hpp>
#include <ktape/ops/kernels/copy/contiguous_copy.hpp>
#include <ktape/ops/kernels/copy/strided_copy.hpp>
#include <ktape/ops/kernels/copy/transpose.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/workspace.hpp>

#include <optional>
#include <utility>

namespace ktape::kernels {
namespace detail {

/// Returns the loop that reads consecutive elements, or -1.
int consecutive_input(const LoopNest& loops) {
  for (int d = 0; d < loops.rank; ++d)
    if (loops.at[d].in == 1) return d;
  return -1;
}

/// Returns the number of steps of a loop that read from one cache line.
template <class U>
std::int64_t steps_in_line(const LoopNest::Loop& loop) {
  constexpr std::int64_t line = 64 / sizeof(U);
  return loop.in == 0 ? loop.size : std::max<std::int64_t>(1, line / std::abs(loop.in));
}

/// Copies runs with the method for their length and steps.
template <class U>
void copy_rows(const U* in, U* out, LoopNest::Loop rows, LoopNest::Loop run, bool non_temporal) {
  constexpr std::int64_t size = sizeof(U);
  const bool repeats = run.in == 0 && run.out == 1 && rows.out == run.size && run.size <= lanes<U>;
  if (repeats && rows.in == 1 && interleave_few<false>(in, out, run.size, 0, rows.size, 0)) return;
  if (repeats) return repeat_runs(in, rows.in, out, rows.size, run.size);
  if (run.in == 1 && run.out == 1 && run.size < lanes<U>)
    return copy_short_runs(in, rows.in * size, out, rows.out * size, rows.size, run.size * size);
  if (run.in == 1 && run.out == 1 && !non_temporal)
    return copy_medium_runs(in, rows.in, out, rows.out, rows.size, run.size);
  for (std::int64_t r = 0; r < rows.size; ++r, in += rows.in, out += rows.out)
    if (run.out == 1) copy_run(in, run.in, out, run.size, non_temporal);
    else
      for (std::int64_t k = 0; k < run.size; ++k) std::memcpy(out + k * run.out, in + k * run.in, sizeof(U));
}

/// Returns the loop whose runs, shorter than a vector, follow one another in the output, or -1. A run may be
/// read beyond its end, up to the next run.
template <class U>
int following_runs(const U* out, const LoopNest& loops) {
  const LoopNest::Loop run = loops.at[loops.rank - 1];
  const bool aligned = reinterpret_cast<std::uintptr_t>(out) % sizeof(U) == 0;
  if (!permutes_fast || run.in != 1 || run.out != 1 || run.size >= lanes<U> || !aligned) return -1;
  for (int d = 0; d < loops.rank - 1; ++d)
    if (loops.at[d].out == run.size && loops.at[d].in >= 2 * run.size) return d;
  return -1;
}

/// Copies runs of the innermost loop in such an order that neighbours in the input follow one another. Runs
/// at a distance of `ahead` are prefetched, a few at a time.
template <class U>
void copy_runs(const U* in, U* out, LoopNest loops, std::int64_t ahead, bool non_temporal) {
  const int following = non_temporal ? following_runs(out, loops) : -1;
  const LoopNest::Loop run = loops.at[--loops.rank];
  if (following >= 0) {
    const LoopNest::Loop rows = loops.at[following];
    return for_each_but(loops, following, following, in, out, [&](const U* from, U* to) {
      stream_short_runs<2>(from, rows.in, ahead, to, rows.size, run.size);
    });
  }
  int closest = loops.rank - 1;
  for (int d = 0; d < loops.rank; ++d)
    if (loops.at[d].size > 1 && loops.at[d].in != 0 &&
        std::abs(loops.at[d].in) < std::abs(loops.at[closest].in))
      closest = d;
  const LoopNest::Loop rows = loops.at[closest];
  const std::int64_t few = ahead == 0 ? rows.size : std::max<std::int64_t>(1, 1024 / sizeof(U) / run.size);
  const std::int64_t row_step = steps_in_line<U>(rows), run_step = steps_in_line<U>(run);
  for_each_but(loops, closest, closest, in, out, [&](const U* from, U* to) {
    for (std::int64_t first = 0; first < rows.size; first += few) {
      const LoopNest::Loop part{std::min(few, rows.size - first), rows.in, rows.out};
      for (std::int64_t r = 0; r < part.size && ahead != 0; r += row_step)
        for (std::int64_t k = 0; k < run.size; k += run_step)
          __builtin_prefetch(from + ahead + r * rows.in + k * run.in, 0, 2);
      copy_rows(from, to, part, run, non_temporal);
      from += few * rows.in, to += few * rows.out;
    }
  });
}

/// Copies one block, whose input and output fit the caches. The next block is `ahead` elements later in the
/// input.
template <class U>
void copy_block(const U* in, U* out, const LoopNest& loops, std::int64_t ahead, bool non_temporal) {
  const int q = loops.rank - 1, c = consecutive_input(loops);
  const LoopNest::Loop rows = loops.at[q], columns = loops.at[std::max(c, 0)];
  if (c < 0 || c == q || rows.out != 1 || rows.in == 0) return copy_runs(in, out, loops, ahead, non_temporal);
  for_each_but(loops, c, q, in, out, [&](const U* from, U* to) {
    const bool streams = non_temporal && transpose_streams(to, columns.out, rows.size);
    transpose_tile(from, rows.in, to, columns.out, rows.size, columns.size, ahead, streams);
  });
}

/// Assembles blocks in a buffer and writes them with non-temporal stores of whole cache lines: a line that is
/// written in two pieces, far apart in time, is moved four times instead of once. Where a row of blocks is
/// cut within a line, the later block writes the whole line and copies the earlier elements a second time.
template <class U>
class StagedBlocks {
 public:
  explicit StagedBlocks(const LoopNest& block) : StagedBlocks(block, extent(block)) {}

  void copy(const U* in, U* out, const CacheBlock& block) {
    const int q = staged_.rank - 1;
    LoopNest from = staged_;
    for (int d = 0; d <= q; ++d) from.at[d].size = block.loops.at[d].size;
    const std::int64_t before = block.first ? 0 : line;  // left by the previous block
    U* const stage = buffer_ + line + phase(out);
    from.at[q].size += before;
    copy_block(in - before * from.at[q].in, stage - before, from, block.ahead, false);
    from.at[q].size -= before;
    LoopNest runs;
    for (int d = 0; d <= q; ++d) runs.append({from.at[d].size, from.at[d].out, block.loops.at[d].out});
    if (runs.rank == 0 || runs.at[runs.rank - 1].out != 1) runs.at[runs.rank++] = {1, 1, 1};
    const std::int64_t n = runs.at[--runs.rank].size;
    for_each_but(runs, -1, -1, static_cast<const U*>(stage), out, [&](const U* x, U* y) {
      const std::int64_t head = block.first ? 0 : phase(y), tail = block.last ? 0 : phase(y + n);
      copy_run(x - head, 1, y - head, n + head - tail, true);
    });
  }

 private:
  static constexpr std::int64_t line = 64 / sizeof(U);
  /// Returns the number of elements between the begin of p's cache line and p.
  static std::int64_t phase(const U* p) { return reinterpret_cast<std::uintptr_t>(p) / sizeof(U) % line; }
  /// Returns the positions of a block's rows in the buffer: aligned like the rows of the output.
  static std::pair<LoopNest, std::int64_t> extent(LoopNest block) {
    std::int64_t extent = 1;
    bool dense = true;
    for (int d = block.rank - 1; d >= 0; --d) {
      auto& [size, in, out] = block.at[d];
      dense = dense && (size == 1 || out == extent);
      if (!dense) out = extent + 2 * line + ((out - extent) % line + line) % line;
      extent += (size - 1) * out;
    }
    return {block, extent + 4 * line};
  }
  StagedBlocks(const LoopNest&, const std::pair<LoopNest, std::int64_t>& staged)
      : staged_(staged.first), space_(staged.second), buffer_(space_.take(staged.second)) {}

  LoopNest staged_;
  Workspace<U> space_;
  U* buffer_;
};

/// Returns the number of consecutive elements that a block writes: its inner loop and, where that copies
/// runs, the outer loops as long as each run begins at the end of the run before.
std::int64_t consecutive_output(const LoopNest& block) {
  int d = block.rank - 1;
  std::int64_t n = block.at[d].size;
  if (block.at[d].in == 1)
    while (--d >= 0 && (block.at[d].size == 1 || block.at[d].out == n)) n *= block.at[d].size;
  return n;
}

/// Returns whether each run or tile fills whole lines of the output.
template <class U>
bool writes_lines(const U* out, const LoopNest& loops) {
  const LoopNest::Loop run = loops.at[loops.rank - 1];
  const int c = consecutive_input(loops);
  bool lines = run.out == 1 && run.size % lanes<U> == 0;
  if (run.in != 1) lines = lines && c >= 0 && transpose_streams(out, loops.at[c].out, run.size);
  for (int d = 0; d < loops.rank - 1; ++d) lines = lines && streamable(out, loops.at[d].out * sizeof(U));
  return lines;
}

/// Copies runs that need no blocks, in the order of the output. Threads share long runs; short runs are
/// copied whole, all runs of one loop at a time.
template <class U>
void copy_in_order(const U* in, U* out, LoopNest loops, bool long_runs, bool non_temporal) {
  const LoopNest::Loop run = loops.at[--loops.rank], rows = loops.at[--loops.rank];
  const std::int64_t unit = long_runs ? 1 : run.size, row_grain = std::max<std::int64_t>(1, 32768 / unit);
  parallel_for(loops.elements() * rows.size * run.size / unit, row_grain, [&](auto begin, auto end) {
    std::int64_t row = begin * unit / run.size, first = begin * unit % run.size;
    Odometer at(loops, row / rows.size);
    row %= rows.size;
    for (std::int64_t left = (end - begin) * unit; left > 0; first = 0) {
      const bool whole = first == 0 && left >= run.size;
      const std::int64_t count = whole ? std::min(rows.size - row, left / run.size) : 1,
                         n = whole ? run.size : std::min(run.size - first, left);
      const U* const from = in + at.in + row * rows.in + first * run.in;
      U* const to = out + at.out + row * rows.out + first;
      copy_rows(from, to, {count, rows.in, rows.out}, {n, run.in, 1}, non_temporal);
      left -= count * n;
      if ((row += count) == rows.size) at.next(), row = 0;
    }
    stream_fence();
  });
}

template <class U>
void copy_loops(const U* in, U* out, const LoopNest& loops) {
  const std::int64_t bytes = loops.elements() * sizeof(U);
  const bool large = bytes >= streaming_bytes, cached = bytes < std::int64_t{1} << 20;
  const LoopNest::Loop run = loops.at[loops.rank - 1];
  const std::int64_t run_bytes = run.size * std::int64_t(sizeof(U));
  if (run.out == 1 && (run.in == 0 || run.in == 1) &&
      (cached || run_bytes >= 1024 || (run_bytes >= 256 && !large)))
    return copy_in_order(in, out, loops, run_bytes >= 1024, large);
  if (bytes <= 8192) return copy_block(in, out, loops, 0, false);
  const CacheBlocks blocks(loops, sizeof(U));
  const bool stages = large && run.out == 1 && following_runs(out, loops) < 0 && !writes_lines(out, loops) &&
                      consecutive_output(blocks.block()) * std::int64_t(sizeof(U)) >= 256;
  parallel_rows(blocks.count(), blocks.block().elements(), [&](std::int64_t begin, std::int64_t end) {
    std::optional<StagedBlocks<U>> staged;
    if (stages) staged.emplace(blocks.block());
    blocks.for_range(begin, end, [&](const CacheBlock& b) {
      if (staged) return staged->copy(in + b.in, out + b.out, b);
      copy_block(in + b.in, out + b.out, b.loops, cached ? 0 : b.ahead, large);
    });
    stream_fence();
  });
}

/// Copies runs of 2, 4 or 8 bytes as one element.
int join_elements(LoopNest& loops, int elem_size) {
  if (loops.rank < 2) return elem_size;
  const LoopNest::Loop last = loops.at[loops.rank - 1];
  const std::int64_t bytes = last.size * elem_size;
  bool joined = last.in == 1 && last.out == 1 && (bytes == 2 || bytes == 4 || bytes == 8);
  for (int d = 0; d < loops.rank - 1; ++d)
    joined = joined && loops.at[d].in % last.size == 0 && loops.at[d].out % last.size == 0;
  if (!joined) return elem_size;
  --loops.rank;
  for (int d = 0; d < loops.rank; ++d) loops.at[d].in /= last.size, loops.at[d].out /= last.size;
  return static_cast<int>(bytes);
}

void copy_loops_of_size(const void* in, void* out, LoopNest loops, int elem_size) {
  const auto run = [&]<class U>(U) {
    copy_loops(static_cast<const U*>(in), static_cast<U*>(out), loops.at_least_two());
  };
  switch (join_elements(loops, elem_size)) {
    case 1:
      return run(std::uint8_t{});
    case 2:
      return run(std::uint16_t{});
    case 4:
      return run(std::uint32_t{});
    default:
      return run(std::uint64_t{});
  }
}

}  // namespace detail

void copy_strided(void* out, const std::int64_t* out_strides, const void* in, const std::int64_t* in_strides,
                  const std::int64_t* shape, int rank, int elem_size) {
  detail::LoopNest loops;
  for (int d = 0; d < rank; ++d) {
    if (shape[d] == 0) return;
    loops.append({shape[d], in_strides[d], out_strides[d]});
  }
  detail::copy_loops_of_size(in, out, loops, elem_size);
}

void copy_elements(void* out, const void* in, std::int64_t n, int elem_size) {
  const std::int64_t one = 1;
  copy_strided(out, &one, in, &one, &n, 1, elem_size);
}

void fill_elements(void* out, const void* value, std::int64_t n, int elem_size) {
  const std::int64_t one = 1, zero = 0;
  copy_strided(out, &one, value, &zero, &n, 1, elem_size);
}

}  // namespace ktape::kernels
