#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/shape.hpp>

#include <map>
#include <numeric>

namespace ktape::nn {
namespace K = backend;

namespace {

/// Returns an axis of the call as an index of x, counted from the front.
int axis_of(const OperationCall& call, const char* name, const Tensor& x) {
  const int axis = call.axis(name), at = axis < 0 ? axis + x.ndim() : axis;
  if (at < 0 || at >= x.ndim())
    fail(call.what(name), " must be in [", -x.ndim(), ", ", x.ndim(), "): received ", name, '=', axis);
  return at;
}

Tensor reshape(const OperationCall& call) {
  if (!call.is_number("newshape") && call.value("newshape").is_null())
    return K::reshape(call.tensor("x"), call.tensor("newshape"));
  return K::reshape(call.tensor("x"), call.shape("newshape"));
}

Tensor transpose(const OperationCall& call) {
  return call.has("axes") ? K::permute_dimensions(call.tensor("x"), call.shape("axes"))
                          : K::transpose(call.tensor("x"));
}

/// Returns x with its axes moved from the places `source` to the places `destination`.
Tensor moveaxis(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  std::vector<std::int64_t> source, destination;
  for (const auto& [name, places] : {std::pair("source", &source), std::pair("destination", &destination)})
    for (const std::int64_t axis : call.value(name).as<std::vector<std::int64_t>>(call.what(name))) {
      if (axis < -x.ndim() || axis >= x.ndim())
        fail(call.what(name), " must be in [", -x.ndim(), ", ", x.ndim(), "): received ", name, '=', axis);
      places->push_back(axis < 0 ? axis + x.ndim() : axis);
    }
  if (source.size() != destination.size())
    fail("[Moveaxis] source and destination must have one length: received ", source.size(), " and ",
         destination.size());
  std::vector<std::int64_t> pattern(static_cast<std::size_t>(x.ndim()), -1), rest;
  for (std::int64_t d = 0; d < x.ndim(); ++d)
    if (std::find(source.begin(), source.end(), d) == source.end()) rest.push_back(d);
  for (std::size_t i = 0; i < source.size(); ++i)
    pattern[static_cast<std::size_t>(destination[i])] = source[i];
  auto next = rest.begin();
  for (std::int64_t& axis : pattern)
    if (axis < 0 && next != rest.end()) axis = *next++;
  return K::permute_dimensions(x, pattern);
}

Tensor swapaxes(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  std::vector<std::int64_t> pattern(static_cast<std::size_t>(x.ndim()));
  std::iota(pattern.begin(), pattern.end(), 0);
  std::swap(pattern[static_cast<std::size_t>(axis_of(call, "axis1", x))],
            pattern[static_cast<std::size_t>(axis_of(call, "axis2", x))]);
  return K::permute_dimensions(x, pattern);
}

Tensor squeeze(const OperationCall& call) {
  Tensor x = call.tensor("x");
  if (call.has("axis")) {
    if (!call.value("axis").is_list()) return K::squeeze(x, call.axis());
    std::vector<int> axes = call.value("axis").as<std::vector<int>>("[Squeeze] axis");
    for (int& axis : axes) axis += axis < 0 ? x.ndim() : 0;
    std::sort(axes.rbegin(), axes.rend());
    for (const int axis : axes) x = K::squeeze(x, axis);
    return x;
  }
  for (int axis = x.ndim() - 1; axis >= 0; --axis)
    if (x.shape()[axis] == 1) x = K::squeeze(x, axis);
  return x;
}

Tensor expand_dims(const OperationCall& call) {
  Tensor x = call.tensor("x");
  if (!call.value("axis").is_list()) return K::expand_dims(x, call.axis());
  std::vector<int> axes = call.value("axis").as<std::vector<int>>("[ExpandDims] axis");
  for (int& axis : axes) axis += axis < 0 ? x.ndim() + static_cast<int>(axes.size()) : 0;
  std::sort(axes.begin(), axes.end());
  for (const int axis : axes) x = K::expand_dims(x, axis);
  return x;
}

Tensor repeat(const OperationCall& call) {
  return ops::repeat(call.tensor("x"), call.value("repeats").as<K::PerAxis<std::int64_t>>("[Repeat] repeats"),
                     call.value("axis").as<std::optional<int>>("[Repeat] axis"));
}

Tensor rearrange(const OperationCall& call) {
  std::map<std::string, std::int64_t> lengths;
  for (const auto& [name, length] : call.value("axes_lengths").config("[Rearrange] axes_lengths"))
    lengths[name] = length.integer("[Rearrange] " + name);
  return ops::rearrange(call.tensor("tensor"), call.text("pattern"), lengths);
}

/// Returns x repeated along each axis. Missing repetitions are 1, and missing axes of x
/// have extent 1; both come first.
Tensor tile(const OperationCall& call) {
  Tensor x = call.tensor("x");
  std::vector<std::int64_t> times = call.value("repeats").as<std::vector<std::int64_t>>("[Tile] repeats");
  while (x.ndim() < static_cast<int>(times.size())) x = K::expand_dims(x, 0);
  while (static_cast<int>(times.size()) < x.ndim()) times.insert(times.begin(), 1);
  return K::tile(x, times);
}

std::vector<Tensor> split(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  const int axis = axis_of(call, "axis", x);
  const Value parts = call.value("indices_or_sections");
  if (!parts.is_list()) return K::split(x, parts.integer("[Split] indices_or_sections"), axis);
  std::vector<std::int64_t> sizes;
  std::int64_t begin = 0;
  const std::int64_t extent = x.shape()[axis];
  if (extent == None)
    fail("[Split] the extent of the axis must be known: received x=", x.shape(), ", axis=", axis);
  for (const Value& end : parts.list()) {
    sizes.push_back(end.integer("[Split] indices_or_sections") - begin);
    begin = end.integer();
  }
  sizes.push_back(extent - begin);
  return K::split(x, sizes, axis);
}

std::vector<Tensor> unstack(const OperationCall& call) {
  std::vector<Tensor> parts = K::unstack(call.tensor("x"), call.axis());
  if (call.has("num") && call.integer("num") != static_cast<std::int64_t>(parts.size()))
    fail("[Unstack] num must be the extent of the axis, ", parts.size(),
         ": received num=", call.integer("num"));
  return parts;
}

Tensor pad(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  Value width = call.value("pad_width");
  if (width.is_integer()) width = Value::List(static_cast<std::size_t>(x.ndim()), Value::List{width, width});
  else if (!width.list("[Pad] pad_width").empty() && !width.list()[0].is_list())
    width = Value::List(static_cast<std::size_t>(x.ndim()), width);
  const Scalar constant = call.has("constant_values") ? call.scalar("constant_values") : Scalar(0);
  return K::pad(x, width.as<std::vector<K::PaddingPair>>("[Pad] pad_width"),
                {.mode = call.text("mode"), .constant_values = constant});
}

/// Returns the tensors with at least one axis, joined along axis 1, or 0 for vectors.
Tensor hstack(const OperationCall& call) {
  std::vector<Tensor> xs = call.tensors("xs");
  for (Tensor& x : xs)
    if (x.ndim() == 0) x = K::expand_dims(x, 0);
  return K::concatenate(xs, xs[0].ndim() == 1 ? 0 : 1);
}

Tensor vstack(const OperationCall& call) {
  std::vector<Tensor> xs = call.tensors("xs");
  for (Tensor& x : xs)
    while (x.ndim() < 2) x = K::expand_dims(x, 0);
  return K::concatenate(xs, 0);
}

Tensor slice(const OperationCall& call) {
  return K::slice(call.tensor("inputs"), call.shape("start_indices"), call.shape("shape"));
}

Tensor flipped(const OperationCall& call) { return K::reverse(call.tensor("x"), call.axes("axis")); }

Tensor concatenated(const OperationCall& call) {
  if (call.has("axis")) return K::concatenate(call.tensors("xs"), call.axis());
  std::vector<Tensor> flat;
  for (const Tensor& x : call.tensors("xs")) flat.push_back(K::flatten(x));
  return K::concatenate(flat, 0);
}

}  // namespace

void add_shape_operations(std::vector<Operation>& all) {
  const std::vector<Operation> operations{
      {"Reshape", "numpy", "x; newshape", reshape},
      {"Ravel", "numpy", "x;", [](const OperationCall& call) { return K::flatten(call.tensor("x")); },
       "flatten"},
      {"Transpose", "numpy", "x; axes=null", transpose, "permute_dimensions"},
      {"Moveaxis", "numpy", "x; source, destination", moveaxis, "-"},
      {"Swapaxes", "numpy", "x; axis1, axis2", swapaxes, "-"},
      {"ExpandDims", "numpy", "x; axis", expand_dims},
      {"Squeeze", "numpy", "x; axis=null", squeeze},
      {"Concatenate", "numpy", "xs; axis=0", concatenated},
      {"Hstack", "numpy", "xs;", hstack, "-"},
      {"Vstack", "numpy", "xs;", vstack, "-"},
      {"Stack", "numpy", "x; axis=0",
       [](const OperationCall& call) { return K::stack(call.tensors("x"), call.axis()); }},
      {"Repeat", "numpy", "x; repeats, axis=null", repeat, "repeat_elements repeat"},
      {"Rearrange", "einops", "tensor, pattern!, axes_lengths**={};", rearrange},
      {"Tile", "numpy", "x; repeats", tile},
      {"Flip", "numpy", "x; axis=null", flipped, "reverse"},
      {"Slice", "core", "inputs, start_indices!; shape", slice},
      {"Split", "numpy", "x; indices_or_sections, axis=0", split},
      {"Unstack", "core", "x; num=null, axis=0", unstack, "", "x, axis"},
      {"Pad", "numpy", "x, constant_values!=null; pad_width, mode=\"constant\"", pad, "", "x, pad_width"},
      {"BroadcastTo", "numpy", "x; shape",
       [](const OperationCall& call) { return K::broadcast_to(call.tensor("x"), call.shape("shape")); }},
      {"repeat_vector", "", "x; n",
       [](const OperationCall& call) { return K::repeat(call.tensor("x"), call.integer("n")); }, "repeat"},
      {"batch_flatten", "", "x;",
       [](const OperationCall& call) { return K::batch_flatten(call.tensor("x")); }},
      {"sum_to", "", "x; shape",
       [](const OperationCall& call) { return K::sum_to(call.tensor("x"), call.shape("shape")); }},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace ktape::nn
