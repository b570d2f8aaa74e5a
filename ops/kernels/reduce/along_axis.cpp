#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/reduce/along_axis.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ktape::kernels::detail {
namespace {

const char* at(const void* p, std::int64_t bytes) { return static_cast<const char*>(p) + bytes; }
char* at(void* p, std::int64_t bytes) { return static_cast<char*>(p) + bytes; }

constexpr int widest = 64;  ///< numbers of a vector, at most

/// The memory of a kernel, whose arrays need no first values.
struct KernelMemory {
  alignas(64) std::byte bytes[AxisReduction::most_bytes];
};

/// Reduces short rows, which are transposed so that each lane reduces another row.
void reduce_short_rows(const AxisReduction& r, const void* in, void* out, AxisShape shape) {
  const std::int64_t n = shape.axis * shape.inner, step = RowTile<float>::most / n * r.tile_lanes;
  parallel_rows((shape.outer + step - 1) / step, step * n, [&](std::int64_t begin, std::int64_t end) {
    KernelMemory kernel;
    alignas(64) std::byte tile[sizeof(RowTile<float>)];
    for (; begin < end; ++begin) {
      const std::int64_t first = begin * step, count = std::min(step, shape.outer - first);
      const void* const numbers =
          r.load_tile(tile, n, at(in, first * n * r.element), count, first + count < shape.outer);
      const std::int64_t width = std::min(step, (count + r.tile_lanes - 1) / r.tile_lanes * r.tile_lanes);
      for (std::int64_t j = 0; j < shape.inner; ++j) {
        r.tile_columns(kernel.bytes, at(numbers, j * width * r.tile_number), shape.axis, shape.inner * width,
                       count);
        r.results(kernel.bytes, count, at(out, (first * shape.inner + j) * r.result), shape.inner, r.finish);
      }
    }
  });
}

/// Reduces row by row; short rows that are not in the caches are prefetched.
void reduce_rows(const AxisReduction& r, const void* in, void* out, AxisShape shape) {
  const std::int64_t n = shape.axis;
  const bool prefetches = n <= 512 && shape.size() * r.element >= 1 << 20;
  parallel_rows(shape.outer, n, [&](std::int64_t begin, std::int64_t end) {
    r.rows(at(in, begin * n * r.element), end - begin, n, prefetches, at(out, begin * r.result), r.finish);
  });
}

/// Reduces narrow columns to partial results: several rows are read as if they were one row.
void reduce_narrow_columns(const AxisReduction& r, void* kernel, const void* p, std::int64_t rows,
                           std::int64_t width, void* to) {
  const std::int64_t w = r.lanes;
  std::int64_t group = std::clamp<std::int64_t>(rows / 8, 1, std::max<std::int64_t>(1, 4 * w / width));
  if (group > w) group = group / w * w;
  const std::int64_t wide = group * width, wide_rows = rows / group, done = wide_rows * group;
  alignas(16) std::byte next[4 * widest * AxisReduction::most_partial];
  r.columns(kernel, p, wide_rows, wide, wide);
  r.partials(kernel, 0, width, group, 0, to);
  for (std::int64_t g = 1; g < group; ++g) {
    r.partials(kernel, g * width, width, group, g, next);
    r.merge(to, next, width);
  }
  if (done == rows) return;
  r.columns(kernel, at(p, done * width * r.element), rows - done, width, width);
  r.partials(kernel, 0, width, 1, done, next);
  r.merge(to, next, width);
}

/// The tasks of about half a megabyte of an array [outer] x [axis] x [inner]: blocks of columns times
/// segments of rows. The number of segments is as small as possible, because the results of segments are
/// merged after each other.
struct Split {
  std::int64_t blocks, columns, segments;

