#include <ktape/nn/saving/onnx/writing/translation.hpp>

#include <algorithm>
#include <limits>

namespace ktape::nn::onnx {
namespace {

constexpr std::int64_t farthest = std::numeric_limits<std::int64_t>::max(),
                       lowest = std::numeric_limits<std::int64_t>::min();

/// The parts of an index: ranges of axes, axes that positions remove, and axes that are new in the result.
struct Selection {
  Integers begins, ends, steps, axes, removed, added;

  void add_range(std::int64_t axis, std::int64_t begin, std::int64_t end, std::int64_t step) {
    begins.push_back(begin), ends.push_back(end), steps.push_back(step), axes.push_back(axis);
  }
};

void add_slice(Selection& selection, std::int64_t axis, const Config& slice) {
  const auto bound = [&](const char* name, std::int64_t otherwise) {
    const Value value = slice.get(name);
    return value.is_null() ? otherwise : value.integer();
  };
  const std::int64_t step = bound("step", 1);
  const std::int64_t begin = bound("start", step > 0 ? 0 : farthest),
                     end = bound("stop", step > 0 ? farthest : lowest);
  if (begin != 0 || end != farthest || step != 1) selection.add_range(axis, begin, end, step);
}

Selection selection_of(const Value::List& key, int rank) {
  std::int64_t taken = 0;
  for (const Value& entry : key) taken += !entry.is_null() && entry != Value("...");
  Selection selection;
  std::int64_t axis = 0, place = 0;  // of x, and of the result
  for (const Value& entry : key) {
    if (entry.is_null()) {
      selection.added.push_back(place++);
    } else if (entry == Value("...")) {
      axis += rank - taken, place += rank - taken;
    } else if (entry.is_config()) {
      add_slice(selection, axis++, entry.config());
      ++place;
    } else {
      const std::int64_t at = entry.integer();
      selection.add_range(axis, at, at == -1 ? farthest : at + 1, 1);
      selection.removed.push_back(axis++);
    }
  }
  return selection;
}

Names get_item(const Translation& t) {
  const Value key = t.call->value("key");
  const Selection s = selection_of(key.is_list() ? key.list() : Value::List{key}, t.call->tensor("x").ndim());
  std::string x = t("x");
  if (!s.axes.empty())
    x = t.node("Slice", {x, t.graph.integers(s.begins), t.graph.integers(s.ends), t.graph.integers(s.axes),
                         t.graph.integers(s.steps)});
  return {t.graph.unsqueezed(t.graph.squeezed(x, s.removed), s.added)};
}

std::string int64(const Translation& t, const char* name) {
  return t.graph.cast(t(name), t.call->tensor(name).dtype(), DType::Int64);
}

Names take(const Translation& t) {
  const int rank = t.call->tensor("x").ndim();
  std::string x = t("x");
  std::int64_t axis = 0;
  if (t.call->has("axis")) axis = t.call->axis() < 0 ? t.call->axis() + rank : t.call->axis();
  else x = t.graph.reshaped(x, {-1});
  return {t.node("Gather", {x, int64(t, "indices")}, {{"axis", axis}})};
}

Names take_along_axis(const Translation& t) {
  if (!t.call->has("axis")) t.fail("the axis must be given");
  const int rank = t.call->tensor("x").ndim();
  const std::int64_t axis = t.call->axis() < 0 ? t.call->axis() + rank : t.call->axis();
  return {t.node("GatherElements", {t("x"), int64(t, "indices")}, {{"axis", axis}})};
}

Names one_hot(const Translation& t) {
  const std::string values = t.graph.constant(
      Tensor::from_buffer(std::array<float, 2>{0, 1}.data(), 2 * sizeof(float), {2}, DType::Float32));
  // Negative classes, which ONNX counts from the end, are no classes here.
  const std::string classes = int64(t, "x"), depth = t.graph.integer(t.call->integer("num_classes"));
  const std::string valid = t.node("Where", {t.node("Less", {classes, t.graph.integer(0)}), depth, classes});
  return {t.graph.cast(t.node("OneHot", {valid, depth, values}), DType::Float32, t.dtype())};
}

Names gather_nd(const Translation& t) { return {t.node("GatherND", {t("params"), int64(t, "indices")})}; }

Names top_k(const Translation& t) {
  const Names both = t.graph.nodes("TopK", {t("x"), t.graph.integers({t.call->integer("k")})},
                                   {{"axis", std::int64_t{-1}}}, 2);
  return {both[0], t.graph.cast(both[1], DType::Int64, t.result(1).dtype)};
}

Names sorted(const Translation& t, const char* name, std::size_t which) {
  const Tensor x = t.call->tensor(name);
  const std::int64_t axis = t.call->axis() < 0 ? t.call->axis() + x.ndim() : t.call->axis();
  const bool ascending = t.call->operation().in_keras() || t.call->text("direction") == "ASCENDING";
  const Names both = t.graph.nodes("TopK", {t(name), t.graph.extent(t(name), static_cast<int>(axis))},
                                   {{"axis", axis}, {"largest", std::int64_t{!ascending}}}, 2);
  return {which == 0 ? both[0] : t.graph.cast(both[1], DType::Int64, t.dtype())};
}

/// Puts updates into x, or combines them with what is there.
Names scattered(const Translation& t, const std::string& x, const char* updates,
                const std::string& reduction) {
  const bool extremes = reduction == "max" || reduction == "min";
  if (extremes && t.graph.opset() < 18)
    t.fail("the operator ScatterND has " + reduction + " from the opset 18 on");
  return {t.node("ScatterND", {x, int64(t, "indices"), t(updates)}, {{"reduction", reduction}})};
}

Names scatter(const Translation& t) {
  const Shape shape = t.result().shape;
  if (std::count(shape.begin(), shape.end(), None) > 0) t.fail("the shape is unknown");
  const std::string zeros =
      t.node("Expand", {t.graph.number(0, t.dtype()), t.graph.integers(integers_of(shape))});
  return scattered(t, zeros, "values", "add");
}

Names scatter_update(const Translation& t) {
  return scattered(t, t("inputs"), "updates",
                   t.call->has("reduction") ? t.call->text("reduction") : std::string("none"));
}

Names boolean_mask(const Translation& t) {
  const int rank = t.call->tensor("mask").ndim();
  const std::string row = t.node("Shape", {t("tensor")}, {{"start", std::int64_t{rank}}});
  const std::string shape = t.node("Concat", {t.graph.integers({-1}), row}, {{"axis", std::int64_t{0}}});
  const std::string mask = t.graph.cast(t("mask"), t.call->tensor("mask").dtype(), DType::Bool);
  return {t.node("Compress", {t.node("Reshape", {t("tensor"), shape}), t.graph.reshaped(mask, {-1})},
                 {{"axis", std::int64_t{0}}})};
}

Names triangle(const Translation& t, bool upper) {
  return {t.node("Trilu", {t("x"), t.graph.integer(t.call->integer("k"))}, {{"upper", std::int64_t{upper}}})};
}

}  // namespace

void add_indexing_rows(RowTable& rows) {
  rows["Scatter"] = scatter, rows["ScatterUpdate"] = scatter_update, rows["boolean_mask"] = boolean_mask;
  rows["Tril"] = [](const Translation& t) { return triangle(t, false); };
  rows["Triu"] = [](const Translation& t) { return triangle(t, true); };
  rows["GetItem"] = get_item, rows["Take"] = take, rows["TakeAlongAxis"] = take_along_axis;
  rows["OneHot"] = one_hot, rows["gather_nd"] = gather_nd, rows["TopK"] = top_k;
  rows["Sort"] = [](const Translation& t) { return sorted(t, "x", 0); };
  rows["Argsort"] = [](const Translation& t) { return sorted(t, "x", 1); };
  rows["sort"] = [](const Translation& t) { return sorted(t, "values", 0); };
  rows["argsort"] = [](const Translation& t) { return sorted(t, "values", 1); };
}

}  // namespace ktape::nn::onnx
