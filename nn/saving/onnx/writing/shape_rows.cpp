#include <ktape/nn/saving/onnx/writing/translation.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace ktape::nn::onnx {
namespace {

int axis_of(const Translation& t, const char* name, int rank) {
  const int axis = t.call->axis(name);
  return axis < 0 ? axis + rank : axis;
}

/// Reshapes to a shape of which at most one extent is unknown. Extents of 0 in the new shape are kept.
std::string to_shape(const Translation& t, const std::string& x, Integers shape) {
  const bool zero = std::find(shape.begin(), shape.end(), 0) != shape.end();
  for (std::int64_t& extent : shape)
    if (extent == None) extent = -1;
  const std::string wanted = t.graph.integers(shape);
  return zero ? t.node("Reshape", {x, wanted}, {{"allowzero", std::int64_t{1}}})
              : t.node("Reshape", {x, wanted});
}

/// Returns the shape as a tensor in which unknown extents are those of x on the same axes.
std::string shape_like(const Translation& t, const std::string& x, const Shape& shape) {
  Names parts;
  for (int axis = 0; axis < shape.rank(); ++axis)
    parts.push_back(shape[axis] == None ? t.graph.extent(x, axis) : t.graph.integers({shape[axis]}));
  return t.node("Concat", parts, {{"axis", std::int64_t{0}}});
}

/// Returns a tensor of extents as an int64 tensor of rank 1.
std::string extents(const Translation& t, const Tensor& shape) {
  return t.graph.cast(t.name(shape), shape.dtype(), DType::Int64);
}

Names reshape(const Translation& t) {
  if (!t.call->is_number("newshape") && t.call->value("newshape").is_null())
    return {t.node("Reshape", {t("x"), extents(t, t.call->tensor("newshape"))})};
  Integers shape = integers_of(t.call->shape("newshape"));
  const auto unknown =
      std::count_if(shape.begin(), shape.end(), [](std::int64_t n) { return n < 0 || n == None; });
  if (unknown <= 1) return {to_shape(t, t("x"), shape)};
  return {t.node("Reshape", {t("x"), shape_like(t, t("x"), t.call->shape("newshape"))})};
}

Names transpose(const Translation& t) {
  const int rank = t.call->tensor("x").ndim();
  Integers axes(static_cast<std::size_t>(rank));
  std::iota(axes.rbegin(), axes.rend(), 0);
  if (t.call->has("axes")) axes = integers_of(t.call->shape("axes"));
  for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  return {t.graph.transposed(t("x"), axes)};
}

Names expand_dims(const Translation& t) {
  return {t.graph.unsqueezed(t("x"), {axis_of(t, "axis", t.result().shape.rank())})};
}
Names squeeze(const Translation& t) {
  return {t.graph.squeezed(t("x"), {axis_of(t, "axis", t.call->tensor("x").ndim())})};
}

Names concatenate(const Translation& t) {
  return {
      t.node("Concat", t.list("xs"), {{"axis", std::int64_t{axis_of(t, "axis", t.result().shape.rank())}}})};
}

Names stack(const Translation& t) {
  const std::int64_t axis = axis_of(t, "axis", t.result().shape.rank());
  Names parts;
  for (const std::string& x : t.list("x")) parts.push_back(t.graph.unsqueezed(x, {axis}));
  return {t.node("Concat", parts, {{"axis", axis}})};
}

/// Repeats each element along an axis: a new axis after the axis is expanded and merged.
Names repeat_elements(const Translation& t) {
  const Shape& shape = t.call->tensor("x").shape();
  const int axis = axis_of(t, "axis", shape.rank());
  const std::int64_t times = t.call->integer("repeats");
  Integers tiles(static_cast<std::size_t>(shape.rank()) + 1, 1);
  tiles[static_cast<std::size_t>(axis) + 1] = times;
  const std::string wide = t.node("Tile", {t.graph.unsqueezed(t("x"), {axis + 1}), t.graph.integers(tiles)});
  Names parts;
  for (int d = 0; d < shape.rank(); ++d)
    parts.push_back(d == axis          ? t.graph.integers({-1})
                    : shape[d] == None ? t.graph.extent(t("x"), d)
                                       : t.graph.integers({shape[d]}));
  return {t.node("Reshape", {wide, t.node("Concat", parts, {{"axis", std::int64_t{0}}})})};
}

Names tile(const Translation& t) {
  if (t.call->value("repeats").is_null())
    return {t.node("Tile", {t("x"), extents(t, t.call->tensor("repeats"))})};
  Integers times = t.call->value("repeats").as<Integers>("[Tile] repeats");
  const int rank = t.call->tensor("x").ndim();
  while (static_cast<int>(times.size()) < rank) times.insert(times.begin(), 1);
  return {t.node("Tile", {t("x"), t.graph.integers(times)})};
}

Names flip(const Translation& t) {
  const int rank = t.call->tensor("x").ndim();
  Integers axes = whole_axes(t.call->axes("axis"), rank);
  if (t.call->axes("axis").all())
    axes.resize(static_cast<std::size_t>(rank)), std::iota(axes.begin(), axes.end(), 0);
  const Integers begin(axes.size(), -1), step(axes.size(), -1),
      end(axes.size(), std::numeric_limits<std::int64_t>::min());
  return {t.node("Slice", {t("x"), t.graph.integers(begin), t.graph.integers(end), t.graph.integers(axes),
                           t.graph.integers(step)})};
}

Names slice(const Translation& t) {
  const Integers begin = integers_of(t.call->shape("start_indices")),
                 size = integers_of(t.call->shape("shape"));
  Integers end, axes;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    const bool rest = size[i] == -1 || size[i] == None;
    end.push_back(rest ? std::numeric_limits<std::int64_t>::max() : begin[i] + size[i]);
    axes.push_back(static_cast<std::int64_t>(i));
  }
  return {
      t.node("Slice", {t("inputs"), t.graph.integers(begin), t.graph.integers(end), t.graph.integers(axes)})};
}

