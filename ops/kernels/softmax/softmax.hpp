#pragma once
#include <ktape/ops/kernels/axis_shape.hpp>
#include <ktape/ops/kernels/copy/row_tile.hpp>
#include <ktape/ops/kernels/reduce/sum_terms.hpp>
#include <ktape/ops/kernels/simd/math.hpp>
#include <ktape/ops/kernels/softmax/column_blocks.hpp>

#include <cmath>

/// Softmax and its relatives over the middle dimension of contiguous [outer, axis, inner] arrays of float
/// or double, computed from differences to the largest element, with sums exact to
/// about 1e-7.
namespace ktape::kernels {
namespace detail {

/// The number of elements of a row that stays in the first-level cache together with the next row.
template <class T>
inline constexpr std::int64_t cached_elements = 16384 / sizeof(T);

/// Prefetches a later row if the caches have room for the row.
template <class T>
void prefetch_ahead(const T* p, std::int64_t distance) {
  if (distance <= cached_elements<T>) __builtin_prefetch(p + distance, 0, 3);
  else if (distance <= 32768) __builtin_prefetch(p + distance, 0, 2);
}

/// Returns the sum of exp(x - shift), and stores the terms, in whole vectors, in `terms` unless `terms` is
/// null. Elements at a distance of `ahead` are prefetched.
template <class T, class A>
double exp_sum(const T* x, std::int64_t n, A shift, A* terms, std::int64_t ahead) {
  return sum_terms<A>(n, [=, by = splat(shift)](std::int64_t i, std::int64_t m) {
    prefetch_ahead(x + i, ahead);
    const Vec<A> e = exp_term<A>(load_partial(x + i, m, splat(-std::numeric_limits<A>::infinity())) - by);
    if (terms) store(terms + i, e);
    return e;
  });
}

/// The formula of a result: `value` computes the result from x, or from kept = exp(x - shift), and a factor,
/// which is computed from the sum of exp(x - largest). The shift is the largest element, or the largest
/// element so far.
struct SoftmaxRule {
  static constexpr bool keeps_terms = true;
  template <class A>
  static Vec<A> factor(Vec<A> sum) {
    return 1 / sum;
  }
  template <class A>
  static Vec<A> shifted(Vec<A> factor, Vec<A> shift, Vec<A> largest) {
    return factor * exp_of_small<A>(shift - largest);
  }
  template <class V>
  static V value(V kept, V, V factor) {
    return kept * factor;
  }
};
struct LogSoftmaxRule {
  static constexpr bool keeps_terms = false;
  template <class A>
  static Vec<A> factor(Vec<A> sum) {
    return functions::log(xsimd::batch<A>(sum));
  }
  template <class A>
  static Vec<A> shifted(Vec<A> factor, Vec<A>, Vec<A>) {
    return factor;
  }
  template <class V>
  static V value(V x, V largest, V log_sum) {
    return x - largest - log_sum;
  }
};

template <class Rule, class T>
void softmax_rows(const T* in, T* out, std::int64_t rows, std::int64_t n) {
  using A = compute_type<T>;
  const bool non_temporal = rows * n * std::int64_t(sizeof(T)) >= streaming_bytes;
  parallel_rows(rows, n * 4, [&](std::int64_t begin, std::int64_t end) {
    Workspace<A> space(Rule::keeps_terms ? n : 0);
    A* const terms = Rule::keeps_terms ? space.take(n) : nullptr;
    for (std::int64_t r = begin; r < end; ++r) {
      const T* x = in + r * n;
      const A largest = row_max(x, n);
      const Vec<A> factor = Rule::template factor<A>(splat(static_cast<A>(exp_sum(x, n, largest, terms, n))));
      write_run(out + r * n, n, non_temporal, [&, shift = splat(largest)](std::int64_t i, std::int64_t m) {
        return Rule::value(Rule::keeps_terms ? load(terms + i) : load_partial(x + i, m), shift, factor);
      });
    }
    stream_fence();
  });
}

/// Calls f(j, largest, sum) for the vectors of columns of a tile. With Keep, replaces the elements by exp(x -
/// largest).
template <bool Keep, bool Total, class A, class F>
void tile_sums(A* tile, std::int64_t rows, std::int64_t width, const F& f) {
  for (std::int64_t j = 0; j < width; j += lanes<A>) {
    Vec<A> largest = load(tile + j), sum{};
    for (std::int64_t k = 1; k < rows; ++k) largest = larger<A>(load(tile + k * width + j), largest);
    if constexpr (Total) largest = largest - largest == 0 ? largest : Vec<A>{};
    for (std::int64_t k = 0; k < rows; ++k) {
      const Vec<A> e = exp_term<A>(load(tile + k * width + j) - largest);
      if constexpr (Keep) store(tile + k * width + j, e);
      sum += e;
    }
    f(j, largest, sum);
  }
}

template <class Rule, class T>
void softmax_short_rows(const T* in, T* out, AxisShape shape) {
  using A = compute_type<T>;
  const std::int64_t n = shape.axis * shape.inner;
  const bool non_temporal = shape.outer * n * std::int64_t(sizeof(T)) >= streaming_bytes;
  for_row_tiles<A>(shape.outer, n, 4, [&](std::int64_t r, std::int64_t rows) {
    RowTile<A> tile(n, rows);
    tile.load(in + r * n, rows, r + rows < shape.outer && in != out);
    const std::int64_t width = shape.inner * tile.rows;
    tile_sums<Rule::keeps_terms, false>(
        tile.data(), shape.axis, width, [&](auto j, Vec<A> largest, Vec<A> sum) {
          const Vec<A> factor = Rule::template factor<A>(sum);
          for (A* at = tile.data() + j; at < tile.data() + shape.axis * width; at += width)
            store(at, Rule::value(load(at), largest, factor));
        });
    tile.store(out + r * n, rows, non_temporal);
  });
}

/// A worker of `for_column_blocks`. Each chunk of a block has a slot in `tile`, for its terms and the largest
/// element at that time, or for x. The number of slots is the number of chunks + 1, so that a new block
/// begins while the previous block is written.
template <class Rule, class T, class A = compute_type<T>>
class SoftmaxColumns {
 public:
  SoftmaxColumns(const ColumnBlocks& blocks, const T* in, T* out, bool non_temporal)
      : blocks_(blocks),
        in_(in),
        out_(out),
        non_temporal_(non_temporal),
        space_((slots() * (chunk_rows + 1) + 3 + ColumnSums<A, false>::arrays) * blocks.width),
        tile_(space_.take(slots() * chunk_rows * blocks.width)),
        shifts_(space_.take(slots() * blocks.width)),
        largest_(space_.take(blocks.width)),
        factor_(space_.take(blocks.width)),
        shifted_(space_.take(blocks.width)),
        sums_(space_, blocks.width) {
    sums_.clear(blocks.width);
  }
  void prepare(ColumnBlock before) {
    taken_ = given_, given_ = (given_ + 1) % slots();
    const A* const shift = shifts_ + given_ * blocks_.width;
    for (std::int64_t j = 0; j < before.width; j += lanes<A>)
      store(shifted_ + j, Rule::template shifted<A>(load(factor_ + j), load(shift + j), load(largest_ + j)));
  }
  void give(ColumnBlock block, std::int64_t row) const {
    const A* const kept = tile_ + (given_ * chunk_rows + row % chunk_rows) * blocks_.width;
    give_row(out_ + block.start + row * blocks_.inner, block.width, blocks_.inner, non_temporal_,
             [&](std::int64_t j, std::int64_t) {
               return Rule::value(load(kept + j), load(largest_ + j), load(shifted_ + j));
             });
  }
  /// Reads a part of a chunk: a few columns of all rows. Later rows are prefetched.
  void take(ColumnBlock block, std::int64_t row, std::int64_t rows, std::int64_t part) {
    const T* const later = in_ + block.start + (row + part + 2 * chunk_rows) * blocks_.inner;
    for (std::int64_t j = 0; j < block.width; j += 64 / sizeof(T)) __builtin_prefetch(later + j, 0, 2);
    const std::int64_t columns = padded<A>((block.width + chunk_rows - 1) / chunk_rows);
    const std::int64_t first = part * columns, end = std::min(block.width, first + columns);
    if (first >= end) return;
    A* const kept = tile_ + taken_ * chunk_rows * blocks_.width;
    sums_.add(in_ + block.start + row * blocks_.inner, blocks_.inner, 0, {rows, first, end},
              [&](int r, std::int64_t j, Vec<A> x, Vec<A> e) {
                store(kept + r * blocks_.width + j, Rule::keeps_terms ? e : x);
              });
    std::copy_n(sums_.largest + first, padded<A>(end - first), shifts_ + taken_ * blocks_.width + first);
  }
  void turn(ColumnBlock block) {
    for (std::int64_t j = 0; j < block.width; j += lanes<A>)
      store(factor_ + j, Rule::template factor<A>(load(sums_.sum + j)));
    std::copy_n(sums_.largest, padded<A>(block.width), largest_);
    sums_.clear(block.width);
  }

