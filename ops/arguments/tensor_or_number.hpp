#pragma once
#include <ktape/autograd/variable.hpp>

namespace ktape {

/// An argument that is a tensor, a variable or a number. A number takes the dtype of the other operand; two
/// numbers have the dtype `floatx()`. The object refers to the given tensor and lives as long as the call.
///
///     K::maximum(x, 0.f)   K::minimum(1, x)   K::where(x > 0, x, -1.f)   mask & true
class TensorOrNumber {
 public:
  TensorOrNumber(const Tensor& tensor) : tensor_(&tensor) {}
  TensorOrNumber(const Variable& variable) : TensorOrNumber(static_cast<const Tensor&>(variable)) {}
  TensorOrNumber(Scalar number) : tensor_(&made_), number_(number) {}
  template <Arithmetic T>
  TensorOrNumber(T number) : TensorOrNumber(Scalar(number)) {}
  TensorOrNumber(const TensorOrNumber&) = delete;
  TensorOrNumber& operator=(const TensorOrNumber&) = delete;

  bool is_number() const { return tensor_ == &made_; }
  Scalar number() const { return number_; }

  /// Returns the tensor. A number becomes a tensor of shape () in the given dtype, or in the dtype of the
  /// other operand. Any number converts to bool, by `!= 0`. Throws TypeError when another dtype cannot hold
  /// the number.
  const Tensor& tensor(const char* op, DType dtype) const;
  const Tensor& tensor(const char* op, const TensorOrNumber& other) const;

 private:
  mutable Tensor made_;
  const Tensor* tensor_;
  Scalar number_ = 0;
};

}  // namespace ktape
