#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/arguments/tensor_or_number.hpp>

/// Arithmetic and comparison operators, element by element with NumPy broadcasting. Argument-dependent lookup
/// finds the operators for every Tensor.
///
/// The operands have one dtype (TypeError otherwise, naming both dtypes). A number takes the dtype of the
/// tensor; a number that the dtype cannot hold (2.5 or 1e10 with int32, 1e10 with float16) is a TypeError.
/// Shapes that do not broadcast are a ValueError. Integer results wrap around.
///
///     Tensor x = K::constant({{1., 2.}, {3., 4.}}), row = K::constant({10., 100.});
///     std::cout << x * row + 1 << "\n" << (x > 2) << "\n" << ((x > 1) & (x < 4));
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
/// Divides, with a floating result: int32 and int64 are divided as float64, narrower integers as float32;
/// bool is a TypeError.
Tensor operator/(const Tensor& x, const Tensor& y);
Tensor operator/(const Tensor& x, Scalar y);
Tensor operator/(Scalar x, const Tensor& y);
Tensor operator-(const Tensor& x);

/// Assigns the result to x; other tensors that share the old value of x do not change.
Tensor& operator+=(Tensor& x, const Tensor& y);
Tensor& operator-=(Tensor& x, const Tensor& y);
Tensor& operator*=(Tensor& x, const Tensor& y);
Tensor& operator/=(Tensor& x, const Tensor& y);
Tensor& operator+=(Tensor& x, Scalar y);
Tensor& operator-=(Tensor& x, Scalar y);
Tensor& operator*=(Tensor& x, Scalar y);
Tensor& operator/=(Tensor& x, Scalar y);

/// Compares and returns a bool tensor. Comparisons with NaN are false, except `!=`. Any number may be
/// compared with a tensor: a number that the dtype cannot hold compares by its value.
Tensor operator==(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator!=(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator<(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator<=(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator>(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator>=(const TensorOrNumber& x, const TensorOrNumber& y);

/// Computes and, or, exclusive or, and not: logical for bool tensors, bit by bit for integers. Floating
/// tensors are a TypeError. `tf.logical_and` and so on.
Tensor operator&(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator|(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator^(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor operator~(const Tensor& x);

}  // namespace ktape
