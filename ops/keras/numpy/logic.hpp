#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/arguments/tensor_or_number.hpp>

/// Comparisons, logic, bits and choices of keras.ops, element by element with NumPy's broadcasting; tensors of two
/// dtypes are converted to their common dtype. Only the choices (`where`, `select`) have gradients.
///
///     ops::equal(a, b), ops::not_equal(a, 0), ops::greater(a, b), ops::greater_equal(a, b), ops::less(a, 1);
///     ops::less_equal(a, b), ops::logical_and(a, b), ops::logical_or(a, b), ops::logical_xor(a, b);
///     ops::logical_not(a), ops::bitwise_and(n, 7), ops::bitwise_or(n, 1), ops::bitwise_xor(n, 3);
///     ops::bitwise_not(n), ops::bitwise_invert(n), ops::bitwise_left_shift(n, 2), ops::bitwise_right_shift(n, 2);
///     ops::left_shift(n, 2), ops::right_shift(n, 2), ops::isclose(a, b), ops::allclose(a, b, {.atol = 1e-3});
///     ops::where(a > b, a, 0), ops::select({a > 1, a < 0}, {a, b}, -1);
namespace ktape::ops {

/// Compares and returns a bool tensor; comparisons with NaN are false, except `not_equal`.
///
///     Tensor a = K::constant({1., 2., 3.}), b = K::constant({1., 0., 3.});
///     std::cout << ops::equal(a, b) << " " << ops::not_equal(a, b) << "\n";
///     Tensor y = K::constant({1., 2., 3.});
///     std::cout << ops::greater(y, 2) << " " << ops::greater_equal(y, 2) << "\n"
///               << ops::less(y, 2) << " " << ops::less_equal(y, 2);
Tensor equal(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor not_equal(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor greater(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor greater_equal(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor less(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor less_equal(const TensorOrNumber& x1, const TensorOrNumber& x2);

/// Combines the truth of elements of any dtype: a number other than 0, NaN included, is true.
///
///     Tensor a = K::constant({true, true, false}),
///            b = K::constant({true, false, false});
///     std::cout << ops::logical_and(a, b) << "\n"
///               << ops::logical_or(a, b) << "\n"
///               << ops::logical_xor(a, b) << "\n";
///     std::cout << ops::logical_not(K::constant({true, false}));
Tensor logical_and(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor logical_or(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor logical_xor(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor logical_not(const Tensor& x);

/// Combines the bits of integers, or bools (TypeError for floating tensors).
///
///     Tensor a = K::constant({12, 10}, {.dtype = "int32"}),
///            b = K::constant({10, 3}, {.dtype = "int32"});
///     std::cout << ops::bitwise_and(a, b) << " " << ops::bitwise_or(a, b) << " "
///               << ops::bitwise_xor(a, b) << "\n";
///     std::cout << ops::bitwise_not(K::constant({0, 5}, {.dtype = "int32"}));
Tensor bitwise_and(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor bitwise_or(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor bitwise_xor(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor bitwise_not(const Tensor& x);
Tensor bitwise_invert(const Tensor& x);
/// Shifts the bits of integers by y places, in the common dtype; bits that leave the dtype are lost, and a right
/// shift repeats the sign. A shift by more places than there are bits gives 0, or -1 for a negative x shifted to
/// the right; negative shifts count as 0 places.
///
///     std::cout << ops::left_shift(K::constant({1, 3}, {.dtype = "int32"}),
///                                  K::constant({4, 1}, {.dtype = "int32"})) << "\n";
///     std::cout << ops::right_shift(K::constant({16, -8}, {.dtype = "int32"}),
///                                   K::constant({2, 1}, {.dtype = "int32"}));
Tensor bitwise_left_shift(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor bitwise_right_shift(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor left_shift(const TensorOrNumber& x, const TensorOrNumber& y);
Tensor right_shift(const TensorOrNumber& x, const TensorOrNumber& y);

/// Options of `isclose` and `allclose`.
///
///     std::cout << ops::isclose(K::constant({1., 2.}), K::constant({1.05, 2.5}),
///                               {.rtol = 0.1});
struct IsCloseOptions {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;  ///< two NaNs count as close
};

/// Returns whether |x1 - x2| <= atol + rtol * |x2|, or both are the infinity of one sign; `allclose` returns one bool.
///
///     std::cout << ops::isclose(K::constant({1., 2.}), K::constant({1.000001, 2.1})) << "\n";
///     std::cout << ops::allclose(K::constant({1., 2.}), K::constant({1.000001, 2.}));
Tensor isclose(const TensorOrNumber& x1, const TensorOrNumber& x2, const IsCloseOptions& options = {});
Tensor allclose(const TensorOrNumber& x1, const TensorOrNumber& x2, const IsCloseOptions& options = {});

/// Returns x1 where the condition is true, else x2. The three shapes broadcast. The side that was not chosen gets
/// no gradient and no NaN.
Tensor where(const TensorOrNumber& condition, const TensorOrNumber& x1, const TensorOrNumber& x2);
/// Returns for each element the choice beside the first condition that is true, or `fallback` where none is.
/// Throws ValueError unless there are as many choices as conditions, at least one.
///
///     Tensor x = K::constant({1., 5., 9.});
///     std::cout << ops::select({x < 3, x < 7}, {x * 10, x * 100}, x * 0);
Tensor select(const TensorList& condlist, const TensorList& choicelist, const TensorOrNumber& fallback = 0);

}  // namespace ktape::ops
