#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/arguments/tensor_or_number.hpp>

#include <optional>

/// Element-wise functions. A result has the shape of x, or the broadcast shape of both arguments, and the
/// dtype of the arguments. Where a function takes two tensors, either may be a number. Unless the comment of
/// a function says otherwise, x is float16, bfloat16, float32 or float64 (TypeError: integers need a `cast` first), two
/// tensors have one dtype (TypeError) and shapes that broadcast (ValueError), and the function is
/// differentiable to any order.
namespace ktape::backend {

/// Returns |x|, for any number dtype. The gradient at 0 is 0. `K.abs`.
///
///     Tensor x = K::constant({-1.5, 0., 2.});
///     std::cout << K::abs(x) << " " << K::sign(x);
Tensor abs(const Tensor& x);
/// Returns the square root; a negative element gives 0 with gradient 0. `K.sqrt`.
///
///     Tensor x = K::constant({1., 4.});
///     std::cout << K::sqrt(x) << " " << K::square(x);
Tensor sqrt(const Tensor& x);
/// Returns x * x, for any number dtype. `K.square`.
Tensor square(const Tensor& x);
/// Returns e to the power of x. `K.exp`.
///
///     std::cout << K::exp(K::constant({0., 1.})) << " "
///               << K::expm1(K::constant({1e-8}));
Tensor exp(const Tensor& x);
/// Returns exp(x) - 1, exact near 0.
Tensor expm1(const Tensor& x);
/// Returns the natural logarithm: -inf at 0, NaN below 0. `K.log`.
///
///     std::cout << K::log(K::constant({1., 2.718281828})) << " "
///               << K::log1p(K::constant({1e-8}));
Tensor log(const Tensor& x);
/// Returns log(1 + x), exact near 0.
Tensor log1p(const Tensor& x);
/// Returns the nearest integer, halves rounded to even, for any number dtype. Not differentiable: gradients
/// through `round` are None. `K.round`.
///
///     std::cout << K::round(K::constant({0.5, 1.5, -2.4}));
Tensor round(const Tensor& x);
/// Returns -1, 0 or 1, for any number dtype; NaN stays NaN. The gradient is 0. `K.sign`.
Tensor sign(const Tensor& x);
/// Returns x to the power of a, for any number dtype: `pow(x, 2)`, `pow(0.9, step)`. Integers take exponents
/// of at least 0 (ValueError otherwise). The gradient with respect to a is 0 where x <= 0. `K.pow`.
///
///     std::cout << K::pow(K::constant({2., 3.}), 2);
Tensor pow(const TensorOrNumber& x, const TensorOrNumber& a);
/// Returns the sine or cosine of x, in radians. `K.sin`, `K.cos`.
///
///     Tensor x = K::constant({0., 1.});
///     std::cout << K::sin(x) << " " << K::cos(x) << " " << K::tanh(x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
/// Returns the hyperbolic tangent. `K.tanh`.
Tensor tanh(const Tensor& x);
/// Returns the Gauss error function, 2 / sqrt(pi) * integral of exp(-t^2) from 0 to x.
///
///     std::cout << K::erf(K::constant({0., 0.5, 2.}));
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

/// Returns min(max(x, min_value), max_value), for any number dtype. A max_value below min_value counts as
/// min_value. The gradient passes where x equals a bound. Throws ValueError for a bound that is NaN.
/// `K.clip`.
///
///     std::cout << K::clip(K::constant({-2., 0.5, 9.}), 0, 1);
Tensor clip(const Tensor& x, const Bound& min_value, const Bound& max_value);

/// Returns the larger or the smaller of two elements, for any number dtype; NaN if either element is NaN. The
/// gradient of equal elements goes to x. `K.maximum`, `K.minimum`.
///
///     Tensor x = K::constant({1., 5.});
///     std::cout << K::maximum(x, 3) << " " << K::minimum(x, 3);
Tensor maximum(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor minimum(const TensorOrNumber& x, const TensorOrNumber& y);

/// Compares tensors of any one dtype, or a tensor with a number, and returns a bool tensor. Comparisons with
/// NaN are false, except `not_equal`. A number that the dtype cannot hold compares by its value: uint8
/// tensors are less than 256, and greater than -0.5. `K.equal` and so on.
///
///     Tensor a = K::constant({1., 2.}), b = K::constant({1., 0.});
///     std::cout << K::equal(a, b) << " " << K::not_equal(a, b) << "\n";
///     Tensor x = K::constant({1., 2., 3.});
///     std::cout << K::greater(x, 2) << " " << K::greater_equal(x, 2) << "\n"
///               << K::less(x, 2) << " " << K::less_equal(x, 2);
Tensor equal(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor not_equal(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor greater(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor greater_equal(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor less(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor less_equal(const TensorOrNumber& x, const TensorOrNumber& y);

/// Returns whether each element is NaN, or is finite (neither NaN nor infinite): bool results for any dtype.
/// `tf.math.is_nan`, `is_finite`.
///
///     Tensor x = K::constant({0., 1., 2.}) / K::constant({0., 0., 1.});
///     std::cout << K::is_nan(x) << " " << K::is_finite(x);
Tensor is_nan(const Tensor& x);
Tensor is_finite(const Tensor& x);

/// Returns x where the condition is not zero, else y. The three shapes broadcast; x and y have one dtype of
/// any kind. The side that was not chosen contributes neither a gradient nor a NaN. `tf.where`.
///
///     Tensor x = K::constant({-1., 2., -3.});
///     std::cout << K::where(x > 0, x, 0);
Tensor where(const TensorOrNumber& condition, const TensorOrNumber& x, const TensorOrNumber& y);

}  // namespace ktape::backend
