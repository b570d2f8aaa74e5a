#pragma once
#include <ktape/ops/kernels/axis_shape.hpp>
#include <ktape/ops/kernels/simd/chained.hpp>
#include <ktape/ops/kernels/softmax/softmax.hpp>

/// Gradients of softmax and log_softmax, over the middle dimension of contiguous [outer, axis, inner] arrays.
namespace ktape::kernels {
namespace detail {

/// dx = value(y, g, s) with s = sum(term(y, g)) along the axis.
struct SoftmaxSlope {
  template <class A>
  static Vec<A> term(Vec<A> y, Vec<A> g) {
    return chained<A>(g, y);
  }
  template <class A>
  static Vec<A> value(Vec<A> y, Vec<A> g, Vec<A> sum) {
    return chained<A>(g - sum, y);
  }
};
struct LogSoftmaxSlope {
  template <class A>
  static Vec<A> term(Vec<A>, Vec<A> g) {
    return g;
  }
  template <class A>
  static Vec<A> value(Vec<A> y, Vec<A> g, Vec<A> sum) {
    return g - chained<A>(sum, exp_of_small<A>(y));
  }
};

template <class Slope, class T>
void backward_rows(const T* y, const T* g, T* dx, std::int64_t rows, std::int64_t n, bool non_temporal) {
  using A = compute_type<T>;
  parallel_rows(rows, n * 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const T *y_row = y + r * n, *g_row = g + r * n;
      const auto sum = splat(static_cast<A>(sum_terms<A>(n, [&](std::int64_t i, std::int64_t m) {
        return Slope::template term<A>(load_partial(y_row + i, m), load_partial(g_row + i, m));
      })));
      const auto at = [&](std::int64_t i, std::int64_t m) {
        return Slope::template value<A>(load_partial(y_row + i, m), load_partial(g_row + i, m), sum);
      };
      if (non_temporal) write_run(dx + r * n, n, true, at);
      else
        for_vectors<A>(n,
                       [&](auto i, auto m) { store_partial(dx + r * n + i, at(i, m), m); });  // dx may be g
    }
    stream_fence();
  });
}

template <class Slope, class T>
void backward_short_rows(const T* y, const T* g, T* dx, AxisShape shape, bool non_temporal) {
  using A = compute_type<T>;
  const std::int64_t n = shape.axis * shape.inner;
  for_row_tiles<A>(shape.outer, n, 3, [&](std::int64_t r, std::int64_t rows) {
    RowTile<A> ys(n, rows), gs(n, rows);
    const bool followed = r + rows < shape.outer && dx != y && dx != g;
    ys.load(y + r * n, rows, followed), gs.load(g + r * n, rows, followed);
    const std::int64_t width = shape.inner * ys.rows, end = shape.axis * width;
    for (std::int64_t j = 0; j < width; j += lanes<A>) {
      A *const y_at = ys.data() + j, *const g_at = gs.data() + j;
      Vec<A> sum{};
      for (std::int64_t k = 0; k < end; k += width)
        sum += Slope::template term<A>(load(y_at + k), load(g_at + k));
      for (std::int64_t k = 0; k < end; k += width)
        store(g_at + k, Slope::template value<A>(load(y_at + k), load(g_at + k), sum));
    }
    gs.store(dx + r * n, rows, non_temporal);
  });
}

/// A worker of `for_column_blocks` that keeps y and g.
template <class Slope, class T, class A = compute_type<T>>
class SlopeColumns {
 public:
  SlopeColumns(const ColumnBlocks& blocks, const T* y, const T* g, T* dx, bool non_temporal)
      : blocks_(blocks),
        y_(y),
        g_(g),
        dx_(dx),
        non_temporal_(non_temporal),
        space_((2 * blocks.axis + 2 + ColumnSums<A, false>::arrays) * blocks.width),
        ys_(space_.take(blocks.axis * blocks.width)),
        gs_(space_.take(blocks.axis * blocks.width)),
        parts_(space_.take(blocks.width)),
        total_(space_.take(blocks.width)),
        sums_(space_, blocks.width) {
    std::fill_n(parts_, blocks.width, A(0));
    sums_.clear(blocks.width);
  }
  void prepare(ColumnBlock) {}
  void give(ColumnBlock block, std::int64_t row) const {
    const A *const y = ys_ + row * blocks_.width, *const g = gs_ + row * blocks_.width;
    give_row(dx_ + block.start + row * blocks_.inner, block.width, blocks_.inner, non_temporal_,
             [&](std::int64_t j, std::int64_t) {
               return Slope::template value<A>(load(y + j), load(g + j), load(total_ + j));
             });
  }
  /// Reads a part of a chunk: one row.
  void take(ColumnBlock block, std::int64_t row, std::int64_t rows, std::int64_t part) {
    if (part >= rows) return;
    const std::int64_t at = block.start + (row + part) * blocks_.inner,
                       ahead = 2 * chunk_rows * blocks_.inner, kept = (row + part) * blocks_.width;
    for_vectors<A>(block.width, [&](std::int64_t j, std::int64_t m) {
      __builtin_prefetch(y_ + at + ahead + j, 0, 2), __builtin_prefetch(g_ + at + ahead + j, 0, 2);
      const Vec<A> y = load_partial(y_ + at + j, m), g = load_partial(g_ + at + j, m);
      store(parts_ + j, Vec<A>(load(parts_ + j) + Slope::template term<A>(y, g)));
      store(ys_ + kept + j, y), store(gs_ + kept + j, g);
    });
    if (part + 1 == rows) add_parts(block.width);
  }
  void turn(ColumnBlock block) {
    std::copy_n(sums_.sum, padded<A>(block.width), total_);
    sums_.clear(block.width);
  }

 private:
  void add_parts(std::int64_t width) {
    for (std::int64_t j = 0; j < width; j += lanes<A>) sums_.add_part(j, load(parts_ + j), splat(A(1)));
    std::fill_n(parts_, padded<A>(width), A(0));
  }
  const ColumnBlocks& blocks_;
  const T *y_, *g_;
  T* dx_;
  bool non_temporal_;
  Workspace<A> space_;
  A *ys_, *gs_, *parts_, *total_;
  ColumnSums<A, false> sums_;
};

template <class Slope, class T>
void backward(const T* y, const T* g, T* dx, AxisShape shape) {
  using A = compute_type<T>;
  const std::int64_t n = shape.size();
  const bool non_temporal = n * std::int64_t(sizeof(T)) >= streaming_bytes;
  if (n == 0) return;
  if (suits_tile<T>(shape.axis, shape.inner, 18))
    return backward_short_rows<Slope>(y, g, dx, shape, non_temporal);
  if (shape.inner == 1) return backward_rows<Slope>(y, g, dx, shape.outer, shape.axis, non_temporal);
  for_column_blocks<SlopeColumns<Slope, T>>(ColumnBlocks::of<A>(shape, 2 * sizeof(A)), y, g, dx,
                                            non_temporal);
}

}  // namespace detail

/// dx = y * (g - sum(g * y)): the gradient of softmax from its result y and the gradient g of y.
template <class T>
void softmax_backward(const T* y, const T* g, T* dx, AxisShape shape) {
  detail::backward<detail::SoftmaxSlope>(y, g, dx, shape);
}

/// dx = g - exp(y) * sum(g): the gradient of log_softmax from its result y and the gradient g of y.
template <class T>
void log_softmax_backward(const T* y, const T* g, T* dx, AxisShape shape) {
  detail::backward<detail::LogSoftmaxSlope>(y, g, dx, shape);
}

}  // namespace ktape::kernels
