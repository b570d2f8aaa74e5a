#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/keras/rows.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>

#include <algorithm>
#include <cstring>

namespace ktape::ops {

namespace K = backend;

Tensor size(const Tensor& x) { return K::size(x); }
Tensor broadcast_to(const Tensor& x, const K::ShapeLike& shape) {
  if (!shape.waits()) return K::broadcast_to(x, shape.known());
  expect_defined("broadcast_to", "x", x);
  return defer_described("broadcast_to", {shape.known(), x.dtype()}, broadcast_to, x, shape);
}

Tensor reshape(const Tensor& x, const K::ShapeLike& newshape) { return K::reshape(x, newshape); }
Tensor ravel(const Tensor& x) {
  const CalledOp called("ravel");
  return K::reshape(x, {-1});
}

Tensor expand_dims(const Tensor& x, const Axes& axis) {
  expect_defined("expand_dims", "x", x);
  if (axis.all()) fail("[expand_dims] axis must be given: received axis=None");
  const int rank = x.ndim() + static_cast<int>(axis.list().size());
  expect_rank("expand_dims", rank);
  const unsigned added = canonical_axes("expand_dims", axis, rank);
  Tensor out = x;
  for (int d = 0; d < rank; ++d)
    if (added >> d & 1) out = K::expand_dims(out, d);
  return out;
}

Tensor squeeze(const Tensor& x, const Axes& axis) {
  const CalledOp called("squeeze");
  expect_defined("squeeze", "x", x);
  Tensor out = x;
  const unsigned named = axis.all() ? 0 : canonical_axes("squeeze", axis, x.ndim());
  for (int d = x.ndim() - 1; d >= 0; --d)
    if (axis.all() ? x.shape()[d] == 1 : named >> d & 1) out = K::squeeze(out, d);
  return out;
}

Tensor transpose(const Tensor& x, const OptionalShape& axes) {
  const CalledOp called("transpose");
  if (!axes) return K::transpose(x);
  expect_defined("transpose", "x", x);
  Shape pattern = *axes;
  for (std::int64_t& axis : pattern) axis = canonical_axis("transpose", static_cast<int>(axis), x.ndim());
  return K::permute_dimensions(x, pattern);
}

Tensor moveaxis(const Tensor& x, const Axes& source, const Axes& destination) {
  const CalledOp called("moveaxis");
  expect_defined("moveaxis", "x", x);
  if (source.list().size() != destination.list().size())
    fail("[moveaxis] source and destination must name as many axes: received ", source.list().size(), " and ",
         destination.list().size());
  const unsigned from = canonical_axes("moveaxis", source, x.ndim());
  canonical_axes("moveaxis", destination, x.ndim());
  std::vector<std::int64_t> pattern(static_cast<std::size_t>(x.ndim()), -1);
  for (std::size_t i = 0; i < source.list().size(); ++i)
    pattern[static_cast<std::size_t>(canonical_axis("moveaxis", destination.list()[i], x.ndim()))] =
        canonical_axis("moveaxis", source.list()[i], x.ndim());
  int next = 0;
  for (std::int64_t& place : pattern) {
    if (place >= 0) continue;
    while (from >> next & 1) ++next;
    place = next++;
  }
  return K::permute_dimensions(x, Shape(pattern));
}

Tensor swapaxes(const Tensor& x, int axis1, int axis2) {
  const CalledOp called("swapaxes");
  expect_defined("swapaxes", "x", x);
  Shape pattern;
  for (int d = 0; d < x.ndim(); ++d) pattern.push_back(d);
  std::swap(pattern[canonical_axis("swapaxes", axis1, x.ndim())],
            pattern[canonical_axis("swapaxes", axis2, x.ndim())]);
  return K::permute_dimensions(x, pattern);
}

Tensor flip(const Tensor& x, const Axes& axis) {
  const CalledOp called("flip");
  return K::reverse(x, axis);
}
Tensor fliplr(const Tensor& x) {
  const CalledOp called("fliplr");
  return K::reverse(x, 1);
}
Tensor flipud(const Tensor& x) {
  const CalledOp called("flipud");
  return K::reverse(x, 0);
}

namespace {

/// Returns the part of x from `begin` up to, not including, `end` along an axis.
Tensor part(const Tensor& x, int axis, Slice::Bound begin, Slice::Bound end) {
  std::vector<Index> index(static_cast<std::size_t>(axis), All);
  index.push_back(Slice(begin, end));
  return K::index(x, Indices(index));
}

Tensor rolled(const Tensor& x, std::int64_t shift, int axis) {
  const std::int64_t n = x.shape()[axis];
  if (n == None) return defer_described("roll", {x.shape(), x.dtype()}, rolled, x, shift, axis);
  const std::int64_t first = n == 0 ? 0 : (n - shift % n) % n;
  if (first == 0) return x;
  return K::concatenate({part(x, axis, first, None), part(x, axis, 0, first)}, axis);
}

}  // namespace

Tensor roll(const Tensor& x, const K::PerAxis<std::int64_t>& shift, const Axes& axis) {
  const CalledOp called("roll");
  expect_defined("roll", "x", x);
  const std::vector<std::int64_t>& shifts = shift.list();
  if (axis.all()) {
    Tensor moved = K::reshape(x, {-1});
    for (const std::int64_t each : shifts) moved = rolled(moved, each, 0);
    return x.size() >= 0 ? K::reshape(moved, x.shape()) : K::reshape(moved, K::shape(x));
  }
  const std::vector<int>& axes = axis.list();
  if (shifts.size() != axes.size() && shifts.size() != 1 && axes.size() != 1)
    fail("[roll] there must be one shift for each axis: received ", shifts.size(), " for ", axes.size());
  Tensor out = x;
  for (std::size_t i = 0; i < (axes.size() == 1 ? shifts.size() : axes.size()); ++i)
    out = rolled(out, shifts[shifts.size() == 1 ? 0 : i],
                 canonical_axis("roll", axes[axes.size() == 1 ? 0 : i], x.ndim()));
  return K::identity(out);
}

Tensor rot90(const Tensor& array, int k, const Axes& axes) {
  const CalledOp called("rot90");
  expect_defined("rot90", "array", array);
  if (axes.all() || axes.list().size() != 2)
    fail("[rot90] axes must name two axes: received ", axes.all() ? 0 : axes.list().size());
  if (array.ndim() < 2) fail("[rot90] array must have rank 2 or more: received array=", array.shape());
  canonical_axes("rot90", axes, array.ndim());
  const int a = axes.list()[0], b = axes.list()[1];
  switch ((k % 4 + 4) % 4) {
    case 0:
      return K::identity(array);
    case 1:
      return swapaxes(K::reverse(array, b), a, b);
    case 2:
      return K::reverse(array, {a, b});
    default:
      return K::reverse(swapaxes(array, a, b), b);
  }
}

Tensor repeat(const Tensor& x, const K::PerAxis<std::int64_t>& repeats, std::optional<int> given_axis) {
  const CalledOp called("repeat");
  expect_defined("repeat", "x", x);
  if (!given_axis) return repeat(K::reshape(x, {-1}), repeats, 0);
  const int axis = canonical_axis("repeat", *given_axis, x.ndim());
  for (const std::int64_t n : repeats.list())
    if (n < 0) fail("[repeat] repeats must be at least 0: received repeats=", n);
  const std::vector<std::int64_t>& each = repeats.list();
  if (each.size() == 1) return K::repeat_elements(x, each[0], axis);
  if (!compatible(x.shape()[axis], static_cast<std::int64_t>(each.size())))
    fail("[repeat] there must be one number for each of ", x.shape()[axis], " positions: received ",
         each.size());
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < each.size(); ++i) {
    check_extents("repeat", {each[i]}, sizeof(std::int64_t));
    check_extents("repeat", {static_cast<std::int64_t>(rows.size()) + each[i]}, sizeof(std::int64_t));
    rows.insert(rows.end(), static_cast<std::size_t>(each[i]), static_cast<std::int64_t>(i));
  }
  Shape shape = x.shape();
  shape[axis] = static_cast<std::int64_t>(rows.size());
  if (is_symbolic(x)) return defer_described("repeat", {shape, x.dtype()}, repeat, x, repeats, given_axis);
  return op_helpers::pick_rows("repeat", x, op_helpers::int64_tensor(rows),
                               {x.shape().count(0, axis), x.shape()[axis], x.shape().count(axis + 1)}, shape);
}

