#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/variable.hpp>

#include <concepts>
#include <string>
#include <utility>

/// Looking at tensors, reading them into xtensor arrays, and changing their dtype.
namespace ktape::backend {

/// Whether x is a defined tensor; true for variables. `K.is_tensor`.
bool is_tensor(const Tensor& x);
/// Whether x is a variable, or the present value of one. `K.is_variable`.
bool is_variable(const Tensor& x);
inline bool is_variable(const Variable& x) { return x.defined(); }

struct SizeOptions {
  std::string name = {};  ///< accepted and not kept
};

/// The shape as a 1-D int32 tensor (`K.shape`; symbolic where x is and has an unknown extent; ValueError for
/// an extent that does not fit in int32), as a Shape (`K.int_shape`); the number of axes (`K.ndim`).
Tensor shape(const Tensor& x);
Shape int_shape(const Tensor& x);
int ndim(const Tensor& x);
/// The number of elements as an int32 scalar tensor (`K.size`) and as a number (`K.count_params`).
Tensor size(const Tensor& x, const SizeOptions& options = {});
std::int64_t count_params(const Tensor& x);
/// The dtype, which compares with its name: `K::dtype(x) == "float32"`. `K.dtype`.
DType dtype(const Tensor& x);
/// The same of a variable, which need not hold a value yet.
inline bool is_tensor(const Variable& x) { return x.defined(); }
inline Shape int_shape(const Variable& x) { return x.shape(); }
inline int ndim(const Variable& x) { return x.ndim(); }
inline std::int64_t count_params(const Variable& x) { return x.size(); }
inline DType dtype(const Variable& x) { return x.dtype(); }

/// A copy of the elements as an xtensor array, converted to T as by `cast`. Throws ValueError, naming its
/// placeholders, for a symbolic tensor. `K.eval`, `K.get_value`.
template <class T = float>
xt::xarray<T> get_value(const Tensor& x) {
  expect_value("get_value", x);
  xt::xarray<T> out = xt::xarray<T>::from_shape(std::vector<std::size_t>(x.shape().begin(), x.shape().end()));
  convert(out.data(), dtype_of<T>(), x.raw(), x.dtype(), x.size());
  return out;
}
template <class T = float>
xt::xarray<T> get_value(const Variable& x) {
  return get_value<T>(x.value());
}
template <class T = float>
xt::xarray<T> eval(const Tensor& x) {
  expect_value("eval", x);
  return get_value<T>(x);
}
/// The values of several tensors. `K.batch_get_value`.
template <class T = float>
std::vector<xt::xarray<T>> batch_get_value(const TensorList& tensors) {
  for (const Tensor& x : tensors) expect_value("batch_get_value", x);
  std::vector<xt::xarray<T>> values;
  for (const Tensor& x : tensors) values.push_back(get_value<T>(x));
  return values;
}

/// x in another dtype: real numbers are truncated towards zero, bool is `!= 0`. Between floating dtypes the
/// gradient passes. A tensor of its own that shares memory with x when x has the dtype. `K.cast`.
Tensor cast(const Tensor& x, DType dtype);
/// x in the dtype floatx(); the gradient of a floating tensor passes. `K.cast_to_floatx`.
Tensor cast_to_floatx(const ArrayLike& x);

struct PrintOptions {
  int summarize = 3;  ///< entries at either end of each axis; -1 for all
};

/// Prints the message, a space and the tensor through the logger and returns x, gradient and all; without a
/// message the tensor alone. `K.print_tensor`.
Tensor print_tensor(const Tensor& x, const std::string& message = "", const PrintOptions& options = {});

}  // namespace ktape::backend
