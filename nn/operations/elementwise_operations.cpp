#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>
#include <ktape/ops/operators.hpp>

#include <algorithm>

namespace ktape::nn {
namespace K = backend;

namespace {

using Binary = Tensor (*)(const TensorOrNumber&, const TensorOrNumber&);

/// Returns whether the operands are tensors that must be converted to a common dtype, as Keras does.
bool mixed(const OperationCall& call) {
  if (call.operand("x1").is_number() || call.operand("x2").is_number()) return false;
  const DType x1 = call.tensor("x1").dtype(), x2 = call.tensor("x2").dtype();
  return x1 != x2 || !x1.is_floating();
}

template <Binary f, Binary of_mixed>
Tensor binary(const OperationCall& call) {
  return (mixed(call) ? of_mixed : f)(call.operand("x1"), call.operand("x2"));
}

/// Returns a function that applies an operator of C++ to two operands.
template <class F, Binary of_mixed>
Tensor arithmetic(const OperationCall& call) {
  if (mixed(call)) return of_mixed(call.operand("x1"), call.operand("x2"));
  return with_operands(call, "x1", "x2", [](const auto& x, const auto& y) { return F()(x, y); });
}

Tensor truth(const OperationCall& call, const char* name) {
  if (call.is_number(name)) return K::full({}, call.scalar(name).to<bool>(), "bool");
  const Tensor x = call.tensor(name);
  return x.dtype().is_bool() ? x : K::not_equal(x, 0);
}

template <class F>
Tensor logical(const OperationCall& call) {
  return F()(truth(call, "x1"), truth(call, "x2"));
}

template <class F>
Tensor bitwise(const OperationCall& call) {
  return F()(call.operand("x"), call.operand("y"));
}

bool is_bool(const std::vector<OperationArgument>& operands) {
  for (const OperationArgument& operand : operands)
    if (!operand.tensors.empty()) return operand.tensors[0].dtype().is_bool();
  return false;
}

const char* written_and(const std::vector<OperationArgument>& operands, Config&) {
  return is_bool(operands) ? nullptr : "BitwiseAnd";
}
const char* written_or(const std::vector<OperationArgument>& operands, Config&) {
  return is_bool(operands) ? nullptr : "BitwiseOr";
}
const char* written_xor(const std::vector<OperationArgument>& operands, Config&) {
  return is_bool(operands) ? nullptr : "BitwiseXor";
}
const char* written_not(const std::vector<OperationArgument>& operands, Config&) {
  return is_bool(operands) ? nullptr : "BitwiseNot";
}

/// Writes an infinite bound as none.
const char* written_clip(const std::vector<OperationArgument>&, Config& attributes) {
  for (const char* bound : {"x_min", "x_max"})
    if (is_constant(attributes.get(bound))) attributes.set(bound, Value());
  return "Clip";
}

K::Bound bound(const OperationCall& call, const char* name) {
  if (!call.has(name)) return None;
  if (!call.is_number(name)) return call.tensor(name);
  return call.number(name);
}

Tensor rounded(const OperationCall& call) {
  constexpr std::int64_t most = 400;  // beyond the exponents of float64
  return ops::round(call.tensor("x"), static_cast<int>(std::clamp(call.integer("decimals"), -most, most)));
}

void add_unary(std::vector<Operation>& all) {
  const std::vector<Operation> operations{
      {"Absolute", "numpy", "x;", unary<K::abs>, "abs"},
      {"Negative", "numpy", "x;", [](const OperationCall& call) { return -call.tensor("x"); }},
      {"Sqrt", "numpy", "x;", unary<K::sqrt>},
      {"Rsqrt", "math", "x;", [](const OperationCall& call) { return 1 / K::sqrt(call.tensor("x")); }},
      {"Square", "numpy", "x;", unary<K::square>},
      {"Reciprocal", "numpy", "x;", [](const OperationCall& call) { return 1 / call.tensor("x"); }},
      {"Exp", "numpy", "x;", unary<K::exp>},
      {"Expm1", "numpy", "x;", unary<K::expm1>},
      {"Log", "numpy", "x;", unary<K::log>},
      {"Log1p", "numpy", "x;", unary<K::log1p>},
      {"Round", "numpy", "x; decimals=0", rounded, "", "x | x, decimals"},
      {"Sign", "numpy", "x;", unary<K::sign>},
      {"Sin", "numpy", "x;", unary<K::sin>},
      {"Cos", "numpy", "x;", unary<K::cos>},
      {"Tanh", "numpy", "x;", unary<K::tanh>},
      {"Erf", "math", "x;", unary<K::erf>},
      {"Isnan", "numpy", "x;", unary<K::is_nan>},
      {"Isfinite", "numpy", "x;", unary<K::is_finite>, "is_finite"},
      {"LogicalNot", "numpy", "x;", [](const OperationCall& call) { return ~truth(call, "x"); }, "", "",
       written_not},
      {"BitwiseNot", "numpy", "x;", [](const OperationCall& call) { return ~call.tensor("x"); }, "-"},
      {"BitwiseInvert", "numpy", "x;", [](const OperationCall& call) { return ~call.tensor("x"); }, "-"},
      {"Copy", "numpy", "x;", [](const OperationCall& call) { return K::identity(call.tensor("x")); }, "-"},
      {"identity", "", "x;", [](const OperationCall& call) { return K::identity(call.tensor("x")); }},
      {"Cast", "core", "x; dtype",
       [](const OperationCall& call) { return K::cast(call.tensor("x"), DType(call.text("dtype"))); }},
      {"OnesLike", "numpy", "x; dtype=null",
       [](const OperationCall& call) { return K::ones_like(call.tensor("x"), {.dtype = call.dtype()}); }},
      {"ZerosLike", "numpy", "x; dtype=null",
       [](const OperationCall& call) { return K::zeros_like(call.tensor("x"), {.dtype = call.dtype()}); }},
      {"Size", "numpy", "x;", [](const OperationCall& call) { return K::size(call.tensor("x")); }, "size",
       "x"},
      {"shape", "", "x;", [](const OperationCall& call) { return K::shape(call.tensor("x")); }},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

void add_binary(std::vector<Operation>& all) {
  const std::vector<Operation> operations{
      {"Add", "numpy", "x1, x2;", arithmetic<std::plus<>, ops::add>},
      {"Subtract", "numpy", "x1, x2;", arithmetic<std::minus<>, ops::subtract>},
      {"Multiply", "numpy", "x1, x2;", arithmetic<std::multiplies<>, ops::multiply>},
      {"Divide", "numpy", "x1, x2;", arithmetic<std::divides<>, ops::divide>},
      {"TrueDivide", "numpy", "x1, x2;", arithmetic<std::divides<>, ops::divide>},
      {"Power", "numpy", "x1, x2;", binary<K::pow, ops::power>, "pow"},
      {"Maximum", "numpy", "x1, x2;", binary<K::maximum, ops::maximum>},
      {"Minimum", "numpy", "x1, x2;", binary<K::minimum, ops::minimum>},
      {"Equal", "numpy", "x1, x2;", binary<K::equal, ops::equal>},
      {"NotEqual", "numpy", "x1, x2;", binary<K::not_equal, ops::not_equal>},
      {"Greater", "numpy", "x1, x2;", binary<K::greater, ops::greater>},
      {"GreaterEqual", "numpy", "x1, x2;", binary<K::greater_equal, ops::greater_equal>},
      {"Less", "numpy", "x1, x2;", binary<K::less, ops::less>},
      {"LessEqual", "numpy", "x1, x2;", binary<K::less_equal, ops::less_equal>},
      {"LogicalAnd", "numpy", "x1, x2;", logical<std::bit_and<>>, "", "", written_and},
      {"LogicalOr", "numpy", "x1, x2;", logical<std::bit_or<>>, "", "", written_or},
      {"LogicalXor", "numpy", "x1, x2;", logical<std::bit_xor<>>, "", "", written_xor},
      {"BitwiseAnd", "numpy", "x, y;", bitwise<std::bit_and<>>, "-"},
      {"BitwiseOr", "numpy", "x, y;", bitwise<std::bit_or<>>, "-"},
      {"BitwiseXor", "numpy", "x, y;", bitwise<std::bit_xor<>>, "-"},
      {"Clip", "numpy", "x; x_min, x_max",
       [](const OperationCall& call) {
         return ops::clip(call.tensor("x"), bound(call, "x_min"), bound(call, "x_max"));
       },
       "", "", written_clip},
      {"Where", "numpy", "condition, x1, x2;",
       [](const OperationCall& call) {
         return K::where(call.operand("condition"), call.operand("x1"), call.operand("x2"));
       }},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace

void add_elementwise_operations(std::vector<Operation>& all) {
  add_unary(all);
  add_binary(all);
}

}  // namespace ktape::nn