Tensor tile(const Tensor& x, const K::PerAxis<std::int64_t>& repeats) {
  expect_defined("tile", "x", x);
  std::vector<std::int64_t> n = repeats.list();
  Tensor out = x;
  while (static_cast<int>(n.size()) < x.ndim()) n.insert(n.begin(), 1);
  while (out.ndim() < static_cast<int>(n.size())) out = K::expand_dims(out, 0);
  return K::tile(out, n);
}

Tensor pad(const Tensor& x, const K::PerAxis<K::PaddingPair>& pad_width, const std::string& mode,
           std::optional<Scalar> constant_values) {
  expect_defined("pad", "x", x);
  if (constant_values && mode != "constant")
    fail("[pad] constant_values belong to the mode \"constant\": received mode=\"", mode, '"');
  const auto& pairs = pad_width.list();
  const auto each =
      pairs.size() == 1 ? std::vector<K::PaddingPair>(static_cast<std::size_t>(x.ndim()), pairs[0]) : pairs;
  return K::pad(x, each, {.mode = mode, .constant_values = constant_values.value_or(0)});
}

Tensor copy(const Tensor& x) {
  const CalledOp called("copy");
  return K::identity(x);
}

Tensor view(const Tensor& x, std::optional<DType> dtype) {
  expect_defined("view", "x", x);
  if (!dtype || *dtype == x.dtype()) return K::identity(x);
  Shape shape = x.shape();
  const auto from = static_cast<std::int64_t>(x.dtype().size()),
             to = static_cast<std::int64_t>(dtype->size());
  if (from != to) {
    const std::int64_t extent = shape.rank() == 0 ? 1 : shape.back();
    if (shape.rank() == 0 || (extent != None && extent * from % to != 0))
      fail("[view] the bytes of the last axis must be whole elements of ", *dtype, ": received x=", shape,
           ", ", x.dtype());
    shape[-1] = extent == None ? std::int64_t{None} : extent * from / to;
  }
  if (is_symbolic(x)) return defer_described("view", {shape, *dtype}, view, WithoutGradient{x}, dtype);
  if (dtype->is_bool()) return K::cast(view(x, DType::UInt8), DType::Bool);
  Tensor out = Tensor::empty(shape, *dtype, "view");
  if (out.size() > 0) std::memcpy(out.raw(), x.raw(), static_cast<std::size_t>(x.size() * from));
  return out;
}

}  // namespace ktape::ops

