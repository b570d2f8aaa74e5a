#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/arguments/tensor_or_number.hpp>
#include <ktape/ops/elementwise.hpp>

/// Functions of keras.ops on the elements of two tensors, with NumPy's broadcasting. Either argument may be a
/// number. Tensors of two dtypes are converted to their common dtype first: the wider integer or floating dtype, the
/// floating dtype beside an integer, the other dtype beside bool. Differentiable to any order unless a comment
/// says otherwise. Shapes that do not broadcast are a ValueError.
///
///     Tensor y = ops::mod(ops::add(x, 1), ops::maximum(x, 0.5));
///     ops::subtract(a, 1), ops::multiply(2, b), ops::divide(a, b), ops::true_divide(1, b), ops::power(a, 3);
///     ops::divide_no_nan(a, b), ops::floor_divide(a, 2), ops::fmod(a, b), ops::ldexp(a, 3), ops::minimum(a, b);
///     ops::fmax(a, b), ops::fmin(a, b), ops::arctan2(a, b), ops::hypot(a, b), ops::logaddexp(a, b);
///     ops::logaddexp2(a, b), ops::heaviside(a, 0.5), ops::nextafter(a, b), ops::gammainc(a, b), ops::gcd(n, 12);
///     ops::lcm(n, 12);
namespace ktape::ops {

/// Returns x1 + x2 (of bools: x1 or x2), x1 - x2, or x1 * x2 (of bools: x1 and x2). Integers wrap around.
///
///     std::cout << ops::add(K::constant({1., 2.}), 10) << "\n";
///     std::cout << ops::subtract(K::constant({1., 2.}), K::constant({5., 1.})) << "\n";
///     std::cout << ops::multiply(K::constant({{1., 2.}, {3., 4.}}),
///                                K::constant({10., 100.}));
Tensor add(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor subtract(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor multiply(const TensorOrNumber& x1, const TensorOrNumber& x2);
/// Returns x1 / x2 in a floating dtype.
///
///     std::cout << ops::divide(K::constant({1., 2.}), 4);
Tensor divide(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor true_divide(const TensorOrNumber& x1, const TensorOrNumber& x2);
/// Returns x1 / x2, and 0 with gradients 0 wherever x2 is 0.
///
///     std::cout << ops::divide_no_nan(K::constant({1., 2.}), K::constant({0., 4.}));
Tensor divide_no_nan(const TensorOrNumber& x1, const TensorOrNumber& x2);
/// Returns the exact quotient rounded down (1 // 0.1 is 9), in the common dtype (bool: int32). Integers by 0 give 0. No gradient.
///
///     std::cout << ops::floor_divide(K::constant({7., -7.}), 2);
Tensor floor_divide(const TensorOrNumber& x1, const TensorOrNumber& x2);
/// Returns the rest of a division: `mod` has the sign of x2, `fmod` the sign of x1. bool becomes int32; integers
/// divided by 0 give 0.
///
///     std::cout << ops::mod(K::constant({7., -7.}), 3) << "\n";
///     std::cout << ops::fmod(K::constant({7., -7.}), K::constant({3., 3.}));
Tensor mod(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor fmod(const TensorOrNumber& x1, const TensorOrNumber& x2);
/// Returns x1 to the power of x2.
///
///     std::cout << ops::power(K::constant({2., 3.}), 2);
Tensor power(const TensorOrNumber& x1, const TensorOrNumber& x2);
/// Returns x1 * 2^x2, where x2 holds integers (TypeError otherwise). Differentiable with respect to x1.
///
///     std::cout << ops::ldexp(K::constant({1., 3.}),
///                             K::constant({4, 1}, {.dtype = "int32"}));
Tensor ldexp(const Tensor& x1, const TensorOrNumber& x2);

/// Returns the larger or smaller element; NaN if either is NaN. `fmax` and `fmin` ignore a NaN.
///
///     std::cout << ops::maximum(K::constant({1., 5.}), 3) << "\n";
///     std::cout << ops::minimum(K::constant({1., 5.}), 3) << "\n";
///     Tensor a = K::constant({1., 0.}) / K::constant({1., 0.}),
///            b = K::constant({2., 7.});
///     std::cout << ops::fmax(a, b) << " " << ops::fmin(a, b);
Tensor maximum(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor minimum(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor fmax(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor fmin(const TensorOrNumber& x1, const TensorOrNumber& x2);

/// Returns the angle of the point (x2, x1) in radians, between -pi and pi, in a floating dtype.
///
///     std::cout << ops::arctan2(K::constant({1., -1.}), K::constant({1., -1.}));
Tensor arctan2(const TensorOrNumber& x1, const TensorOrNumber& x2);
/// Returns sqrt(x1^2 + x2^2) without overflow, in a floating dtype; the gradients at the origin are 0.
///
///     std::cout << ops::hypot(K::constant({3., 5.}), K::constant({4., 12.}));
Tensor hypot(const TensorOrNumber& x1, const TensorOrNumber& x2);
/// Returns log(e^x1 + e^x2), or log2(2^x1 + 2^x2), in a floating dtype.
///
///     Tensor a = K::constant({1., 1000.}), b = K::constant({1., 1000.});
///     std::cout << ops::logaddexp(a, b) << "\n" << ops::logaddexp2(a, b);
Tensor logaddexp(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor logaddexp2(const TensorOrNumber& x1, const TensorOrNumber& x2);
/// Returns 0 where x1 < 0, x2 where x1 is 0, 1 where x1 > 0, in a floating dtype. No gradient.
///
///     std::cout << ops::heaviside(K::constant({-1., 0., 2.}), K::constant({0.5}));
Tensor heaviside(const TensorOrNumber& x1, const TensorOrNumber& x2);
/// Returns the number next to x1 in the direction of x2, in a floating dtype. No gradient.
///
///     Tensor x = K::constant({1.});
///     std::cout << ops::nextafter(x, K::constant({2.})) - x;
Tensor nextafter(const TensorOrNumber& x1, const TensorOrNumber& x2);
/// Returns the share of the gamma function of x1 that lies below x2 (regularized, lower), for x1 > 0 and x2 >= 0;
/// NaN otherwise. Differentiable to any order with respect to x2, with respect to x1 up to order 7.
///
///     std::cout << ops::gammainc(K::constant({1., 2.}), K::constant({1., 3.}));
Tensor gammainc(const TensorOrNumber& x1, const TensorOrNumber& x2);

/// Returns the greatest common divisor, or the least common multiple, of integers (TypeError otherwise).
///
///     std::cout << ops::gcd(K::constant({12, 18}, {.dtype = "int32"}),
///                           K::constant({8, 27}, {.dtype = "int32"})) << "\n";
///     std::cout << ops::lcm(K::constant({4, 6}, {.dtype = "int32"}),
///                           K::constant({6, 9}, {.dtype = "int32"}));
Tensor gcd(const TensorOrNumber& x1, const TensorOrNumber& x2);
Tensor lcm(const TensorOrNumber& x1, const TensorOrNumber& x2);

}  // namespace ktape::ops