  Split(const AxisReduction& r, AxisShape shape) {
    constexpr std::int64_t narrowest = 512, enough = 32, task_bytes = 1 << 19;
    const auto over = [](std::int64_t n, std::int64_t parts) { return (n + parts - 1) / parts; };
    const std::int64_t tasks = std::clamp<std::int64_t>(shape.size() * r.element / task_bytes, 1, enough);
    blocks =
        std::max(over(shape.inner, r.capacity), std::min(over(tasks, shape.outer), shape.inner / narrowest));
    columns = std::min(shape.inner, over(over(shape.inner, blocks), 64) * 64);
    segments =
        std::clamp<std::int64_t>(over(tasks, shape.outer * blocks), 1, std::max<std::int64_t>(shape.axis, 1));
  }
};

/// Reduces a block of columns of a segment of rows to partial results.
void reduce_block(const AxisReduction& r, void* kernel, const void* p, std::int64_t rows, std::int64_t inner,
                  std::int64_t width, void* to) {
  if (inner == 1) return r.row(p, rows, to);
  if (inner < 2 * r.lanes) return reduce_narrow_columns(r, kernel, p, rows, inner, to);
  r.columns(kernel, p, rows, inner, width);
  r.partials(kernel, 0, width, 1, 0, to);
}

/// Reduces each block of columns in one segment.
void reduce_blocks(const AxisReduction& r, const void* in, void* out, AxisShape shape, const Split& split) {
  parallel_rows(shape.outer * split.blocks, shape.axis * split.columns,
                [&](std::int64_t task, std::int64_t end) {
                  KernelMemory kernel;
                  for (; task < end; ++task) {
                    const std::int64_t o = task / split.blocks, j = task % split.blocks * split.columns,
                                       width = std::min(split.columns, shape.inner - j);
                    const void* const p = at(in, (o * shape.axis * shape.inner + j) * r.element);
                    void* const to = at(out, (o * shape.inner + j) * r.result);
                    if (shape.inner >= 2 * r.lanes) {
                      r.columns(kernel.bytes, p, shape.axis, shape.inner, width);
                      r.results(kernel.bytes, width, to, 1, r.finish);
                      continue;
                    }
                    alignas(16) std::byte partials[2 * widest * AxisReduction::most_partial];
                    reduce_block(r, kernel.bytes, p, shape.axis, shape.inner, width, partials);
                    r.finish_all(partials, width, to, r.finish);
                  }
                });
}

/// Reduces segments of rows, and merges their partial results.
void reduce_segments(const AxisReduction& r, const void* in, void* out, AxisShape shape, const Split& split) {
  const auto bound = [&](std::int64_t segment) { return shape.axis * segment / split.segments; };
  std::vector<std::byte> partials(
      static_cast<std::size_t>(shape.outer * split.segments * shape.inner * r.partial));
  parallel_rows(
      shape.outer * split.segments * split.blocks, shape.axis / split.segments * split.columns,
      [&](std::int64_t task, std::int64_t end) {
        KernelMemory kernel;
        for (; task < end; ++task) {
          const std::int64_t o = task / (split.segments * split.blocks),
                             segment = task / split.blocks % split.segments,
                             j = task % split.blocks * split.columns,
                             width = std::min(split.columns, shape.inner - j), first = bound(segment);
          void* const to = partials.data() + ((o * split.segments + segment) * shape.inner + j) * r.partial;
          reduce_block(r, kernel.bytes, at(in, ((o * shape.axis + first) * shape.inner + j) * r.element),
                       bound(segment + 1) - first, shape.inner, width, to);
          r.renumber(to, width, first);
        }
      });
  for (std::int64_t o = 0; o < shape.outer; ++o) {
    void* const total = partials.data() + o * split.segments * shape.inner * r.partial;
    parallel_rows(shape.inner, 8 * split.segments, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t s = 1; s < split.segments; ++s)
        r.merge(at(total, begin * r.partial), at(total, (s * shape.inner + begin) * r.partial), end - begin);
      r.finish_all(at(total, begin * r.partial), end - begin, at(out, (o * shape.inner + begin) * r.result),
                   r.finish);
    });
  }
}

bool suits_short_rows(const AxisReduction& r, AxisShape shape) {
  constexpr std::int64_t longest = 32;  // longer rows are faster one by one
  if (shape.outer < r.tile_lanes || shape.axis == 0) return false;
  const bool one_by_one = shape.inner == 1 && r.as_stored && shape.axis > longest;
  return shape.axis * shape.inner <= RowTile<float>::most && !one_by_one;
}

}  // namespace

void reduce_along_axis(const AxisReduction& reduction, const void* in, void* out, AxisShape shape) {
  if (shape.results() == 0) return;
  if (suits_short_rows(reduction, shape)) return reduce_short_rows(reduction, in, out, shape);
  if (shape.inner == 1 && shape.outer >= 64) return reduce_rows(reduction, in, out, shape);
  const Split split(reduction, shape);
  if (split.segments == 1) reduce_blocks(reduction, in, out, shape, split);
  else reduce_segments(reduction, in, out, shape, split);
}

}  // namespace ktape::kernels::detail
