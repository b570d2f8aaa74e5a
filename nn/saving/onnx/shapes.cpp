#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

/// Returns extents as a Shape. Throws ValueError for more axes than a tensor can have, and for negative extents.
Shape shape_of(const Numbers& extents) {
  for (const std::int64_t extent : extents)
    if (extent < 0) fail("[onnx] an extent must be 0 or more: received ", numbers(extents));
  return extents;
}

Tensors reshape(const Call& call) {
  const Tensor& x = call[0];
  Numbers extents = call.integers_or_input("shape", 1);
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (extents[i] == 0 && !call.flag("allowzero")) extents[i] = x.shape()[static_cast<int>(i)];
  if (x.size() == 0) std::replace(extents.begin(), extents.end(), std::int64_t{-1}, std::int64_t{0});
  return {K::reshape(x, Shape(extents))};
}

Tensors flatten(const Call& call) {
  const Tensor& x = call[0];
  const std::int64_t given = call.integer("axis", 1), axis = given < 0 ? given + x.ndim() : given;
  if (axis < 0 || axis > x.ndim())
    fail("[onnx] the axis must be at most ", x.ndim(), ": received axis=", given);
  const int at = static_cast<int>(axis);
  if (x.size() < 0 && at == 1) return {K::batch_flatten(x)};
  return {K::reshape(x, {x.shape().count(0, at), x.shape().count(at)})};
}

Tensors transpose(const Call& call) {
  if (!call.find("perm")) return {K::transpose(call[0])};
  return {K::permute_dimensions(call[0], Shape(call.integers("perm")))};
}

Tensors concatenate(const Call& call) {
  return {K::concatenate(TensorList(call.inputs), axes_of({call.integer("axis", 1)}, call[0].ndim())[0])};
}

Tensors split(const Call& call) {
  const Tensor& x = call[0];
  const int axis = axes_of({call.integer("axis", 0)}, x.ndim())[0];
  const std::int64_t extent = x.shape()[axis], outputs = static_cast<std::int64_t>(call.node.outputs.size());
  Numbers sizes = call.integers_or_input("split", 1);
  const std::int64_t most = (extent + outputs - 1) / outputs;
  for (std::int64_t left = extent;
       static_cast<std::int64_t>(sizes.size()) < outputs && !call.has(1) && !call.find("split");
       left -= sizes.back())
    sizes.push_back(std::min(most, left));
  if (std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) != extent ||
      static_cast<std::int64_t>(sizes.size()) != outputs)
    fail("[onnx] the parts must give the axis of ", extent, " elements: received split=", numbers(sizes));
  Tensors parts;
  std::int64_t at = 0;
  for (const std::int64_t size : sizes) parts.push_back(strided(x, axis, std::exchange(at, at + size), size));
  return parts;
}

Tensors squeeze(const Call& call) {
  const std::vector<int> axes = axes_of(call.integers_or_input("axes", 1), call[0].ndim());
  return {axes.empty() ? ops::squeeze(call[0]) : ops::squeeze(call[0], axes)};
}

Tensors unsqueeze(const Call& call) {
  const Numbers given = call.integers_or_input("axes", 1);
  std::vector<int> axes = axes_of(given, call[0].ndim() + static_cast<int>(given.size()));
  std::sort(axes.begin(), axes.end());
  Tensor x = call[0];
  for (const int axis : axes) x = K::expand_dims(x, axis);
  return {x};
}

Tensors expand(const Call& call) {
  const Tensor& x = call[0];
  Shape target = shape_of(whole(call[1]));
  while (target.rank() < x.ndim()) target.insert(0, 1);
  for (int i = 1; i <= x.ndim(); ++i)
    if (target[-i] == 1) target[-i] = x.shape()[-i];
  return {K::broadcast_to(x, target)};
}

Tensors tile(const Call& call) { return {ops::tile(call[0], shape_of(whole(call[1])))}; }

/// The longest axis that is made from single places.
constexpr std::int64_t most_places = std::int64_t{1} << 31;

/// Returns the place in an axis of n elements that a position outside of the axis shows.
std::int64_t mirrored(std::int64_t at, std::int64_t n, const std::string& mode) {
  if (mode == "edge" || n == 1) return std::clamp<std::int64_t>(at, 0, n - 1);
  if (mode == "wrap") return ((at % n) + n) % n;
  const std::int64_t period = 2 * (n - 1), in = ((at % period) + period) % period;
  return std::min(in, period - in);
}

Tensor padded_axis(const Tensor& x, int axis, std::int64_t before, std::int64_t after,
                   const std::string& mode) {
  const std::int64_t n = x.shape()[axis];
  if (n == 0 || before + after > most_places)
    fail("[onnx] an axis of ", n, " elements cannot be continued by ", before, " and ", after,
         ": received mode=", mode);
  Numbers places;
  for (std::int64_t at = -before; at < n + after; ++at) places.push_back(mirrored(at, n, mode));
  return ops::take(x, indices_of(places), axis);
}

