#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/internal/slicing.hpp>
#include <ktape/ops/keras/rows.hpp>
#include <ktape/ops/kernels/copy/gather_scatter.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

#include <limits>
#include <numeric>

namespace ktape::op_helpers {

namespace K = backend;

Tensor pick_rows(const char* op, const Tensor& x, const Tensor& rows, const RowLayout& l,
                 const Shape& shape) {
  Tensor out = Tensor::empty(shape, x.dtype(), op);
  if (out.size() > 0)
    kernels::gather_rows(out.raw(), x.raw(), rows.pointer<std::int64_t>(), l.outer, l.axis, rows.size(),
                         l.inner * static_cast<std::int64_t>(x.dtype().size()));
  if (recording(x))
    record(op, out, {x}, [op, rows, l, shape = x.shape()](const Tensor& g, Grads& grads) {
      const bool slices = l.outer == 1 && shape.rank() > 0 && shape[0] == l.axis;
      if (slices && grads.takes_rows(0)) grads.add_rows(0, rows, g.alias(Shape{rows.size(), l.inner}));
      else grads.to(0, [&] { return add_rows(op, g, rows, l, shape); });
    });
  return out;
}

Tensor add_rows(const char* op, const Tensor& x, const Tensor& rows, const RowLayout& l, const Shape& shape) {
  const Tensor values = widened(x), sums = filled(op, shape, 0, values.dtype());
  if (x.size() > 0)
    dispatch_native(values.dtype(), [&]<class T>() {
      if constexpr (!std::is_same_v<T, bool>)
        kernels::scatter_add_rows(sums.pointer<T>(), rows.pointer<std::int64_t>(),
                                  static_cast<const T*>(values.pointer<T>()), l.outer, l.axis, rows.size(),
                                  l.inner);
    });
  Tensor out = narrowed(sums, x.dtype());
  if (recording(x))
    record(op, out, {x}, [op, rows, l, shape = x.shape()](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return pick_rows(op, g, rows, l, shape); });
    });
  return out;
}

Tensor checked_indices(const char* op, const Tensor& indices, std::int64_t n) {
  if (!indices.dtype().is_integer())
    fail<TypeError>("[", op, "] indices must be integers: received indices=", indices.dtype());
  Tensor out = Tensor::empty({indices.size()}, DType::Int64);
  convert(out.raw(), DType::Int64, indices.raw(), indices.dtype(), indices.size());
  auto* at = out.pointer<std::int64_t>();
  for (std::int64_t i = 0; i < out.size(); ++i) {
    if (at[i] < -n || at[i] >= n)
      fail("[", op, "] indices must be in [", -n, ", ", n, "): received index=", at[i]);
    if (at[i] < 0) at[i] += n;
  }
  return out;
}

Tensor int64_tensor(const std::vector<std::int64_t>& numbers) {
  const auto n = static_cast<std::int64_t>(numbers.size());
  return Tensor::from_buffer(numbers.data(), numbers.size() * 8, {n}, DType::Int64);
}

std::vector<std::int64_t> int64_vector(const Tensor& integers) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(integers.size()));
  convert(out.data(), DType::Int64, integers.raw(), integers.dtype(), integers.size());
  return out;
}

Tensor axis_moved(const Tensor& x, int from, int to) {
  if (from == to) return x;
  Shape pattern;
  for (int d = 0; d < x.ndim(); ++d)
    if (d != from) pattern.push_back(d);
  pattern.insert(to, from);
  return K::permute_dimensions(x, pattern);
}

