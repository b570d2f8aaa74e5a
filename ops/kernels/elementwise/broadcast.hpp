#pragma once
#include <ktape/autograd/base/shape.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace ktape::kernels {

/// Returns the steps of an array of shape `from` along the axes of the broadcast shape `to`: 0 along axes
/// that the array repeats.
inline std::array<std::int64_t, Shape::max_rank> broadcast_steps(const Shape& from, const Shape& to) {
  std::array<std::int64_t, Shape::max_rank> step;
  const int shift = to.rank() - from.rank();
  std::int64_t run = 1;
  for (int d = to.rank() - 1; d >= 0; --d) {
    const std::int64_t extent = d < shift ? 1 : from[d - shift];
    step[d] = extent == 1 ? 0 : run;
    run *= extent;
  }
  return step;
}

/// The steps of two operands along the axes of a result: neighbouring axes with fitting steps are merged,
/// axes of extent 1 are dropped, and the step is 0 along axes that an operand repeats. At least one axis is
/// left.
struct BroadcastPlan {
  int rank = 0;
  std::int64_t size = 1;
  std::int64_t shape[Shape::max_rank], xstep[Shape::max_rank], ystep[Shape::max_rank];

  BroadcastPlan(const Shape& out, const Shape& x, const Shape& y) {
    const auto xs = broadcast_steps(x, out), ys = broadcast_steps(y, out);
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

  /// Returns for how many rows, at most `most`, the operands advance by the steps of the axis before the last.
  std::int64_t even_rows(std::int64_t most) const {
    return plan_.rank < 2 ? most : std::min(most, plan_.shape[plan_.rank - 2] - index_[plan_.rank - 2]);
  }

  /// Advances by n <= even_rows rows.
  void next(std::int64_t n = 1) {
    for (int i = plan_.rank - 2; i >= 0; --i, n = 1) {
      x += n * plan_.xstep[i];
      y += n * plan_.ystep[i];
      if ((index_[i] += n) < plan_.shape[i]) return;
      x -= plan_.xstep[i] * plan_.shape[i];
      y -= plan_.ystep[i] * plan_.shape[i];
      index_[i] = 0;
    }
  }

 private:
  const BroadcastPlan& plan_;
  std::int64_t index_[Shape::max_rank] = {};
};

}  // namespace ktape::kernels