Tensors pad(const Call& call) {
  Tensor x = call[0];
  const std::string mode = call.text("mode", "constant");
  const Numbers pads = call.integers_or_input("pads", 1);
  std::vector<int> axes(pads.size() / 2);
  std::iota(axes.begin(), axes.end(), 0);
  if (call.has(3)) axes = axes_of(whole(call[3]), x.ndim());
  if (pads.size() != 2 * axes.size() || (!call.has(3) && static_cast<int>(axes.size()) != x.ndim()))
    fail("[onnx] pads must have two numbers for each axis: received ", numbers(pads));
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    fail("[onnx] the mode must be constant, reflect, edge or wrap: received mode=", mode);
  const std::size_t axes_count = axes.size();
  std::vector<K::PaddingPair> pairs(static_cast<std::size_t>(x.ndim()), K::PaddingPair(0));
  for (std::size_t i = 0; i < axes_count; ++i) {
    if (pads[i] > most_places || pads[i + axes_count] > most_places || pads[i] < -most_places ||
        pads[i + axes_count] < -most_places)
      fail("[onnx] pads must be at most ", most_places, ": received ", numbers(pads));
    const std::int64_t before = pads[i], after = pads[i + axes_count], n = x.shape()[axes[i]];
    const std::int64_t cut_before = std::max<std::int64_t>(-before, 0),
                       cut_after = std::max<std::int64_t>(-after, 0);
    if (cut_before + cut_after > n)
      fail("[onnx] negative pads must leave elements: received ", numbers(pads));
    if (cut_before || cut_after) x = strided(x, axes[i], cut_before, n - cut_before - cut_after);
    const K::PaddingPair pair(std::max<std::int64_t>(before, 0), std::max<std::int64_t>(after, 0));
    if (mode == "constant") pairs[static_cast<std::size_t>(axes[i])] = pair;
    else if (pair.before || pair.after) x = padded_axis(x, axes[i], pair.before, pair.after, mode);
  }
  if (mode != "constant") return {x};
  const double value = call.has(2) && call[2].size() == 1 ? K::cast(call[2], DType::Float64).item<double>()
                                                          : call.real("value", 0);
  return {K::pad(x, pairs, {.constant_values = value})};
}

Tensors slice(const Call& call) {
  Tensor x = call[0];
  const Numbers starts = call.integers_or_input("starts", 1), ends = call.integers_or_input("ends", 2);
  Numbers axes = call.integers_or_input("axes", 3), steps = call.has(4) ? whole(call[4]) : Numbers();
  if (axes.empty()) axes.resize(starts.size()), std::iota(axes.begin(), axes.end(), 0);
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    fail("[onnx] starts, ends, axes and steps must have equal lengths: received starts=", numbers(starts));
  const std::vector<int> at = axes_of(axes, x.ndim());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t n = x.shape()[at[i]], step = steps[i];
    if (step == 0 || step == std::numeric_limits<std::int64_t>::min())
      fail("[onnx] a step must not be 0: received steps=", numbers(steps));
    const auto bound = [&](std::int64_t given) {
      const std::int64_t from_zero = given < 0 ? given + n : given;
      return step > 0 ? std::clamp<std::int64_t>(from_zero, 0, n)
                      : std::clamp<std::int64_t>(from_zero, -1, n - 1);
    };
    const std::int64_t begin = bound(starts[i]), end = bound(ends[i]),
                       reach = step > 0 ? end - begin : begin - end;
    const std::int64_t width = std::abs(step), count = reach <= 0 ? 0 : (reach - 1) / width + 1;
    if (begin == 0 && count == n && step == 1) continue;
    x = strided(x, at[i], count == 0 ? 0 : begin, count, step);
  }
  return {x};
}

Tensors shape(const Call& call) {
  const Tensor& x = call[0];
  const std::int64_t rank = x.ndim();
  const auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = bound(call.integer("start", 0)), end = bound(call.integer("end", rank));
  if (x.size() < 0)
    return {K::cast(K::slice(K::shape(x), {start}, {std::max<std::int64_t>(end - start, 0)}), DType::Int64)};
  Numbers extents;
  for (std::int64_t i = start; i < end; ++i) extents.push_back(x.shape()[static_cast<int>(i)]);
  return {indices_of(extents)};
}

Tensors size(const Call& call) { return {K::cast(K::size(call[0]), DType::Int64)}; }

Tensors constant(const Call& call) {
  for (const auto& [name, value] : call.node.attributes) {
    if (name == "value" && value.tensor.defined()) return {value.tensor};
    if (name == "value_float") return {number(static_cast<double>(value.real), DType::Float32)};
    if (name == "value_int") return {K::reshape(indices_of({value.integer}), Shape())};
    if (name == "value_ints") return {indices_of(value.integers)};
    if (name == "value_floats")
      return {Tensor::from_buffer(value.reals.data(), value.reals.size() * sizeof(float),
                                  {static_cast<std::int64_t>(value.reals.size())}, DType::Float32)};
  }
  fail("[onnx] a constant must be numbers: received another attribute");
}

