#pragma once
#include <ktape/autograd/shape.hpp>

#include <algorithm>
#include <cstdint>

namespace ktape::kernels {

/// How two operands run along a result: neighbouring axes that run alike are merged, axes of extent 1 are dropped, and an
/// operand's step along an axis that it does not have is 0. At least one axis is left.
struct BroadcastPlan {
  int rank = 0;
  std::int64_t size = 1;
  std::int64_t shape[Shape::max_rank], xstep[Shape::max_rank], ystep[Shape::max_rank];

  BroadcastPlan(const Shape& out, const Shape& x, const Shape& y) {
    std::int64_t xs[Shape::max_rank], ys[Shape::max_rank];
    steps(out, x, xs);
    steps(out, y, ys);
    size = out.count();
    for (int i = 0; i < out.rank(); ++i) {
      if (out[i] == 1) continue;
      const int last = rank - 1;
      if (rank > 0 && xstep[last] == xs[i] * out[i] && ystep[last] == ys[i] * out[i]) {
        shape[last] *= out[i];
        xstep[last] = xs[i];
        ystep[last] = ys[i];
      } else {
        shape[rank] = out[i];
        xstep[rank] = xs[i];
        ystep[rank++] = ys[i];
      }
    }
    if (rank == 0) shape[0] = 1, xstep[0] = ystep[0] = 1, rank = 1;
  }

 private:
  static void steps(const Shape& out, const Shape& in, std::int64_t* step) {
    const int shift = out.rank() - in.rank();
    std::int64_t run = 1;
    for (int i = out.rank() - 1; i >= 0; --i) {
      const std::int64_t extent = i < shift ? 1 : in[i - shift];
      step[i] = extent == 1 ? 0 : run;
      run *= extent;
    }
  }
};

/// Walks over the rows (all axes but the last) of a plan and knows where each operand's row starts.
struct BroadcastCursor {
  std::int64_t x = 0, y = 0;

  BroadcastCursor(const BroadcastPlan& plan, std::int64_t row) : plan_(plan) {
    for (int i = plan.rank - 2; i >= 0; --i) {
      index_[i] = row % plan.shape[i];
      row /= plan.shape[i];
      x += index_[i] * plan.xstep[i];
      y += index_[i] * plan.ystep[i];
    }
  }

  void next() {
    for (int i = plan_.rank - 2; i >= 0; --i) {
      x += plan_.xstep[i];
      y += plan_.ystep[i];
      if (++index_[i] < plan_.shape[i]) return;
      x -= plan_.xstep[i] * plan_.shape[i];
      y -= plan_.ystep[i] * plan_.shape[i];
      index_[i] = 0;
    }
  }

 private:
  const BroadcastPlan& plan_;
  std::int64_t index_[Shape::max_rank] = {};
};

/// Copies short rows into a block. A row that is the same throughout the plan is copied for the first block only.
class RowCopier {
 public:
  RowCopier(const BroadcastPlan& plan, const std::int64_t* step)
      : inner_(plan.shape[plan.rank - 1]), step_(step[plan.rank - 1]), fixed_(true) {
    for (int i = 0; i + 1 < plan.rank; ++i) fixed_ = fixed_ && step[i] == 0;
  }

  template <class T>
  void operator()(T* to, const T* from, bool first_block) const {
    if (fixed_ && !first_block) return;
    if (step_ == 0) std::fill_n(to, inner_, *from);
    else std::copy_n(from, inner_, to);
  }

 private:
  std::int64_t inner_, step_;
  bool fixed_;
};

}  // namespace ktape::kernels