namespace {

using Rows = std::vector<std::int64_t>;

/// Returns for each element of a segment the position in `data` of its largest (smallest) element, the first of
/// equals, NaN before all numbers; -1 for a segment without rows.
template <class T>
Rows extremes(const T* data, const Rows& ids, std::int64_t segments, std::int64_t inner, bool largest) {
  Rows best(static_cast<std::size_t>(segments * inner), -1);
  for (std::size_t row = 0; row < ids.size(); ++row) {
    if (ids[row] < 0 || ids[row] >= segments) continue;
    for (std::int64_t j = 0; j < inner; ++j) {
      auto& at = best[static_cast<std::size_t>(ids[row] * inner + j)];
      const std::int64_t here = static_cast<std::int64_t>(row) * inner + j;
      const T value = data[here];
      if (at < 0 || (largest ? value > data[at] : value < data[at]) ||
          (value != value && data[at] == data[at]))
        at = here;
    }
  }
  return best;
}

Scalar identity_of(SegmentOp kind, DType dtype) {
  const bool largest = kind == SegmentOp::Max;
  if (kind == SegmentOp::Prod) return 1;
  if (dtype.is_floating()) return largest ? -HUGE_VAL : HUGE_VAL;
  return dispatch_integer(dtype, [&]<class T>() -> Scalar {
    return largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  });
}

Tensor segment_extremes(const char* op, SegmentOp kind, const Tensor& data, const Rows& ids,
                        const Shape& shape) {
  const std::int64_t inner = shape.count(1);
  const Tensor values = widened(data);
  Rows best = dispatch_native(values.dtype(), [&]<class T>() {
    return extremes(static_cast<const T*>(values.pointer<T>()), ids, shape[0], inner, kind == SegmentOp::Max);
  });
  Tensor empty = Tensor::empty(shape, DType::Bool);
  for (std::size_t i = 0; i < best.size(); ++i)
    if ((empty.pointer<bool>()[i] = best[i] < 0)) best[i] = 0;
  const Tensor fill = K::full(shape, identity_of(kind, data.dtype()), data.dtype());
  if (data.size() == 0) return fill;
  return K::where(empty, fill, pick_rows(op, data, int64_tensor(best), {1, data.size(), 1}, shape));
}

/// Multiplies pairs of rows of a segment until each segment is one row. A row without a partner is multiplied by a row
/// of ones, which is appended to the data.
Tensor segment_products(const char* op, const Tensor& data, const Rows& ids, const Shape& shape) {
  const std::int64_t inner = shape.count(1), segments = shape[0];
  std::vector<Rows> members(static_cast<std::size_t>(segments));
  for (std::size_t row = 0; row < ids.size(); ++row)
    if (ids[row] >= 0 && ids[row] < segments)
      members[static_cast<std::size_t>(ids[row])].push_back(static_cast<std::int64_t>(row));
  Tensor rows = K::reshape(data, {data.shape()[0], inner});
  const Tensor one = K::ones({1, inner}, {.dtype = data.dtype()});
  std::size_t longest = 2;
  while (longest > 1) {
    const std::int64_t n = rows.shape()[0];
    Rows left, right;
    longest = 0;
    for (Rows& members_of : members) {
      Rows next;
      for (std::size_t i = 0; i < std::max<std::size_t>(members_of.size(), 1); i += 2) {
        next.push_back(static_cast<std::int64_t>(left.size()));
        left.push_back(i < members_of.size() ? members_of[i] : n);
        right.push_back(i + 1 < members_of.size() ? members_of[i + 1] : n);
      }
      longest = std::max(longest, next.size());
      members_of = std::move(next);
    }
    const Tensor with_one = K::concatenate({rows, one}, 0);
    const RowLayout layout{1, n + 1, inner};
    const Shape next{static_cast<std::int64_t>(left.size()), inner};
    rows = pick_rows(op, with_one, int64_tensor(left), layout, next) *
           pick_rows(op, with_one, int64_tensor(right), layout, next);
  }
  return K::reshape(rows, shape);
}

}  // namespace

Tensor reduce_segments(const char* op, SegmentOp kind, const Tensor& data, const Tensor& segment_ids,
                       std::int64_t segments) {
  const Rows ids = int64_vector(segment_ids);
  Shape shape = data.shape();
  shape[0] = segments;
  check_extents(op, shape, sizeof(std::int64_t));
  check_extents(op, {segments}, sizeof(Rows));
  if (segments == 0) return Tensor::empty(shape, data.dtype(), op);
  if (kind == SegmentOp::Prod) return segment_products(op, data, ids, shape);
  if (kind != SegmentOp::Sum) return segment_extremes(op, kind, data, ids, shape);
  Rows inside, targets;
  for (std::size_t row = 0; row < ids.size(); ++row)
    if (ids[row] >= 0 && ids[row] < segments)
      inside.push_back(static_cast<std::int64_t>(row)), targets.push_back(ids[row]);
  const std::int64_t inner = shape.count(1);
  Shape kept = data.shape();
  kept[0] = static_cast<std::int64_t>(inside.size());
  const Tensor rows = inside.size() == ids.size()
                          ? data
                          : pick_rows(op, data, int64_tensor(inside), {1, data.shape()[0], inner}, kept);
  return add_rows(op, rows, int64_tensor(targets), {1, segments, inner}, shape);
}

}  // namespace ktape::op_helpers
