#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/variable.hpp>

#include <concepts>
#include <string>
#include <utility>

/// Functions that inspect tensors, and change the dtype of tensors.
namespace ktape::backend {

/// Returns whether x is a defined tensor; true for variables. `K.is_tensor`.
///
///     Tensor x = K::zeros({2}), p = K::placeholder({2});
///     Variable w = K::variable({1.f});
///     std::cout << K::is_tensor(x) << " " << K::is_variable(w) << " "
///               << K::is_placeholder(p) << " " << K::is_keras_tensor(p) << " "
///               << K::is_sparse(x);
bool is_tensor(const Tensor& x);
/// Returns whether x is a variable, or the current value of a variable. `K.is_variable`.
bool is_variable(const Tensor& x);
inline bool is_variable(const Variable& x) { return x.defined(); }

/// Options of `size`.
///
///     std::cout << K::size(K::zeros({2, 3}), {.name = "elements"});
struct SizeOptions {
  std::string name = {};  ///< accepted and not stored
};

/// Returns the shape as a 1-D int32 tensor (`K.shape`) or as a Shape (`K.int_shape`), or the number of axes
/// (`K.ndim`). `shape` is symbolic where x is symbolic and has an unknown extent, and throws ValueError for
/// an extent that does not fit in int32.
///
///     Tensor x = K::zeros({2, 3});
///     std::cout << K::shape(x) << " " << K::int_shape(x) << " " << K::ndim(x) << " "
///               << K::size(x);
Tensor shape(const Tensor& x);
Shape int_shape(const Tensor& x);
int ndim(const Tensor& x);
/// Returns the number of elements as an int32 scalar tensor (`K.size`) or as a number (`K.count_params`).
///
///     std::cout << K::count_params(K::zeros({2, 3}));
Tensor size(const Tensor& x, const SizeOptions& options = {});
std::int64_t count_params(const Tensor& x);
/// Returns the dtype, which compares with its name: `K::dtype(x) == "float32"`. `K.dtype`.
///
///     Tensor x = K::cast(K::constant({1.7, -1.7}), "int32");
///     std::cout << x << " " << K::dtype(x) << " " << K::dtype(K::cast_to_floatx(x));
DType dtype(const Tensor& x);
/// Overloads for a variable, which need not hold a value yet.
inline bool is_tensor(const Variable& x) { return x.defined(); }
inline Shape int_shape(const Variable& x) { return x.shape(); }
inline int ndim(const Variable& x) { return x.ndim(); }
inline std::int64_t count_params(const Variable& x) { return x.size(); }
inline DType dtype(const Variable& x) { return x.dtype(); }

/// Returns x in another dtype: real numbers are truncated towards zero to integers, and converted to bool by
/// `!= 0`. Gradients flow between floating dtypes. When x has the dtype already, the result is a new tensor
/// that shares the memory of x. `K.cast`.
Tensor cast(const Tensor& x, DType dtype);
/// Returns x in the dtype floatx(). The gradient of a floating tensor flows. `K.cast_to_floatx`.
Tensor cast_to_floatx(const ArrayLike& x);

struct PrintOptions {
  int summarize = 3;  ///< the number of entries printed at either end of each axis; -1 for all
};

/// Prints the message, a space and the tensor through the logger and returns x, through which gradients flow.
/// An empty message prints the tensor alone. `K.print_tensor`.
///
///     Tensor x = K::print_tensor(K::arange(9), "x is", {.summarize = 1});
///     // The error stream has: x is tensor([0, ..., 8], shape=(9,), dtype=int32)
///     std::cout << K::sum(x);
Tensor print_tensor(const Tensor& x, const std::string& message = "", const PrintOptions& options = {});

}  // namespace ktape::backend