namespace ktape::nn {
namespace {

Tensor padded(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  Value width = call.value("pad_width");
  if (width.is_integer()) width = Value::List(static_cast<std::size_t>(x.ndim()), Value::List{width, width});
  else if (!width.list("[Pad] pad_width").empty() && !width.list()[0].is_list())
    width = Value::List(static_cast<std::size_t>(x.ndim()), width);
  const Scalar constant = call.has("constant_values") ? call.scalar("constant_values") : Scalar(0);
  return backend::pad(x, width.as<std::vector<backend::PaddingPair>>("[Pad] pad_width"),
                      {.mode = call.text("mode"), .constant_values = constant});
}

}  // namespace

Operations numpy_shape_operations() {
  static constexpr Operation rows[] = {
      {"Reshape", "numpy", "x; newshape", calls<ops::reshape>},
      {"Ravel", "numpy", "x;", calls<ops::ravel>, "flatten"},
      {"ExpandDims", "numpy", "x; axis", calls<ops::expand_dims>},
      {"Squeeze", "numpy", "x; axis=null", calls<ops::squeeze>},
      {"Transpose", "numpy", "x; axes=null", calls<ops::transpose>, "permute_dimensions"},
      {"Moveaxis", "numpy", "x; source, destination", calls<ops::moveaxis>, "-"},
      {"Swapaxes", "numpy", "x; axis1, axis2", calls<ops::swapaxes>, "-"},
      {"Flip", "numpy", "x; axis=null", calls<ops::flip>, "reverse"},
      {"Fliplr", "numpy", "x;", calls<ops::fliplr>, "-"},
      {"Flipud", "numpy", "x;", calls<ops::flipud>, "-"},
      {"Roll", "numpy", "x; shift, axis=null", calls<ops::roll>},
      {"Rot90", "numpy", "array; k=1, axes=[0, 1]", calls<ops::rot90>},
      {"Repeat", "numpy", "x; repeats, axis=null", calls<ops::repeat>, "repeat_elements repeat"},
      {"Tile", "numpy", "x; repeats", calls<ops::tile>},
      {"BroadcastTo", "numpy", "x; shape", calls<ops::broadcast_to>},
      {"Pad", "numpy", "x, constant_values!=null; pad_width, mode=\"constant\"", padded, "", "x, pad_width"},
      {"Size", "numpy", "x;", calls<ops::size>, "size", "x"},
      {"Copy", "numpy", "x;", calls<ops::copy>, "-"},
      {"View", "numpy", "x; dtype=null", calls<ops::view>},
      {"Ndim", "numpy", "x;",
       [](const OperationCall& call) {
         return backend::constant(call.tensor("x").ndim(), {.dtype = DType::Int32});
       },
       "-"},
  };
  return rows;
}

}  // namespace ktape::nn
