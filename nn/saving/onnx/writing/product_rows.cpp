#include <ktape/nn/saving/onnx/writing/translation.hpp>

#include <numeric>

namespace ktape::nn::onnx {
namespace {

std::string last_two_swapped(const Translation& t, const Tensor& x) {
  Integers permutation(static_cast<std::size_t>(x.ndim()));
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  return t.permuted(x, permutation);
}

Names matmul_with_options(const Translation& t) {
  const auto operand = [&](const char* name, const char* transposed) {
    return t.call->flag(transposed) ? last_two_swapped(t, t.call->tensor(name)) : t(name);
  };
  return {t.node("MatMul", {operand("a", "transpose_a"), operand("b", "transpose_b")})};
}

/// Returns the product over the last axis of x and the last axis but one of y, without batch axes.
Names dot(const Translation& t) {
  const Tensor x = t.call->tensor("x1"), y = t.call->tensor("x2");
  if (x.ndim() == 0 || y.ndim() == 0) return {t.node("Mul", {t("x1"), t("x2")})};
  if (y.ndim() <= 2) return {t.node("MatMul", {t("x1"), t("x2")})};
  std::string left, right, summed;
  for (int axis = 0; axis < x.ndim(); ++axis) left += static_cast<char>('a' + axis);
  for (int axis = 0; axis < y.ndim(); ++axis)
    right += axis == y.ndim() - 2 ? left.back() : static_cast<char>('A' + axis);
  std::string result = left.substr(0, left.size() - 1);
  for (const char c : right)
    if (c != left.back()) result += c;
  return {t.node("Einsum", {t("x1"), t("x2")}, {{"equation", left + ',' + right + "->" + result}})};
}

Names einsum(const Translation& t) {
  return {t.node("Einsum", t.list("operands"), {{"equation", t.call->text("subscripts")}})};
}

/// Translates the product of a sparse matrix, which three operands describe: coordinates, values and extents.
Names sparse_dot(const Translation& t) {
  if (t.symbol.operands().size() != 4) return {};
  const std::string zeros = t.node("Expand", {t.graph.number(0, t.operand(1).dtype()),
                                              t.graph.cast(t(2), t.operand(2).dtype(), DType::Int64)});
  return {t.node("MatMul", {t.node("ScatterND", {zeros, t(0), t(1)}), t(3)})};
}

/// Returns the sums of products over one axis of x and of y, for each sample.
Names batch_dot(const Translation& t) {
  const Tensor x = t.call->tensor("x"), y = t.call->tensor("y");
  int x_axis = x.ndim() - 1, y_axis = y.ndim() > 2 ? y.ndim() - 2 : y.ndim() - 1;
  if (t.call->has("axes")) {
    const auto both = t.call->value("axes").as<std::vector<int>>("[batch_dot] axes");
    x_axis = both.at(0) < 0 ? both.at(0) + x.ndim() : both.at(0);
    y_axis = both.back() < 0 ? both.back() + y.ndim() : both.back();
  }
  std::string left, right, result = "z";
  for (int axis = 0; axis < x.ndim(); ++axis) {
    left += axis == 0 ? 'z' : axis == x_axis ? 's' : static_cast<char>('a' + axis);
    if (axis != 0 && axis != x_axis) result += left.back();
  }
  for (int axis = 0; axis < y.ndim(); ++axis) {
    right += axis == 0 ? 'z' : axis == y_axis ? 's' : static_cast<char>('A' + axis);
    if (axis != 0 && axis != y_axis) result += right.back();
  }
  const std::string product =
      t.node("Einsum", {t("x"), t("y")}, {{"equation", left + ',' + right + "->" + result}});
  return {result == "z" ? t.graph.unsqueezed(product, {1}) : product};
}

Names bias_add(const Translation& t) {
  const Tensor x = t.call->tensor("x"), bias = t.call->tensor("bias");
  const bool first = t.call->has("data_format") && t.call->text("data_format") == "channels_first";
  std::string b = t("bias");
  if (bias.ndim() == 1 && first && x.ndim() > 2) {
    Integers shape(static_cast<std::size_t>(x.ndim()), 1);
    shape[1] = -1;
    b = t.graph.reshaped(b, shape);
  } else if (bias.ndim() > 1) {
    Integers shape = integers_of(bias.shape());
    if (first) {
      shape.insert(shape.begin(), shape.back());
      shape.pop_back();
      Integers permutation{bias.ndim() - 1};
      for (int axis = 0; axis + 1 < bias.ndim(); ++axis) permutation.push_back(axis);
      b = t.permuted(bias, permutation);
    }
    shape.insert(shape.begin(), 1);
    b = t.graph.reshaped(b, shape);
  }
  return {t.node("Add", {t("x"), b})};
}

}  // namespace

void add_product_rows(RowTable& rows) {
  rows["Det"] = [](const Translation& t) { return Names{t.node("Det", {t("x")})}; };
  rows["Matmul"] = [](const Translation& t) { return Names{t.node("MatMul", {t("x1"), t("x2")})}; };
  rows["matmul"] = matmul_with_options, rows["Dot"] = dot, rows["batch_dot"] = batch_dot;
  rows["Einsum"] = einsum, rows["bias_add"] = bias_add;
}

void add_product_symbols(RowTable& rows) { rows["dot"] = sparse_dot; }

}  // namespace ktape::nn::onnx
