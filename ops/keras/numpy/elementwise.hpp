#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/elementwise.hpp>

/// Functions of keras.ops on the elements of one tensor. Unless a comment says otherwise, a result has the shape
/// of x and a floating dtype: integers and bools are converted to floatx() first. The functions are
/// differentiable to any order; functions that jump have no gradient.
///
///     namespace ops = ktape::ops;
///     Tensor y = ops::floor(x) + ops::arctan(x);
///     ops::floor(x), ops::ceil(x), ops::trunc(x), ops::round(x, 2), ops::sqrt(x), ops::rsqrt(x), ops::cbrt(x);
///     ops::reciprocal(x), ops::square(x), ops::exp(x), ops::expm1(x), ops::exp2(x), ops::log(x), ops::log2(x);
///     ops::log10(x), ops::log1p(x), ops::sin(x), ops::cos(x), ops::tan(x), ops::arcsin(x), ops::arccos(x);
///     ops::sinh(x), ops::cosh(x), ops::tanh(x), ops::arcsinh(x), ops::arccosh(x), ops::arctanh(x), ops::sinc(x);
///     ops::deg2rad(x), ops::rad2deg(x), ops::erf(x), ops::erfc(x), ops::erfinv(x), ops::i0(x), ops::abs(x);
///     ops::absolute(x), ops::fabs(x), ops::negative(x), ops::sign(x), ops::angle(x), ops::real(x), ops::conj(x);
///     ops::conjugate(x), ops::imag(x), ops::isnan(x), ops::isfinite(x), ops::isinf(x), ops::isposinf(x);
///     ops::isneginf(x), ops::isreal(x), ops::signbit(x), ops::nan_to_num(x, 0, 1e6), ops::clip(x, 0, 1);
///     ops::saturate_cast(x, "uint8");
namespace ktape::ops {

/// Returns the next whole number below (`floor`) or above (`ceil`).
///
///     std::cout << ops::floor(K::constant({-1.5, 0.5, 2.})) << "\n";
///     std::cout << ops::ceil(K::constant({-1.5, 0.5, 2.}));
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
/// Returns x without its fraction, in the dtype of x.
///
///     std::cout << ops::trunc(K::constant({-1.5, 0.5, 2.}));
Tensor trunc(const Tensor& x);
/// Returns the nearest multiple of 10^-decimals, halves rounded to even, in the dtype of x (bool becomes int32).
///
///     std::cout << ops::round(K::constant({0.5, 1.5, -2.4}));
Tensor round(const Tensor& x, int decimals = 0);

/// Returns the square root; NaN below 0.
///
///     std::cout << ops::sqrt(K::constant({1., 4., 2.}));
Tensor sqrt(const Tensor& x);
/// Returns 1 / sqrt(x), 1 / x, or the cube root of x, which is negative for a negative x.
///
///     std::cout << ops::reciprocal(K::constant({2., 4., -0.5})) << "\n";
///     std::cout << ops::rsqrt(K::constant({1., 4., 16.})) << "\n";
///     std::cout << ops::cbrt(K::constant({-8., 1., 27.}));
Tensor rsqrt(const Tensor& x);
Tensor reciprocal(const Tensor& x);
Tensor cbrt(const Tensor& x);
/// Returns x * x in the dtype of x (bool becomes int32).
///
///     std::cout << ops::square(K::constant({-3., 0.5}));
Tensor square(const Tensor& x);

/// Returns e^x, e^x - 1 (exact near 0), or 2^x.
///
///     std::cout << ops::exp(K::constant({0., 1., -1.})) << "\n";
///     std::cout << ops::exp2(K::constant({0., 3., -1.})) << "\n";
///     std::cout << ops::expm1(K::constant({1e-8, 1.}));
Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor exp2(const Tensor& x);
/// Returns the logarithm of base e, 2 or 10, or log(1 + x): NaN below 0, -inf at 0.
///
///     std::cout << ops::log(K::constant({1., 2.718281828, 0.})) << "\n";
///     std::cout << ops::log2(K::constant({1., 8., 0.5})) << "\n";
///     std::cout << ops::log10(K::constant({1., 1000., 0.01})) << "\n";
///     std::cout << ops::log1p(K::constant({1e-8, 1.}));
Tensor log(const Tensor& x);
Tensor log2(const Tensor& x);
Tensor log10(const Tensor& x);
Tensor log1p(const Tensor& x);

/// Returns a trigonometric function of x in radians, or its inverse: NaN outside of [-1, 1] for `arcsin` and
/// `arccos`.
///
///     std::cout << ops::sin(K::constant({0., 0.5, 1.})) << "\n";
///     std::cout << ops::cos(K::constant({0., 0.5, 1.})) << "\n";
///     std::cout << ops::tan(K::constant({0., 0.5, 1.})) << "\n";
///     std::cout << ops::arcsin(K::constant({0., 0.5, 1.})) << "\n";
///     std::cout << ops::arccos(K::constant({0., 0.5, 1.})) << "\n";
///     std::cout << ops::arctan(K::constant({0., 1., -1e9}));
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tan(const Tensor& x);
Tensor arcsin(const Tensor& x);
Tensor arccos(const Tensor& x);
Tensor arctan(const Tensor& x);
/// Returns a hyperbolic function of x, or its inverse: NaN below 1 for `arccosh`, beyond [-1, 1] for `arctanh`.
///
///     std::cout << ops::sinh(K::constant({0., 0.5, 1.})) << "\n";
///     std::cout << ops::cosh(K::constant({0., 0.5, 1.})) << "\n";
///     std::cout << ops::tanh(K::constant({0., 0.5, 100.})) << "\n";
///     std::cout << ops::arcsinh(K::constant({0., 0.5, 1.})) << "\n";
///     std::cout << ops::arccosh(K::constant({1., 2.})) << "\n";
///     std::cout << ops::arctanh(K::constant({0., 0.5}));
Tensor sinh(const Tensor& x);
Tensor cosh(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor arcsinh(const Tensor& x);
Tensor arccosh(const Tensor& x);
Tensor arctanh(const Tensor& x);
/// Returns x * pi / 180, or x * 180 / pi.
///
///     std::cout << ops::deg2rad(K::constant({180., 90.})) << "\n";
///     std::cout << ops::rad2deg(K::constant({3.14159265, 1.57079633}));
Tensor deg2rad(const Tensor& x);
Tensor rad2deg(const Tensor& x);
/// Returns sin(pi x) / (pi x), which is 1 at 0.
///
///     std::cout << ops::sinc(K::constant({0., 0.5, 1.}));
Tensor sinc(const Tensor& x);

/// Returns the Gauss error function, 1 - erf(x) (exact for large x), or the inverse of `erf`.
///
///     std::cout << ops::erf(K::constant({0., 0.5, 2.})) << "\n";
///     std::cout << ops::erfc(K::constant({0., 0.5, 2.})) << "\n";
///     std::cout << ops::erfinv(ops::erf(K::constant({0.5, 1.})));
Tensor erf(const Tensor& x);
Tensor erfc(const Tensor& x);
Tensor erfinv(const Tensor& x);
/// Returns the modified Bessel function of the first kind and order 0.
///
///     std::cout << ops::i0(K::constant({0., 1., 2.}));
Tensor i0(const Tensor& x);

/// Returns |x| in the dtype of x; `fabs` gives a floating dtype.
///
///     Tensor x = K::constant({-1.5, 0., 2.});
///     std::cout << ops::abs(x);
Tensor abs(const Tensor& x);
Tensor absolute(const Tensor& x);
Tensor fabs(const Tensor& x);
/// Returns -x in the dtype of x; bool is a TypeError.
///
///     std::cout << ops::negative(K::constant({-3., 5.}));
Tensor negative(const Tensor& x);
/// Returns -1, 0 or 1 in the dtype of x; NaN stays NaN.
///
///     std::cout << ops::sign(K::constant({-3., 0., 5.}));
Tensor sign(const Tensor& x);
/// Returns the angle of a real number in the complex plane: 0, or pi for negative numbers; NaN stays NaN.
Tensor angle(const Tensor& x);
/// Returns the real part of x, or its complex conjugate: x itself.
///
///     std::cout << ops::real(K::constant({1., 2.})) << " "
///               << ops::conj(K::constant({1., 2.}));
Tensor real(const Tensor& x);
Tensor conj(const Tensor& x);
Tensor conjugate(const Tensor& x);
/// Returns the imaginary part of x: zeros in the dtype of x.
///
///     std::cout << ops::imag(K::constant({1., -2.})) << " "
///               << ops::angle(K::constant({1., -2.}));
Tensor imag(const Tensor& x);

/// Returns a bool for each element of a tensor of any dtype; `isreal` is true throughout, `signbit` for negative
/// numbers and -0.
///
///     std::cout << ops::signbit(K::constant({-3., 0., 5.})) << "\n";
///     Tensor zero = K::constant({0.});
///     std::cout << ops::isnan(zero / zero) << " " << ops::isnan(zero) << "\n";
///     Tensor x = K::constant({1., -1., 1.}) / K::constant({0., 0., 1.});
///     std::cout << ops::isinf(x) << "\n";
///     std::cout << ops::isposinf(x) << " " << ops::isneginf(x) << "\n";
///     std::cout << ops::isfinite(x) << "\n";
///     std::cout << ops::isreal(K::constant({1., 2.}));
Tensor isnan(const Tensor& x);
Tensor isfinite(const Tensor& x);
Tensor isinf(const Tensor& x);
Tensor isposinf(const Tensor& x);
Tensor isneginf(const Tensor& x);
Tensor isreal(const Tensor& x);
Tensor signbit(const Tensor& x);

/// Returns x with NaN replaced by `nan` and infinities by `posinf` and `neginf`, by default the largest and the
/// lowest number of the dtype. The gradient of a replaced element is 0. Integers are returned unchanged.
///
///     Tensor x = K::constant({0., 1., 2.}) / K::constant({0., 1., 1.});
///     std::cout << ops::nan_to_num(x);
Tensor nan_to_num(const Tensor& x, double nan = 0, std::optional<double> posinf = {},
                  std::optional<double> neginf = {});

/// Returns min(max(x, x_min), x_max) in the dtype of x (bool becomes int32), compared in the common dtype of x and the
/// bounds. The gradient passes where x equals a bound.
///
///     std::cout << ops::clip(K::constant({-2., 0.5, 9.}), 0, 1);
Tensor clip(const Tensor& x, const backend::Bound& x_min, const backend::Bound& x_max);
/// Returns x in another dtype; numbers outside the range of the dtype become the nearest number in the range
/// before the fraction is cut off. bool has the range from 0 to 1.
///
///     std::cout << ops::saturate_cast(K::constant({-2., 80., 999.}), "uint8");
Tensor saturate_cast(const Tensor& x, DType dtype);

}  // namespace ktape::ops
