#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/sets.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

/// Throws ValueError for an index that an axis does not have.
Tensor checked(const Tensor& indices, std::int64_t extent) {
  const Tensor from = from_zero(indices, extent);
  for (const std::int64_t i : whole(from))
    if (i < 0 || i >= extent)
      fail("[onnx] indices must be in [", -extent, ", ", extent, "): received index=", i);
  return from;
}

Tensors gather(const Call& call) {
  const int axis = axes_of({call.integer("axis", 0)}, call[0].ndim())[0];
  return {ops::take(call[0], checked(call[1], call[0].shape()[axis]), axis)};
}

/// Throws ValueError unless the indices have the rank of x and fit into x beside the axis.
void expect_fitting(const Tensor& x, const Tensor& indices, int axis) {
  bool fits = x.ndim() == indices.ndim();
  for (int i = 0; fits && i < x.ndim(); ++i) fits = i == axis || indices.shape()[i] <= x.shape()[i];
  if (!fits)
    fail("[onnx] indices must fit into the data: received shapes ", x.shape(), " and ", indices.shape());
}

Tensors gather_elements(const Call& call) {
  Tensor x = call[0];
  const int axis = axes_of({call.integer("axis", 0)}, x.ndim())[0];
  expect_fitting(x, call[1], axis);
  for (int i = 0; i < x.ndim(); ++i)
    if (i != axis && call[1].shape()[i] < x.shape()[i]) x = strided(x, i, 0, call[1].shape()[i]);
  return {ops::take_along_axis(x, checked(call[1], x.shape()[axis]), axis)};
}

/// Returns the position along an axis of each element of a shape, with a last axis of 1.
Tensor positions(const Shape& shape, int axis) {
  const Tensor along = K::arange(0, shape[axis], 1, {.dtype = DType::Int64});
  return K::expand_dims(K::broadcast_to(along_axis(along, axis, shape.rank()), shape), -1);
}

/// Returns the updates' way of change in the library's words; nothing for "none".
std::optional<std::string> reduction_of(const Call& call) {
  const std::string reduction = call.text("reduction", "none");
  return reduction == "none" ? std::optional<std::string>() : reduction;
}

Tensors scatter_elements(const Call& call) {
  const Tensor &x = call[0], &updates = call[2];
  const int axis = axes_of({call.integer("axis", 0)}, x.ndim())[0];
  const Tensor indices = checked(call[1], x.shape()[axis]);
  expect_fitting(x, indices, axis);
  Tensors places;
  for (int i = 0; i < x.ndim(); ++i)
    places.push_back(i == axis ? K::expand_dims(indices, -1) : positions(indices.shape(), i));
  const Tensor at = K::reshape(K::concatenate(places, -1), {indices.size(), x.ndim()});
  return {ops::scatter_update(x, at, K::reshape(updates, {updates.size()}), reduction_of(call))};
}

/// Checks multi-indices into the axes of x from `first` on.
Tensor checked_multi(const Tensor& indices, const Shape& shape, int first) {
  const std::int64_t width = indices.ndim() == 0 ? 0 : indices.shape().back();
  if (width < 1 || width + first > shape.rank())
    fail("[onnx] indices must name 1 to ", shape.rank() - first, " axes: received shape=", indices.shape());
  Tensors columns;
  for (std::int64_t i = 0; i < width; ++i)
    columns.push_back(
        checked(strided(indices, indices.ndim() - 1, i, 1), shape[first + static_cast<int>(i)]));
  return K::concatenate(columns, -1);
}

Tensors gather_nd(const Call& call) {
  const int batch = static_cast<int>(call.integer("batch_dims", 0));
  if (batch < 0 || batch >= call[1].ndim())
    fail("[onnx] batch_dims must be below the rank: received ", batch);
  const Tensor indices = checked_multi(call[1], call[0].shape(), batch);
  Tensors places;
  Shape rows = indices.shape();
  rows.erase(rows.rank() - 1);
  for (int i = 0; i < batch; ++i) places.push_back(positions(rows, i));
  places.push_back(indices);
  return {K::gather_nd(call[0], K::concatenate(places, -1))};
}

Tensors scatter_nd(const Call& call) {
  return {
      ops::scatter_update(call[0], checked_multi(call[1], call[0].shape(), 0), call[2], reduction_of(call))};
}

