#include <ktape/nn/saving/onnx/writing/translation.hpp>

namespace ktape::nn::onnx {
namespace {

Integers axes_of(const Translation& t) {
  return t.call->has("axis") ? whole_axes(t.call->axes("axis"), t.call->tensor("x").ndim()) : Integers();
}

/// Reduces x; small integers and booleans are reduced as int32.
std::string reduced(const Translation& t, const char* op, const std::string& x, DType dtype, bool keepdims) {
  if (t.call->has("axis") && axes_of(t).empty()) return x;
  if (t.call->tensor("x").ndim() == 0) return x;
  const bool small = !dtype.is_floating() && dtype.size() < 4;
  const std::string wide = small ? t.graph.cast(x, dtype, DType::Int32) : x;
  const std::string y = t.graph.reduced(op, wide, axes_of(t), keepdims);
  return small ? t.graph.cast(y, DType::Int32, dtype) : y;
}

Row reduction(const char* op) {
  return [op](const Translation& t) {
    const DType dtype = t.call->tensor("x").dtype();
    return Names{t.graph.cast(reduced(t, op, t("x"), dtype, t.call->flag("keepdims")), dtype, t.dtype())};
  };
}

/// Reduces booleans as numbers: the largest is "any", the smallest is "all".
Row truth(const char* op) {
  return [op](const Translation& t) {
    const DType dtype = t.call->tensor("x").dtype();
    const std::string flags =
        t.graph.cast(t.graph.cast(t("x"), dtype, DType::Bool), DType::Bool, DType::Int32);
    const std::string y = reduced(t, op, flags, DType::Int32, t.call->flag("keepdims"));
    return Names{t.graph.cast(y, DType::Int32, DType::Bool)};
  };
}

std::string floating(const Translation& t) {
  return t.graph.cast(t("x"), t.call->tensor("x").dtype(), t.dtype());
}

Names mean(const Translation& t) {
  return {reduced(t, "ReduceMean", floating(t), t.dtype(), t.call->flag("keepdims"))};
}

std::string variance(const Translation& t) {
  const std::string x = floating(t);
  const std::string centred = t.node("Sub", {x, reduced(t, "ReduceMean", x, t.dtype(), true)});
  return reduced(t, "ReduceMean", t.node("Mul", {centred, centred}), t.dtype(), t.call->flag("keepdims"));
}

Names position(const Translation& t, const char* op) {
  const Tensor x = t.call->tensor("x");
  if (!t.call->has("axis")) t.fail("the axis must be given");
  const std::int64_t axis = t.call->axis() < 0 ? t.call->axis() + x.ndim() : t.call->axis();
  const std::string at =
      t.node(op, {t("x")}, {{"axis", axis}, {"keepdims", std::int64_t{t.call->flag("keepdims")}}});
  return {t.graph.cast(at, DType::Int64, t.dtype())};
}

Names running_sum(const Translation& t) {
  const Tensor x = t.call->tensor("x");
  const std::int64_t axis = t.call->axis() < 0 ? t.call->axis() + x.ndim() : t.call->axis();
  return {t.node("CumSum", {t("x"), t.graph.integer(axis)})};
}

}  // namespace

void add_reduction_rows(RowTable& rows) {
  rows["Sum"] = reduction("ReduceSum"), rows["Prod"] = reduction("ReduceProd");
  rows["Max"] = rows["Amax"] = reduction("ReduceMax"), rows["Min"] = rows["Amin"] = reduction("ReduceMin");
  rows["Logsumexp"] = reduction("ReduceLogSumExp"), rows["Norm"] = reduction("ReduceL2");
  rows["Any"] = truth("ReduceMax"), rows["All"] = truth("ReduceMin");
  rows["Mean"] = mean;
  rows["Var"] = [](const Translation& t) { return Names{variance(t)}; };
  rows["Std"] = [](const Translation& t) { return Names{t.node("Sqrt", {variance(t)})}; };
  rows["Argmax"] = [](const Translation& t) { return position(t, "ArgMax"); };
  rows["Argmin"] = [](const Translation& t) { return position(t, "ArgMin"); };
  rows["Cumsum"] = running_sum;
}

}  // namespace ktape::nn::onnx
