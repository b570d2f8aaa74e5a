#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/internal/selection.hpp>

#include <algorithm>
#include <limits>

namespace ktape::op_helpers {
namespace {

/// Returns whether a slice is empty for every extent: both bounds count from one end and leave no room.
bool empty_everywhere(const Slice& slice, std::int64_t step) {
  const std::int64_t start = slice.start.given() ? slice.start.value_or(0)
                             : step > 0          ? 0
                                                 : -1,
                     stop = slice.stop.value_or(0);
  const bool same_end = (start < 0) == (stop < 0);
  return slice.stop.given() && same_end && (step > 0 ? start >= stop : start <= stop);
}

/// Makes a selection axis by axis.
struct Selector : Selection {
  const char* op;

  void take(std::int64_t start, std::int64_t step, std::int64_t size) {
    window.start.push_back(start);
    window.step.push_back(step);
    window.size.push_back(size);
  }
  void take_slice(const Slice& slice, std::int64_t extent) {
    const std::int64_t step = slice.step.value_or(1);
    if (step == 0) fail("[", op, "] a step must not be 0: received step=0");
    if (extent == None) return take(0, 1, 0), shape.push_back(empty_everywhere(slice, step) ? 0 : None);
    // The first and the last place that a bound may name: going backwards, one before the first element ends
    // the slice.
    const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    const auto place = [&](Slice::Bound bound, std::int64_t otherwise) {
      if (!bound.given()) return otherwise;
      const std::int64_t value = bound.value_or(0);
      return std::clamp(value < 0 ? value + extent : value, low, high);
    };
    const std::int64_t start = place(slice.start, step > 0 ? low : high),
                       stop = place(slice.stop, step > 0 ? high : low);
    const std::int64_t distance = step > 0 ? stop - start : start - stop;
    const std::int64_t stride = step > 0                                           ? step
                                : step == std::numeric_limits<std::int64_t>::min() ? extent + 1
                                                                                   : -step;
    const std::int64_t size = distance <= 0 ? 0 : (distance - 1) / stride + 1;
    take(start, size > 1 ? step : 1, size);
    shape.push_back(size);
  }
};

/// Returns the rank of the result.
int result_rank(const std::vector<Index>& entries, int rank) {
  for (const Index& entry : entries) rank += (entry.kind() == Index::New) - (entry.kind() == Index::Position);
  return rank;
}

int axes_named(const char* op, const std::vector<Index>& entries, const Shape& shape) {
  int axes = 0, rests = 0;
  for (const Index& entry : entries) {
    axes += entry.kind() == Index::Position || entry.kind() == Index::Range;
    rests += entry.kind() == Index::Rest;
  }
  if (rests > 1) fail("[", op, "] an index may hold one Ellipsis: received ", rests);
  if (axes > shape.rank())
    fail("[", op, "] an index must not name more axes than x has: received x=", shape, ", axes=", axes);
  return axes;
}

}  // namespace

Selection select(const char* op, const Shape& shape, std::vector<Index> entries) {
  const int whole = shape.rank() - axes_named(op, entries, shape);
  expect_rank(op, result_rank(entries, shape.rank()));
  if (std::none_of(entries.begin(), entries.end(), [](const Index& e) { return e.kind() == Index::Rest; }))
    entries.push_back(Ellipsis);
  Selector out{{}, op};
  for (const Index& entry : entries) {
    const int axis = out.window.size.rank();
    if (entry.kind() == Index::New) {
      out.shape.push_back(1);
    } else if (entry.kind() == Index::Rest) {
      for (int d = 0; d < whole; ++d) out.take_slice(All, shape[axis + d]);
    } else if (entry.kind() == Index::Range) {
      out.take_slice(entry.slice(), shape[axis]);
    } else {
      const std::int64_t extent = shape[axis], position = entry.position();
      if (extent != None && (position < -extent || position >= extent))
        fail("[", op, "] a position must be in [", -extent, ", ", extent, ") on axis ", axis, " of x=", shape,
             ": received ", position);
      out.take(position < 0 ? position + extent : position, 1, 1);
    }
  }
  return out;
}

Tensor places_of_true(const Tensor& mask) {
  const bool* const truth = mask.pointer<bool>();
  const std::int64_t n = mask.size();
  Tensor out = Tensor::empty({std::count(truth, truth + n, true)}, DType::Int64);
  auto* to = out.pointer<std::int64_t>();
  for (std::int64_t i = 0; i < n; ++i)
    if (truth[i]) *to++ = i;
  return out;
}

}  // namespace ktape::op_helpers