Names split(const Translation& t) {
  const int rank = t.call->tensor("x").ndim();
  const std::int64_t axis = axis_of(t, "axis", rank);
  const std::size_t parts = t.symbol.outputs().size();
  Integers sizes;
  for (const OutputInfo& part : t.symbol.outputs()) sizes.push_back(part.shape[static_cast<int>(axis)]);
  if (std::find(sizes.begin(), sizes.end(), None) == sizes.end())
    return t.graph.nodes("Split", {t("x"), t.graph.integers(sizes)}, {{"axis", axis}}, parts);
  Attributes attributes{{"axis", axis}};
  if (t.graph.opset() >= 18) attributes.emplace_back("num_outputs", static_cast<std::int64_t>(parts));
  return t.graph.nodes("Split", {t("x")}, attributes, parts);
}

Names unstack(const Translation& t) {
  const int axis = axis_of(t, "axis", t.call->tensor("x").ndim());
  Names parts;
  for (std::size_t i = 0; i < t.symbol.outputs().size(); ++i) {
    const std::string at = t.graph.integer(static_cast<std::int64_t>(i));
    parts.push_back(t.node("Gather", {t("x"), at}, {{"axis", std::int64_t{axis}}}));
  }
  return parts;
}

Names pad(const Translation& t) {
  const Value width = t.call->value("pad_width");
  Integers before, after;
  for (const Value& pair : width.list()) {
    before.push_back(pair.list()[0].integer()), after.push_back(pair.list()[1].integer());
  }
  before.insert(before.end(), after.begin(), after.end());
  const std::string mode = t.call->text("mode");
  const std::string name = mode == "symmetric" ? ""
                           : mode == "reflect" ? "reflect"
                           : mode == "edge"    ? "edge"
                                               : "constant";
  if (name.empty()) t.fail("the mode is symmetric");
  Names inputs{t("x"), t.graph.integers(before)};
  if (name == "constant" && t.call->has("constant_values")) inputs.push_back(t("constant_values"));
  return {t.node("Pad", inputs, {{"mode", name}})};
}

Names broadcast_to(const Translation& t) {
  if (t.call->value("shape").is_null())
    return {t.node("Expand", {t("x"), extents(t, t.call->tensor("shape"))})};
  const Shape shape = t.call->shape("shape"), given = t.call->tensor("x").shape();
  const int more = shape.rank() - given.rank();
  Integers wanted = integers_of(shape);
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (wanted[static_cast<std::size_t>(axis)] == None || wanted[static_cast<std::size_t>(axis)] < 0) {
      if (axis < more) t.fail("the shape must be known");
      wanted[static_cast<std::size_t>(axis)] = 1;
    }
  return {t.node("Expand", {t("x"), t.graph.integers(wanted)})};
}

Names repeat_vector(const Translation& t) {
  const std::string wide = t.graph.unsqueezed(t("x"), {1});
  return {t.node("Tile", {wide, t.graph.integers({1, t.call->integer("n"), 1})})};
}

}  // namespace

void add_shape_rows(RowTable& rows) {
  rows["Reshape"] = reshape, rows["Transpose"] = transpose;
  rows["Ravel"] = [](const Translation& t) { return Names{t.graph.reshaped(t("x"), {-1})}; };
  rows["batch_flatten"] = [](const Translation& t) {
    return Names{t.node("Flatten", {t("x")}, {{"axis", std::int64_t{1}}})};
  };
  rows["ExpandDims"] = expand_dims, rows["Squeeze"] = squeeze;
  rows["Concatenate"] = concatenate, rows["Stack"] = stack, rows["Split"] = split, rows["Unstack"] = unstack;
  rows["Repeat"] = repeat_elements, rows["repeat_vector"] = repeat_vector, rows["Tile"] = tile;
  rows["Flip"] = flip, rows["Slice"] = slice, rows["Pad"] = pad, rows["BroadcastTo"] = broadcast_to;
  rows["shape"] = [](const Translation& t) {
    return Names{t.graph.cast(t.node("Shape", {t("x")}), DType::Int64, t.dtype())};
  };
  rows["Size"] = [](const Translation& t) {
    return Names{t.graph.cast(t.node("Size", {t("x")}), DType::Int64, t.dtype())};
  };
}

}  // namespace ktape::nn::onnx