 private:
  std::int64_t slots() const { return (blocks_.axis + chunk_rows - 1) / chunk_rows + 1; }
  const ColumnBlocks& blocks_;
  const T* in_;
  T* out_;
  bool non_temporal_;
  Workspace<A> space_;
  A *tile_, *shifts_, *largest_, *factor_, *shifted_;
  ColumnSums<A, false> sums_;
  std::int64_t taken_ = 0, given_ = 0;  // slots
};

template <class Rule, class T>
void softmax_like(const T* in, T* out, AxisShape shape) {
  using A = compute_type<T>;
  const std::int64_t n = shape.size();
  if (n == 0) return;
  if (suits_tile<T>(shape.axis, shape.inner)) return softmax_short_rows<Rule>(in, out, shape);
  if (shape.inner == 1) return softmax_rows<Rule>(in, out, shape.outer, shape.axis);
  for_column_blocks<SoftmaxColumns<Rule, T>>(ColumnBlocks::of<A>(shape, sizeof(A)), in, out,
                                             n * std::int64_t(sizeof(T)) >= streaming_bytes);
}

}  // namespace detail

/// out = exp(in - m) / sum(exp(in - m)) with m = max(in), along the axis. A row that holds NaN or +infinity,
/// or only -infinity, becomes NaN, as in TensorFlow.
template <class T>
void softmax(const T* in, T* out, AxisShape shape) {
  detail::softmax_like<detail::SoftmaxRule>(in, out, shape);
}

/// out = in - m - log(sum(exp(in - m))), the logarithm of softmax.
template <class T>
void log_softmax(const T* in, T* out, AxisShape shape) {
  detail::softmax_like<detail::LogSoftmaxRule>(in, out, shape);
}

}  // namespace ktape::kernels
