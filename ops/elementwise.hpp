#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/tensor_or_number.hpp>

#include <optional>

/// Element-wise functions. Results have the shape of x, or the broadcast shape of both arguments, and their
/// dtype. Where two tensors are taken either may be a number. Unless said otherwise x is float16, float32 or
/// float64 (TypeError: integers go through `cast` first), two tensors have one dtype (TypeError) and shapes
/// that broadcast (ValueError), and the function is differentiable to any order.
namespace ktape::backend {

/// |x|, for any number dtype. The gradient at 0 is 0. `K.abs`.
Tensor abs(const Tensor& x);
/// The square root; negative elements count as 0, and their gradient is 0. `K.sqrt`.
Tensor sqrt(const Tensor& x);
/// x * x, for any number dtype. `K.square`.
Tensor square(const Tensor& x);
/// e to the power of x. `K.exp`.
Tensor exp(const Tensor& x);
/// exp(x) - 1, exact near 0.
Tensor expm1(const Tensor& x);
/// The natural logarithm: -inf at 0, NaN below. `K.log`.
Tensor log(const Tensor& x);
/// log(1 + x), exact near 0.
Tensor log1p(const Tensor& x);
/// The nearest integer, halves to even, for any number dtype. Not differentiable: gradients through it are
/// None. `K.round`.
Tensor round(const Tensor& x);
/// -1, 0 or 1, for any number dtype; NaN stays. The gradient is 0. `K.sign`.
Tensor sign(const Tensor& x);
/// x to the power of a, for any number dtype: `pow(x, 2)`, `pow(0.9, step)`. Integers take exponents of at
/// least 0 (ValueError). The gradient of a is 0 where x <= 0. `K.pow`.
Tensor pow(const TensorOrNumber& x, const TensorOrNumber& a);
/// The sine and cosine of radians. `K.sin`, `K.cos`.
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
/// The hyperbolic tangent. `K.tanh`.
Tensor tanh(const Tensor& x);
/// The Gauss error function 2 / sqrt(pi) * integral of exp(-t^2) from 0 to x.
Tensor erf(const Tensor& x);

/// A bound of `clip`: a number, a tensor that broadcasts to x, or None.
class Bound {
 public:
  Bound(NoneType) {}
  template <Arithmetic T>
  Bound(T number) : number_(number), none_(false) {}
  Bound(const Tensor& tensor) : tensor_(tensor), none_(false) {}
  Bound(const Variable& variable) : Bound(TensorArgument(variable)) {}
  bool none() const { return none_; }
  const std::optional<Scalar>& number() const { return number_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  std::optional<Scalar> number_;
  Tensor tensor_;
  bool none_ = true;
};

/// min(max(x, min_value), max_value), for any number dtype; a number below min_value as max_value counts as
/// min_value. A value on a bound passes the gradient. Throws ValueError for a bound that is NaN. `K.clip`.
Tensor clip(const Tensor& x, const Bound& min_value, const Bound& max_value);

/// The larger and the smaller element, for any number dtype; NaN wins. On a tie the gradient goes to x.
/// `K.maximum`, `K.minimum`.
Tensor maximum(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor minimum(const TensorOrNumber& x, const TensorOrNumber& y);

/// Comparisons of tensors of any one dtype, or with a number: bool results. With NaN all are false but
/// not_equal. A number that the dtype cannot hold lies between its values, above or below them: uint8 tensors
/// are less than 256, and greater than -0.5. `K.equal` and so on.
Tensor equal(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor not_equal(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor greater(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor greater_equal(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor less(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor less_equal(const TensorOrNumber& x, const TensorOrNumber& y);

/// Whether each element is NaN, or neither NaN nor infinite: bool results for any dtype. `tf.math.is_nan`,
/// `is_finite`.
Tensor is_nan(const Tensor& x);
Tensor is_finite(const Tensor& x);

/// x where the condition is not zero, else y; the three broadcast, x and y have any one dtype. No gradient,
/// and no NaN, leaks from the side that was not taken. `tf.where`.
Tensor where(const TensorOrNumber& condition, const TensorOrNumber& x, const TensorOrNumber& y);

}  // namespace ktape::backend
