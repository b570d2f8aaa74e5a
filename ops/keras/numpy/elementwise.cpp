#include <ktape/autograd/base/called_op.hpp>
#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>

#include <limits>
#include <numbers>

/// The functions that are made of other ops; functions.cpp has the kernels.
namespace ktape::ops {

namespace K = backend;
using op_helpers::counted, op_helpers::floating, op_helpers::largest_number;

Tensor reciprocal(const Tensor& x) { return 1 / floating("reciprocal", x); }
Tensor square(const Tensor& x) { return K::square(counted("square", x)); }
Tensor exp(const Tensor& x) { return K::exp(floating("exp", x)); }
Tensor expm1(const Tensor& x) { return K::expm1(floating("expm1", x)); }
Tensor log(const Tensor& x) { return K::log(floating("log", x)); }
Tensor log1p(const Tensor& x) { return K::log1p(floating("log1p", x)); }
Tensor sin(const Tensor& x) { return K::sin(floating("sin", x)); }
Tensor cos(const Tensor& x) { return K::cos(floating("cos", x)); }
Tensor tanh(const Tensor& x) { return K::tanh(floating("tanh", x)); }
Tensor erf(const Tensor& x) { return K::erf(floating("erf", x)); }
Tensor deg2rad(const Tensor& x) { return floating("deg2rad", x) * (std::numbers::pi / 180); }
Tensor rad2deg(const Tensor& x) { return floating("rad2deg", x) * (180 / std::numbers::pi); }

Tensor abs(const Tensor& given) {
  const CalledOp called("abs");
  expect_defined("abs", "x", given);
  return given.dtype().is_bool() ? K::identity(given) : K::abs(given);
}
Tensor absolute(const Tensor& x) {
  const CalledOp called("absolute");
  return abs(x);
}
Tensor fabs(const Tensor& x) { return K::abs(floating("fabs", x)); }
Tensor negative(const Tensor& x) {
  const CalledOp called("negative");
  return -x;
}
Tensor sign(const Tensor& x) { return K::sign(counted("sign", x)); }

Tensor real(const Tensor& x) {
  const CalledOp called("real");
  return K::identity(x);
}
Tensor conj(const Tensor& x) {
  const CalledOp called("conj");
  return K::identity(x);
}
Tensor conjugate(const Tensor& x) {
  const CalledOp called("conjugate");
  return K::identity(x);
}
Tensor imag(const Tensor& x) {
  const CalledOp called("imag");
  return K::zeros_like(x);
}

Tensor isnan(const Tensor& x) {
  const CalledOp called("isnan");
  return K::is_nan(x);
}
Tensor isfinite(const Tensor& x) {
  const CalledOp called("isfinite");
  return K::is_finite(x);
}
Tensor isreal(const Tensor& x) {
  const CalledOp called("isreal");
  return K::ones_like(x, {.dtype = DType::Bool});
}

namespace {

/// Returns whether a bound is a number or has the dtype.
bool same(const K::Bound& bound, DType dtype) {
  return !bound.tensor().defined() || bound.tensor().dtype() == dtype;
}

}  // namespace

Tensor clip(const Tensor& given, const K::Bound& x_min, const K::Bound& x_max) {
  const CalledOp called("clip");
  const Tensor x = counted("clip", given);
  DType dtype = x.dtype();
  for (const K::Bound* bound : {&x_min, &x_max})
    if (bound->tensor().defined()) dtype = op_helpers::common_dtype(dtype, bound->tensor().dtype());
  if (dtype == x.dtype() && same(x_min, dtype) && same(x_max, dtype)) return K::clip(x, x_min, x_max);
  const std::vector<Tensor> all = op_helpers::together({x, x_min.tensor(), x_max.tensor()});
  const auto bound = [&](const K::Bound& given, const Tensor& tensor) {
    return tensor.defined() ? K::Bound(K::as_dtype(tensor, dtype)) : given;
  };
  return K::cast(K::clip(K::cast(all[0], dtype), bound(x_min, all[1]), bound(x_max, all[2])), x.dtype());
}

Tensor saturate_cast(const Tensor& x, DType dtype) {
  const CalledOp called("saturate_cast");
  expect_defined("saturate_cast", "x", x);
  if (dtype.is_bool()) return K::cast(K::cast(x, DType::Float64) >= 1, dtype);
  if (dtype.is_floating()) {
    if (!x.dtype().is_floating() || dtype.size() >= x.dtype().size()) return K::cast(x, dtype);
    return K::cast(K::clip(x, -largest_number(dtype), largest_number(dtype)), dtype);
  }
  if (x.dtype().is_floating() || x.dtype().is_bool()) return K::cast(x, dtype);
  return dispatch_integer(dtype, [&]<class T>() {
    using Limits = std::numeric_limits<T>;
    return K::cast(K::clip(K::cast(x, DType::Int64), Limits::min(), Limits::max()), dtype);
  });
}

}  // namespace ktape::ops

namespace ktape::nn {
namespace {

/// Writes an infinite bound as none.
const char* written_clip(const std::vector<OperationArgument>&, Config& attributes) {
  for (const char* bound : {"x_min", "x_max"})
    if (is_constant(attributes.get(bound))) attributes.set(bound, Value());
  return "Clip";
}

backend::Bound bound(const OperationCall& call, const char* name) {
  if (!call.has(name)) return None;
  if (!call.is_number(name)) return call.tensor(name);
  return call.number(name);
}

Tensor clipped(const OperationCall& call) {
  return ops::clip(call.tensor("x"), bound(call, "x_min"), bound(call, "x_max"));
}

}  // namespace

Operations elementwise_operations() {
  static constexpr Operation rows[] = {
      {"Absolute", "numpy", "x;", calls<ops::absolute>, "abs"},
      {"Abs", "numpy", "x;", calls<ops::abs>, "-"},
      {"Conj", "numpy", "x;", calls<ops::conj>},
      {"Conjugate", "numpy", "x;", calls<ops::conjugate>},
      {"Cos", "numpy", "x;", calls<ops::cos>},
      {"Deg2rad", "numpy", "x;", calls<ops::deg2rad>},
      {"Exp", "numpy", "x;", calls<ops::exp>},
      {"Expm1", "numpy", "x;", calls<ops::expm1>},
      {"Fabs", "numpy", "x;", calls<ops::fabs>},
      {"Imag", "numpy", "x;", calls<ops::imag>},
      {"Isfinite", "numpy", "x;", calls<ops::isfinite>, "is_finite"},
      {"Isnan", "numpy", "x;", calls<ops::isnan>},
      {"Isreal", "numpy", "x;", calls<ops::isreal>},
      {"Log", "numpy", "x;", calls<ops::log>},
      {"Log1p", "numpy", "x;", calls<ops::log1p>},
      {"Negative", "numpy", "x;", calls<ops::negative>},
      {"Rad2deg", "numpy", "x;", calls<ops::rad2deg>},
      {"Real", "numpy", "x;", calls<ops::real>},
      {"Reciprocal", "numpy", "x;", calls<ops::reciprocal>},
      {"Sign", "numpy", "x;", calls<ops::sign>},
      {"Sin", "numpy", "x;", calls<ops::sin>},
      {"Square", "numpy", "x;", calls<ops::square>},
      {"Tanh", "numpy", "x;", calls<ops::tanh>},
      {"Erf", "math", "x;", calls<ops::erf>},
      {"Clip", "numpy", "x; x_min, x_max", clipped, "", "", written_clip},
      {"SaturateCast", "core", "x; dtype", calls<ops::saturate_cast>},
  };
  return rows;
}

}  // namespace ktape::nn
