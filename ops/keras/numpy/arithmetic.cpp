#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/schema/typed_call.hpp>

/// The functions of two tensors that are made of other ops; binary_functions.cpp has the kernels.
namespace ktape::ops {

namespace K = backend;
using op_helpers::promoted, op_helpers::promoted_floating;

Tensor add(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("add");
  const auto [x, y] = promoted("add", x1, x2);
  return x.dtype().is_bool() ? x | y : x + y;
}
Tensor subtract(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("subtract");
  const auto [x, y] = promoted("subtract", x1, x2);
  return x - y;
}
Tensor multiply(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("multiply");
  const auto [x, y] = promoted("multiply", x1, x2);
  return x.dtype().is_bool() ? x & y : x * y;
}
Tensor divide(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("divide");
  const auto [x, y] = promoted_floating("divide", x1, x2);
  return x / y;
}
Tensor true_divide(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("true_divide");
  return divide(x1, x2);
}

Tensor power(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("power");
  const auto [x, y] = promoted("power", x1, x2);
  return K::pow(x, y);
}

Tensor maximum(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("maximum");
  const auto [x, y] = promoted("maximum", x1, x2);
  return x.dtype().is_bool() ? x | y : K::maximum(x, y);
}
Tensor minimum(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("minimum");
  const auto [x, y] = promoted("minimum", x1, x2);
  return x.dtype().is_bool() ? x & y : K::minimum(x, y);
}

}  // namespace ktape::ops

namespace ktape::nn {
namespace {

/// Returns the power by a number as the op for numbers, so that the bits are equal.
Tensor power(const OperationCall& call) {
  const bool numbers = call.is_number("x1") || call.is_number("x2");
  const bool equal = !numbers && call.tensor("x1").dtype() == call.tensor("x2").dtype();
  const auto f = numbers || (equal && call.tensor("x1").dtype().is_floating()) ? backend::pow : ops::power;
  return f(call.operand("x1"), call.operand("x2"));
}

}  // namespace

Operations arithmetic_operations() {
  static constexpr Operation rows[] = {
      {"Add", "numpy", "x1, x2;", calls<ops::add>},
      {"Subtract", "numpy", "x1, x2;", calls<ops::subtract>},
      {"Multiply", "numpy", "x1, x2;", calls<ops::multiply>},
      {"Divide", "numpy", "x1, x2;", calls<ops::divide>},
      {"TrueDivide", "numpy", "x1, x2;", calls<ops::true_divide>},
      {"Power", "numpy", "x1, x2;", power, "pow"},
      {"Maximum", "numpy", "x1, x2;", calls<ops::maximum>},
      {"Minimum", "numpy", "x1, x2;", calls<ops::minimum>},
  };
  return rows;
}

}  // namespace ktape::nn