Tensors one_hot(const Call& call) {
  const Numbers depth = whole(K::cast(call[1], DType::Int64));
  if (depth.size() != 1 || depth[0] < 1)
    fail("[onnx] depth must be 1 or more: received depth=", numbers(depth));
  const int rank = call[0].ndim() + 1, axis = axes_of({call.integer("axis", -1)}, rank)[0];
  const Tensor indices = K::expand_dims(from_zero(call[0], depth[0]), axis);
  const Tensor classes = along_axis(K::arange(0, depth[0], 1, {.dtype = DType::Int64}), axis, rank);
  return {K::where(K::equal(indices, classes), K::reshape(strided(call[2], 0, 1, 1), Shape()),
                   K::reshape(strided(call[2], 0, 0, 1), Shape()))};
}

Tensors nonzero(const Call& call) {
  Tensors rows;
  for (const Tensor& row : ops::nonzero(call[0])) rows.push_back(K::cast(row, DType::Int64));
  return {K::stack(rows, 0)};
}

Tensors compress(const Call& call) {
  const Tensor keep = K::cast(call[1], DType::Int64);
  Numbers places;
  const Numbers flags = whole(keep);
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (flags[i]) places.push_back(static_cast<std::int64_t>(i));
  const bool flat = !call.find("axis");
  const Tensor x = flat ? K::reshape(call[0], {call[0].size()}) : call[0];
  const int axis = axes_of({call.integer("axis", 0)}, x.ndim())[0];
  return {ops::take(x, checked(indices_of(places), x.shape()[axis]), axis)};
}

Tensors reverse_sequence(const Call& call) {
  const Tensor& x = call[0];
  const int time = axes_of({call.integer("time_axis", 0)}, x.ndim())[0];
  const int batch = axes_of({call.integer("batch_axis", 1)}, x.ndim())[0];
  const std::int64_t n = x.shape()[time];
  const Numbers lengths = whole(call[1]);
  if (static_cast<std::int64_t>(lengths.size()) != x.shape()[batch] || time == batch)
    fail("[onnx] there must be a length for each sequence: received ", numbers(lengths));
  for (const std::int64_t length : lengths)
    if (length < 0 || length > n) fail("[onnx] a length must be at most ", n, ": received ", length);
  const Tensor step = along_axis(K::arange(0, n, 1, {.dtype = DType::Int64}), time, x.ndim());
  const Tensor length = along_axis(indices_of(lengths), batch, x.ndim());
  const Tensor places = K::where(K::less(step, length), length - 1 - step, step);
  return {ops::take_along_axis(x, K::broadcast_to(places, x.shape()), time)};
}

Tensors unique(const Call& call) {
  const bool flat = !call.find("axis");
  std::optional<int> axis;
  if (!flat) axis = axes_of({call.integer("axis", 0)}, call[0].ndim())[0];
  const Tensor x = flat ? K::reshape(call[0], {call[0].size()}) : call[0];
  std::vector<Tensor> found =
      ops::unique(x, {.return_index = true, .return_inverse = true, .return_counts = true, .axis = axis});
  for (std::size_t i = 1; i < found.size(); ++i) found[i] = K::cast(found[i], DType::Int64);
  if (!call.flag("sorted", true)) {  // in the order in which the values occur
    const Tensor order = K::cast(K::argsort(found[1], 0), DType::Int64);
    const Tensor rank = K::cast(K::argsort(order, 0), DType::Int64);
    found = {ops::take(found[0], order, axis.value_or(0)), ops::take(found[1], order, 0),
             ops::take(rank, found[2], 0), ops::take(found[3], order, 0)};
  }
  return found;
}

}  // namespace

void add_indexing(OperatorTable& t) {
  t["Gather"] = gather, t["GatherElements"] = gather_elements, t["GatherND"] = gather_nd;
  t["ScatterElements"] = scatter_elements, t["Scatter"] = scatter_elements, t["ScatterND"] = scatter_nd;
  t["OneHot"] = one_hot, t["NonZero"] = nonzero, t["Compress"] = compress,
  t["ReverseSequence"] = reverse_sequence;
  t["Unique"] = unique;
}

}  // namespace ktape::nn::onnx
