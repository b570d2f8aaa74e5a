#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/tensor_or_number.hpp>

/// Arithmetic and comparison operators, element by element with NumPy broadcasting. Found wherever tensors
/// are used.
///
/// Operands have one dtype (TypeError otherwise, naming both); a number takes the tensor's dtype, and one
/// that the dtype cannot hold (2.5 or 1e10 with int32, 1e10 with float16) is a TypeError. Shapes that do not
/// broadcast are a ValueError. Results of integers wrap around.
namespace ktape {

Tensor operator+(const Tensor& x, const Tensor& y);
Tensor operator+(const Tensor& x, Scalar y);
Tensor operator+(Scalar x, const Tensor& y);
Tensor operator-(const Tensor& x, const Tensor& y);
Tensor operator-(const Tensor& x, Scalar y);
Tensor operator-(Scalar x, const Tensor& y);
Tensor operator*(const Tensor& x, const Tensor& y);
Tensor operator*(const Tensor& x, Scalar y);
Tensor operator*(Scalar x, const Tensor& y);
/// True division: int32 and int64 are divided as float64, narrower integers as float32; bool is a TypeError.
Tensor operator/(const Tensor& x, const Tensor& y);
Tensor operator/(const Tensor& x, Scalar y);
Tensor operator/(Scalar x, const Tensor& y);
Tensor operator-(const Tensor& x);

/// Rebinds x to the result; tensors that share x's old value do not change.
Tensor& operator+=(Tensor& x, const Tensor& y);
Tensor& operator-=(Tensor& x, const Tensor& y);
Tensor& operator*=(Tensor& x, const Tensor& y);
Tensor& operator/=(Tensor& x, const Tensor& y);
Tensor& operator+=(Tensor& x, Scalar y);
Tensor& operator-=(Tensor& x, Scalar y);
Tensor& operator*=(Tensor& x, Scalar y);
Tensor& operator/=(Tensor& x, Scalar y);

/// Comparisons give bool tensors; with NaN all are false but `!=`. Any number may be compared with: one that
/// the dtype cannot hold lies between its values, above or below them.
Tensor operator==(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator!=(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator<(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator<=(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator>(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator>=(const TensorOrNumber& x, const TensorOrNumber& y);

/// And, or, exclusive or, and not, of bool tensors, or bit by bit of integers; floating tensors are a
/// TypeError. `tf.logical_and` and so on.
Tensor operator&(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator|(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator^(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator~(const Tensor& x);

}  // namespace ktape
