#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>

/// The functions of two tensors that are made of other ops; binary_functions.cpp has the kernels.
namespace ktape::ops {

namespace K = backend;
using op_helpers::Operands, op_helpers::promoted, op_helpers::promoted_floating;

Tensor add(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const auto [x, y] = promoted("add", x1, x2);
  return x.dtype().is_bool() ? x | y : x + y;
}
Tensor subtract(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const auto [x, y] = promoted("subtract", x1, x2);
  return x - y;
}
Tensor multiply(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const auto [x, y] = promoted("multiply", x1, x2);
  return x.dtype().is_bool() ? x & y : x * y;
}
Tensor divide(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const auto [x, y] = promoted_floating("divide", x1, x2);
  return x / y;
}
Tensor true_divide(const TensorOrNumber& x1, const TensorOrNumber& x2) { return divide(x1, x2); }

Tensor divide_no_nan(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const auto [x, y] = promoted_floating("divide_no_nan", x1, x2);
  const Tensor zero = y == 0;
  return K::where(zero, 0, K::where(zero, 0, x) / K::where(zero, 1, y));
}

Tensor power(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const auto [x, y] = promoted("power", x1, x2);
  return K::pow(x, y);
}

Tensor maximum(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const auto [x, y] = promoted("maximum", x1, x2);
  return x.dtype().is_bool() ? x | y : K::maximum(x, y);
}
Tensor minimum(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const auto [x, y] = promoted("minimum", x1, x2);
  return x.dtype().is_bool() ? x & y : K::minimum(x, y);
}

namespace {

/// Returns the choice of `choose`, which gets no NaN where the other operand is a number.
template <class F>
Tensor ignoring_nan(const Operands& o, F choose) {
  if (!o.x.dtype().is_floating()) return choose(o.x, o.y);
  const Tensor x_missing = K::is_nan(o.x), y_missing = K::is_nan(o.y);
  return K::where(x_missing, o.y, K::where(y_missing, o.x, choose(o.x, o.y)));
}

}  // namespace

Tensor fmax(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return ignoring_nan(promoted("fmax", x1, x2),
                      [](const Tensor& x, const Tensor& y) { return maximum(x, y); });
}
Tensor fmin(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return ignoring_nan(promoted("fmin", x1, x2),
                      [](const Tensor& x, const Tensor& y) { return minimum(x, y); });
}

}  // namespace ktape::ops