Tensors constant_of_shape(const Call& call) {
  const Attribute* const value = call.find("value");
  const Tensor one = value && value->tensor.defined() ? value->tensor : number(0, DType::Float32);
  if (one.size() != 1) fail("[onnx] the value must be one number: received shape=", one.shape());
  return {K::broadcast_to(K::reshape(one, Shape()), shape_of(whole(call[0])))};
}

Tensors range(const Call& call) {
  const auto value = [&](std::size_t i) { return K::cast(call[i], DType::Float64).item<double>(); };
  const double count = std::ceil((value(1) - value(0)) / value(2));
  if (!(count < 1e15))
    fail("[onnx] a range must be finite: received ", value(0), " to ", value(1), " by ", value(2));
  const Tensor steps =
      K::arange(0, static_cast<std::int64_t>(std::max(count, 0.)), 1, {.dtype = DType::Int64});
  return {K::reshape(call[0], Shape()) + K::cast(steps, call.dtype()) * K::reshape(call[2], Shape())};
}

Tensors eye_like(const Call& call) {
  const Tensor& x = call[0];
  if (x.ndim() != 2) fail("[onnx] the rank must be 2: received shape=", x.shape());
  return {ops::eye(x.shape()[0], x.shape()[1], call.integer("k", 0),
                   call.find("dtype") ? dtype_of_code(call.integer("dtype", 1)) : x.dtype())};
}

Tensors triangle(const Call& call) {
  const std::int64_t k = call.has(1) ? K::reshape(call[1], Shape()).item<std::int64_t>() : 0;
  const int diagonal = static_cast<int>(std::clamp<std::int64_t>(k, -2'000'000'000, 2'000'000'000));
  return {call.flag("upper", true) ? ops::triu(call[0], diagonal) : ops::tril(call[0], diagonal)};
}

/// Returns (samples, channels, height, width) as extents. Throws ValueError for another rank.
Shape image_shape(const Tensor& x) {
  if (x.ndim() != 4) fail("[onnx] images must have rank 4: received shape=", x.shape());
  return x.shape();
}

Tensors depth_to_space(const Call& call) {
  const Shape s = image_shape(call[0]);
  const std::int64_t b = call.integer("blocksize", 0);
  if (b < 1 || b > s[1] || s[1] % (b * b) != 0)
    fail("[onnx] the channels must be a multiple of blocksize squared: received blocksize=", b);
  const std::int64_t c = s[1] / (b * b);
  const bool crd = call.text("mode", "DCR") == "CRD";
  const Tensor blocks = crd ? K::reshape(call[0], {s[0], c, b, b, s[2], s[3]})
                            : K::reshape(call[0], {s[0], b, b, c, s[2], s[3]});
  return {K::reshape(K::permute_dimensions(blocks, crd ? Shape{0, 1, 4, 2, 5, 3} : Shape{0, 3, 4, 1, 5, 2}),
                     {s[0], c, s[2] * b, s[3] * b})};
}

Tensors space_to_depth(const Call& call) {
  const Shape s = image_shape(call[0]);
  const std::int64_t b = call.integer("blocksize", 0);
  if (b < 1 || s[2] % b != 0 || s[3] % b != 0)
    fail("[onnx] height and width must be multiples of blocksize: received blocksize=", b);
  const Tensor blocks = K::reshape(call[0], {s[0], s[1], s[2] / b, b, s[3] / b, b});
  return {K::reshape(K::permute_dimensions(blocks, {0, 3, 5, 1, 2, 4}),
                     {s[0], s[1] * b * b, s[2] / b, s[3] / b})};
}

Tensors dropout(const Call& call) { return {call[0], K::ones_like(call[0], {.dtype = DType::Bool})}; }

}  // namespace

void add_shapes(OperatorTable& t) {
  t["Reshape"] = reshape, t["Flatten"] = flatten, t["Transpose"] = transpose, t["Concat"] = concatenate;
  t["Split"] = split, t["Squeeze"] = squeeze, t["Unsqueeze"] = unsqueeze, t["Expand"] = expand,
  t["Tile"] = tile;
  t["Pad"] = pad, t["Slice"] = slice, t["Shape"] = shape, t["Size"] = size, t["Constant"] = constant;
  t["ConstantOfShape"] = constant_of_shape, t["Range"] = range, t["EyeLike"] = eye_like,
  t["Trilu"] = triangle;
  t["DepthToSpace"] = depth_to_space, t["SpaceToDepth"] = space_to_depth, t["Dropout"] = dropout;
}

}  // namespace ktape::nn::onnx
