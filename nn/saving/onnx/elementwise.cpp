#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/math/math.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

/// Returns an operator of one tensor.
template <class F>
Operator unary(F f) {
  return [f](const Call& call) { return Tensors{f(call[0])}; };
}
/// Returns the second of two tensors. In opset 6 its axes stand from `axis` on, if the node has that attribute.
Tensor second(const Call& call) {
  const Tensor& y = call[1];
  if (call.opset > 6 || !call.flag("broadcast") || !call.find("axis")) return y;
  const int rank = call[0].ndim(), axis = axes_of({call.integer("axis", 0)}, rank)[0];
  Shape shape = y.shape();
  while (shape.rank() < rank - axis) shape.push_back(1);
  return K::reshape(y, shape);
}

/// Returns an operator of two tensors.
template <class F>
Operator binary(F f) {
  return [f](const Call& call) { return Tensors{f(call[0], second(call))}; };
}
/// Returns an operator that joins any number of tensors, two at a time.
template <class F>
Operator variadic(F f) {
  return [f](const Call& call) {
    Tensor result = call[0];
    for (std::size_t i = 1; i < call.size(); ++i) result = f(result, call[i]);
    return Tensors{result};
  };
}

/// Divides; integers are truncated towards zero, as in C.
Tensor divided(const Tensor& x, const Tensor& y) {
  if (x.dtype().is_floating()) return x / y;
  const Tensor quotient = ops::floor_divide(x, y);
  const Tensor exact = (quotient * y) == x;
  const Tensor negative = ops::logical_xor(x < 0, y < 0);
  return quotient + K::cast(ops::logical_and(negative, ops::logical_not(exact)), x.dtype());
}

/// Raises to a power, in the dtype of the base.
Tensor raised(const Tensor& x, const Tensor& y) {
  if (x.dtype().is_floating()) return K::pow(x, K::cast(y, x.dtype()));
  return K::cast(ops::power(K::cast(x, DType::Float64), K::cast(y, DType::Float64)), x.dtype());
}

Tensors modulo(const Call& call) {
  return {call.flag("fmod") ? ops::fmod(call[0], call[1]) : ops::mod(call[0], call[1])};
}

Tensors shifted(const Call& call) {
  const bool left = call.text("direction", "") == "LEFT";
  return {left ? ops::left_shift(call[0], call[1]) : ops::right_shift(call[0], call[1])};
}

Tensors infinite(const Call& call) {
  const Tensor &x = call[0], none = ops::not_equal(x, x);
  const bool negative = call.flag("detect_negative", true), positive = call.flag("detect_positive", true);
  if (!negative && !positive) return {ops::logical_and(none, ops::logical_not(none))};
  return {negative && positive ? ops::isinf(x) : negative ? ops::isneginf(x) : ops::isposinf(x)};
}

Tensors clipped(const Call& call) {
  Tensor x = call[0];
  const auto bound = [&](const char* name, std::size_t i) {
    if (call.find(name)) return number(call.real(name, 0), x.dtype());
    return call.has(i) ? call[i] : Tensor();
  };
  if (const Tensor low = bound("min", 1); low.defined()) x = ops::maximum(x, low);
  if (const Tensor high = bound("max", 2); high.defined()) x = ops::minimum(x, high);
  return {x};
}

Tensors mean(const Call& call) {
  Tensor sum = call[0];
  for (std::size_t i = 1; i < call.size(); ++i) sum = sum + call[i];
  return {sum / static_cast<double>(call.size())};
}

Tensors converted(const Call& call) {
  return {K::cast(call[0], call.has(1) ? call[1].dtype() : dtype_of_code(call.integer("to", 0)))};
}

Tensor reciprocal(const Tensor& x) { return 1 / x; }
Tensor negative(const Tensor& x) { return -x; }
Tensor add(const Tensor& x, const Tensor& y) { return x + y; }
Tensor subtract(const Tensor& x, const Tensor& y) { return x - y; }
Tensor multiply(const Tensor& x, const Tensor& y) { return x * y; }
Tensor same(const Tensor& x) { return x; }

}  // namespace

void add_elementwise(OperatorTable& t) {
  t["Abs"] = unary(K::abs), t["Neg"] = unary(negative), t["Sign"] = unary(ops::sign),
  t["Identity"] = unary(same);
  t["Ceil"] = unary(ops::ceil), t["Floor"] = unary(ops::floor), t["Round"] = unary(K::round);
  t["Sqrt"] = unary(ops::sqrt), t["Exp"] = unary(K::exp), t["Log"] = unary(K::log), t["Erf"] = unary(K::erf);
  t["Reciprocal"] = unary(reciprocal);
  t["Sin"] = unary(ops::sin), t["Cos"] = unary(ops::cos), t["Tan"] = unary(ops::tan);
  t["Asin"] = unary(ops::arcsin), t["Acos"] = unary(ops::arccos), t["Atan"] = unary(ops::arctan);
  t["Sinh"] = unary(ops::sinh), t["Cosh"] = unary(ops::cosh), t["Tanh"] = unary(K::tanh);
  t["Asinh"] = unary(ops::arcsinh), t["Acosh"] = unary(ops::arccosh), t["Atanh"] = unary(ops::arctanh);
  t["Not"] = unary(ops::logical_not), t["IsNaN"] = unary(ops::isnan), t["IsInf"] = infinite;
  t["BitwiseNot"] = unary(ops::bitwise_not);
  t["Add"] = binary(add), t["Sub"] = binary(subtract), t["Mul"] = binary(multiply),
  t["Div"] = binary(divided);
  t["Pow"] = binary(raised), t["Mod"] = modulo, t["BitShift"] = shifted;
  t["And"] = binary(ops::logical_and), t["Or"] = binary(ops::logical_or), t["Xor"] = binary(ops::logical_xor);
  t["BitwiseAnd"] = binary(ops::bitwise_and), t["BitwiseOr"] = binary(ops::bitwise_or);
  t["BitwiseXor"] = binary(ops::bitwise_xor);
  t["Equal"] = binary(ops::equal), t["Less"] = binary(ops::less), t["LessOrEqual"] = binary(ops::less_equal);
  t["Greater"] = binary(ops::greater), t["GreaterOrEqual"] = binary(ops::greater_equal);
  t["Max"] = variadic(ops::maximum), t["Min"] = variadic(ops::minimum), t["Sum"] = variadic(add),
  t["Mean"] = mean;
  t["Clip"] = clipped, t["Cast"] = converted, t["CastLike"] = converted;
  t["Where"] = [](const Call& call) { return Tensors{ops::where(call[0], call[1], call[2])}; };
}

}  // namespace ktape::nn::onnx
