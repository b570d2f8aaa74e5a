#pragma once
#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/ops/arguments/tensor_or_number.hpp>
#include <ktape/ops/as_dtype.hpp>

/// The dtypes of Keras 3's results. Internal: sources only.
namespace ktape::op_helpers {

/// Returns the dtype of an op on two tensors: the wider of two integers or of two floating dtypes (uint8 with a
/// signed dtype gives a signed dtype that holds both), the floating dtype beside an integer, the other dtype
/// beside bool.
DType common_dtype(DType x, DType y);

/// Returns the dtype of a function with a floating result: floatx() for integers and bools.
DType floating_dtype(DType x);

/// Returns the largest finite number of a floating dtype.
double largest_number(DType dtype);

/// Returns x in its `floating_dtype`. Throws ValueError, naming op and argument, for an undefined tensor.
Tensor floating(const char* op, const Tensor& x, const char* name = "x");

/// Returns bools as int32, other tensors unchanged.
Tensor counted(const char* op, const Tensor& x, const char* name = "x");

/// Two operands of one dtype; a number has become a tensor.
struct Operands {
  Tensor x, y;
};

/// Returns the operands in their common dtype. A whole number takes the dtype of the tensor beside it (int32
/// beside bool), a real number the tensor's floating dtype.
Operands promoted(const char* op, const TensorOrNumber& x, const TensorOrNumber& y);
/// Returns the operands in the floating dtype of their common dtype.
Operands promoted_floating(const char* op, const TensorOrNumber& x, const TensorOrNumber& y);

/// Returns the tensors in their common dtype.
std::vector<Tensor> promoted(const char* op, const char* name, const TensorList& tensors);

/// Returns the tensors for an op that computes with each before it joins them: where one is symbolic, a variable among them
/// becomes a symbolic tensor, so that it is read when the graph runs. The references are those that the op was given.
Operands together(const Tensor& x, const Tensor& y);
std::vector<Tensor> together(const std::vector<Tensor>& tensors);

/// Returns both operands repeated to their common shape, which must be known.
Operands broadcast_together(const char* op, const Operands& operands);

/// Returns a scalar tensor with the number.
Tensor number(double value, DType dtype);

}  // namespace ktape::op_helpers
