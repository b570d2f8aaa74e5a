#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/settings/config.hpp>

#include <limits>

namespace ktape::op_helpers {

using backend::as_dtype;

DType common_dtype(DType x, DType y) {
  if (x == y || y.is_bool()) return x;
  if (x.is_bool()) return y;
  if (x.is_floating() != y.is_floating()) return x.is_floating() ? x : y;
  if (x.is_half() && y.is_half()) return DType::Float32;  // holds the numbers of float16 and of bfloat16
  const bool unsigned_and_signed = x.size() == y.size();  // only uint8 and int8 have one size and differ
  if (unsigned_and_signed && x.is_integer()) return DType::Int16;
  return x.size() > y.size() ? x : y;
}

DType floating_dtype(DType x) { return x.is_floating() ? x : backend::floatx(); }

double largest_number(DType dtype) {
  if (dtype == DType::Float16) return 65504;
  if (dtype == DType::BFloat16) return 0x1.fep127;
  if (dtype == DType::Float32) return std::numeric_limits<float>::max();
  return std::numeric_limits<double>::max();
}

Tensor floating(const char* op, const Tensor& x, const char* name) {
  expect_defined(op, name, x);
  return as_dtype(x, floating_dtype(x.dtype()));
}

Tensor counted(const char* op, const Tensor& x, const char* name) {
  expect_defined(op, name, x);
  return as_dtype(x, x.dtype().is_bool() ? DType(DType::Int32) : x.dtype());
}

namespace {

DType dtype_beside(Scalar number, DType other) {
  if (number.kind() == Scalar::Real) return floating_dtype(other);
  return number.kind() == Scalar::Integer && other.is_bool() ? DType(DType::Int32) : other;
}

DType dtype_of_numbers(Scalar x, Scalar y) {
  if (x.kind() == Scalar::Real || y.kind() == Scalar::Real) return backend::floatx();
  return x.kind() == Scalar::Bool && y.kind() == Scalar::Bool ? DType::Bool : DType::Int32;
}

DType dtype_of_operands(const char* op, const TensorOrNumber& x, const TensorOrNumber& y) {
  if (x.is_number() && y.is_number()) return dtype_of_numbers(x.number(), y.number());
  const auto dtype = [&](const TensorOrNumber& given, const char* name) {
    const Tensor& tensor = given.tensor(op, DType::Float32);
    expect_defined(op, name, tensor);
    return tensor.dtype();
  };
  if (x.is_number()) return dtype_beside(x.number(), dtype(y, "x2"));
  if (y.is_number()) return dtype_beside(y.number(), dtype(x, "x1"));
  return common_dtype(dtype(x, "x1"), dtype(y, "x2"));
}

/// Returns a variable's tensor as a symbolic one.
Tensor read_later(const Tensor& x) {
  if (!x.defined() || !variable_of(x).defined()) return x;
  return defer(
      "identity", {x.shape(), x.dtype()}, [](const Tensor& value) { return backend::identity(value); }, x);
}

Operands in_dtype(const char* op, const TensorOrNumber& x, const TensorOrNumber& y, DType dtype) {
  const Operands o = together(x.tensor(op, dtype), y.tensor(op, dtype));
  return {as_dtype(o.x, dtype), as_dtype(o.y, dtype)};
}

}  // namespace

Operands together(const Tensor& x, const Tensor& y) {
  if (is_symbolic(x) == is_symbolic(y)) return {x, y};
  return {read_later(x), read_later(y)};
}

std::vector<Tensor> together(const std::vector<Tensor>& tensors) {
  if (!is_symbolic(tensors)) return tensors;
  std::vector<Tensor> out;
  for (const Tensor& x : tensors) out.push_back(read_later(x));
  return out;
}

Operands promoted(const char* op, const TensorOrNumber& x, const TensorOrNumber& y) {
  return in_dtype(op, x, y, dtype_of_operands(op, x, y));
}

Operands promoted_floating(const char* op, const TensorOrNumber& x, const TensorOrNumber& y) {
  return in_dtype(op, x, y, floating_dtype(dtype_of_operands(op, x, y)));
}

std::vector<Tensor> promoted(const char* op, const char* name, const TensorList& tensors) {
  ktape::expect_defined(op, name, tensors.vector());
  if (tensors.empty()) fail("[", op, "] ", name, " must hold a tensor: received ", name, "=[]");
  DType dtype = tensors[0].dtype();
  for (const Tensor& x : tensors) dtype = common_dtype(dtype, x.dtype());
  std::vector<Tensor> out;
  for (const Tensor& x : together(tensors.vector())) out.push_back(as_dtype(x, dtype));
  return out;
}

Operands broadcast_together(const char* op, const Operands& o) {
  if (o.x.shape() == o.y.shape()) return o;
  const Shape shape = broadcast_shapes(op, o.x.shape(), o.y.shape(), "x1", "x2");
  return {backend::broadcast_to(o.x, shape), backend::broadcast_to(o.y, shape)};
}

Tensor number(double value, DType dtype) { return backend::full({}, value, dtype); }

}  // namespace ktape::op_helpers
