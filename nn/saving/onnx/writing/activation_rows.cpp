#include <ktape/nn/saving/onnx/writing/translation.hpp>

#include <cmath>
#include <numbers>

namespace ktape::nn::onnx {
namespace {

std::string number(const Translation& t, double value) { return t.graph.number(value, t.dtype()); }
float real(const Translation& t, const char* name) { return static_cast<float>(t.call->number(name)); }

Row activation(const char* op) {
  return [op](const Translation& t) { return Names{t.node(op, {t("x")})}; };
}

/// Returns where(condition, x, y).
std::string chosen(const Translation& t, const std::string& condition, const std::string& x,
                   const std::string& y) {
  return t.node("Where", {condition, x, y});
}

std::string clipped(const Translation& t, const std::string& x, double low, double high) {
  return t.node("Min", {t.node("Max", {x, number(t, low)}), number(t, high)});
}

Names relu_of_library(const Translation& t) {
  const double alpha = t.call->number("alpha"), threshold = t.call->number("threshold");
  const std::string x = t("x"), at = number(t, threshold);
  std::string y = chosen(t, t.node("LessOrEqual", {x, at}), number(t, 0), x);
  if (t.call->has("max_value")) y = clipped(t, y, 0, std::max(t.call->number("max_value"), 0.));
  if (alpha == 0) return {y};
  const std::string slope = t.node("Mul", {t.node("Sub", {x, at}), number(t, alpha)});
  return {t.node("Add", {y, chosen(t, t.node("Less", {x, at}), slope, number(t, 0))})};
}

Names gelu(const Translation& t) {
  const std::string x = t("x");
  const bool approximate = t.call->flag("approximate");
  if (t.graph.opset() >= 20)
    return {t.node("Gelu", {x}, {{"approximate", std::string(approximate ? "tanh" : "none")}})};
  std::string part;
  if (approximate) {
    const std::string cube = t.node("Mul", {t.node("Mul", {x, x}), x});
    const std::string inner = t.node("Add", {x, t.node("Mul", {cube, number(t, 0.044715)})});
    part = t.node("Tanh", {t.node("Mul", {inner, number(t, std::sqrt(2 / std::numbers::pi))})});
  } else {
    part = t.node("Erf", {t.node("Mul", {x, number(t, std::sqrt(0.5))})});
  }
  const std::string half = t.node("Mul", {x, number(t, 0.5)});
  return {t.node("Mul", {half, t.node("Add", {part, number(t, 1)})})};
}

Names hard_sigmoid(const Translation& t, double slope) {
  const std::string scaled = t.node("Add", {t.node("Mul", {t("x"), number(t, slope)}), number(t, 0.5)});
  return {clipped(t, scaled, 0, 1)};
}

Names hard_silu(const Translation& t) { return {t.node("Mul", {t("x"), hard_sigmoid(t, 1 / 6.)[0]})}; }

Names along_axis(const Translation& t, const char* op) {
  const int rank = t.call->tensor("x").ndim();
  const std::int64_t axis = t.call->axis() < 0 ? t.call->axis() + rank : t.call->axis();
  return {t.node(op, {t("x")}, {{"axis", axis}})};
}

Names silu(const Translation& t) { return {t.node("Mul", {t("x"), t.node("Sigmoid", {t("x")})})}; }

Names hard_shrink(const Translation& t) {
  const std::string x = t("x"),
                    outside = t.node("Greater", {t.node("Abs", {x}), number(t, t.call->number("threshold"))});
  return {chosen(t, outside, x, number(t, 0))};
}

Names soft_shrink(const Translation& t) {
  const std::string x = t("x"),
                    size = t.node("Sub", {t.node("Abs", {x}), number(t, t.call->number("threshold"))});
  return {t.node("Mul", {t.node("Sign", {x}), t.node("Max", {size, number(t, 0)})})};
}

Names threshold(const Translation& t) {
  const std::string x = t("x");
  return {chosen(t, t.node("Greater", {x, number(t, t.call->number("threshold"))}), x,
                 number(t, t.call->number("default_value")))};
}

Names squareplus(const Translation& t) {
  const std::string x = t("x");
  const std::string root =
      t.node("Sqrt", {t.node("Add", {t.node("Mul", {x, x}), number(t, t.call->number("b"))})});
  return {t.node("Mul", {t.node("Add", {x, root}), number(t, 0.5)})};
}

Names sparse_plus(const Translation& t) {
  const std::string x = t("x"), more = t.node("Add", {x, number(t, 1)});
  const std::string square = t.node("Mul", {t.node("Mul", {more, more}), number(t, 0.25)});
  const std::string above = chosen(t, t.node("Less", {x, number(t, 1)}), square, x);
  return {chosen(t, t.node("LessOrEqual", {x, number(t, -1)}), number(t, 0), above)};
}

Names celu(const Translation& t) {
  const std::string x = t("x"), alpha = number(t, t.call->number("alpha"));
  const std::string low = t.node("Sub", {t.node("Exp", {t.node("Div", {x, alpha})}), number(t, 1)});
  return {chosen(t, t.node("Greater", {x, number(t, 0)}), x, t.node("Mul", {alpha, low}))};
}

Names selu(const Translation& t) {
  return {t.node("Selu", {t("x")}, {{"alpha", 1.67326324F}, {"gamma", 1.05070099F}})};
}

Names log_sigmoid(const Translation& t) {
  return {t.node("Neg", {t.node("Softplus", {t.node("Neg", {t("x")})})})};
}

Names tanh_shrink(const Translation& t) { return {t.node("Sub", {t("x"), t.node("Tanh", {t("x")})})}; }

}  // namespace

void add_activation_rows(RowTable& rows) {
  for (const char* name : {"Relu", "Sigmoid", "Softplus", "Softsign"}) rows[name] = activation(name);
  rows["prelu"] = [](const Translation& t) { return Names{t.node("PRelu", {t("x"), t("slope")})}; };
  rows["Relu6"] = [](const Translation& t) { return Names{clipped(t, t("x"), 0, 6)}; };
  rows["LeakyRelu"] = [](const Translation& t) {
    return Names{t.node("LeakyRelu", {t("x")}, {{"alpha", real(t, "negative_slope")}})};
  };
  rows["Elu"] = [](const Translation& t) {
    return Names{t.node("Elu", {t("x")}, {{"alpha", real(t, "alpha")}})};
  };
  rows["relu"] = relu_of_library, rows["Gelu"] = gelu, rows["Silu"] = silu, rows["Celu"] = celu;
  rows["HardSigmoid"] = [](const Translation& t) { return hard_sigmoid(t, 1 / 6.); };
  rows["hard_sigmoid"] = [](const Translation& t) { return hard_sigmoid(t, t.call->number("slope")); };
  rows["HardSilu"] = hard_silu;
  rows["HardShrink"] = hard_shrink, rows["SoftShrink"] = soft_shrink, rows["Threshold"] = threshold;
  rows["Selu"] = selu, rows["LogSigmoid"] = log_sigmoid, rows["TanhShrink"] = tanh_shrink;
  rows["Squareplus"] = squareplus, rows["SparsePlus"] = sparse_plus;
  rows["Softmax"] = [](const Translation& t) { return along_axis(t, "Softmax"); };
  rows["LogSoftmax"] = [](const Translation& t) { return along_axis(t, "LogSoftmax"); };
}

}  // namespace ktape::nn::onnx
