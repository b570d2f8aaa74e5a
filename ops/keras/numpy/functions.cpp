#include <ktape/ops/creation.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/unary.hpp>
#include <ktape/ops/kernels/simd/math.hpp>

#include <numbers>

/// The functions of one tensor that have kernels.
namespace ktape::ops {

using kernels::functions::one_by_one, op_helpers::smooth_unary;

Tensor floor(const Tensor& x) {
  return smooth_unary(
      "floor", x, [](auto a) { return xsimd::floor(a); }, nullptr);
}
Tensor ceil(const Tensor& x) {
  return smooth_unary(
      "ceil", x, [](auto a) { return xsimd::ceil(a); }, nullptr);
}

Tensor trunc(const Tensor& x) {
  expect_defined("trunc", "x", x);
  if (!x.dtype().is_floating()) return backend::identity(x);
  return smooth_unary(
      "trunc", x, [](auto a) { return xsimd::trunc(a); }, nullptr);
}

Tensor sqrt(const Tensor& x) {
  return smooth_unary(
      "sqrt", x, [](auto a) { return xsimd::sqrt(a); },
      [](const Tensor&, const Tensor& y) { return 0.5 / y; });
}
Tensor rsqrt(const Tensor& x) {
  return smooth_unary(
      "rsqrt", x, [](auto a) { return decltype(a)(1) / xsimd::sqrt(a); },
      [](const Tensor&, const Tensor& y) { return -0.5 * (y * y * y); });
}
Tensor cbrt(const Tensor& x) {
  return smooth_unary(
      "cbrt", x, [](auto a) { return one_by_one(a, [](auto t) { return std::cbrt(t); }); },
      [](const Tensor&, const Tensor& y) { return (1 / 3.) / (y * y); });
}

Tensor exp2(const Tensor& x) {
  return smooth_unary(
      "exp2", x, [](auto a) { return one_by_one(a, [](auto t) { return std::exp2(t); }); },
      [](const Tensor&, const Tensor& y) { return y * std::numbers::ln2; });
}
Tensor log2(const Tensor& x) {
  return smooth_unary(
      "log2", x, [](auto a) { return one_by_one(a, [](auto t) { return std::log2(t); }); },
      [](const Tensor& x, const Tensor&) { return std::numbers::log2e / x; });
}
Tensor log10(const Tensor& x) {
  return smooth_unary(
      "log10", x, [](auto a) { return one_by_one(a, [](auto t) { return std::log10(t); }); },
      [](const Tensor& x, const Tensor&) { return std::numbers::log10e / x; });
}

Tensor tan(const Tensor& x) {
  return smooth_unary(
      "tan", x, [](auto a) { return one_by_one(a, [](auto t) { return std::tan(t); }); },
      [](const Tensor&, const Tensor& y) { return 1 + y * y; });
}
Tensor arcsin(const Tensor& x) {
  return smooth_unary(
      "arcsin", x, [](auto a) { return one_by_one(a, [](auto t) { return std::asin(t); }); },
      [](const Tensor& x, const Tensor&) { return rsqrt((1 - x) * (1 + x)); });
}
Tensor arccos(const Tensor& x) {
  return smooth_unary(
      "arccos", x, [](auto a) { return one_by_one(a, [](auto t) { return std::acos(t); }); },
      [](const Tensor& x, const Tensor&) { return -rsqrt((1 - x) * (1 + x)); });
}
Tensor arctan(const Tensor& x) {
  return smooth_unary(
      "arctan", x, [](auto a) { return xsimd::atan(a); },
      [](const Tensor& x, const Tensor&) { return 1 / (1 + x * x); });
}

Tensor sinh(const Tensor& x) {
  return smooth_unary(
      "sinh", x, [](auto a) { return one_by_one(a, [](auto t) { return std::sinh(t); }); },
      [](const Tensor& x, const Tensor&) { return cosh(x); });
}
Tensor cosh(const Tensor& x) {
  return smooth_unary(
      "cosh", x, [](auto a) { return one_by_one(a, [](auto t) { return std::cosh(t); }); },
      [](const Tensor& x, const Tensor&) { return sinh(x); });
}
Tensor arcsinh(const Tensor& x) {
  return smooth_unary(
      "arcsinh", x, [](auto a) { return one_by_one(a, [](auto t) { return std::asinh(t); }); },
      [](const Tensor& x, const Tensor&) { return rsqrt(x * x + 1); });
}
Tensor arccosh(const Tensor& x) {
  return smooth_unary(
      "arccosh", x, [](auto a) { return one_by_one(a, [](auto t) { return std::acosh(t); }); },
      [](const Tensor& x, const Tensor&) { return rsqrt((x - 1) * (x + 1)); });
}
Tensor arctanh(const Tensor& x) {
  return smooth_unary(
      "arctanh", x, [](auto a) { return one_by_one(a, [](auto t) { return std::atanh(t); }); },
      [](const Tensor& x, const Tensor&) { return 1 / ((1 - x) * (1 + x)); });
}

Tensor erfc(const Tensor& x) {
  return smooth_unary(
      "erfc", x, [](auto a) { return one_by_one(a, [](auto t) { return std::erfc(t); }); },
      [](const Tensor& x, const Tensor&) { return -std::numbers::inv_sqrtpi * 2 * exp(-x * x); });
}

namespace {

/// Returns the inverse of erf: Winitzki's approximation, made exact by Halley's steps on erfc, which keeps its
/// digits where erf is near 1.
double erfinv_of(double y) {
  const double magnitude = std::fabs(y);
  if (!(magnitude < 1)) return magnitude == 1 ? std::copysign(HUGE_VAL, y) : NAN;
  constexpr double a = 0.147;
  const double l = std::log1p(-y * y), s = 2 / (std::numbers::pi * a) + l / 2;
  double x = std::sqrt(std::sqrt(s * s - l / a) - s);
  for (int i = 0; i < 3; ++i) {
    const double error = magnitude < 0.5 ? std::erf(x) - magnitude : (1 - magnitude) - std::erfc(x);
    const double step = error * std::exp(x * x) * (1 / (2 * std::numbers::inv_sqrtpi));
    x -= step / (1 + x * step);
  }
  return std::copysign(x, y);
}

/// Returns the modified Bessel function of order `order`, 0 or 1, for x >= 0: its power series, or for large x
/// the asymptotic series, whose terms shrink until about the index 2 x.
double bessel_i(int order, double x) {
  if (std::isinf(x)) return x;
  if (x < 30) {
    double term = order == 0 ? 1 : x / 2, sum = term;
    for (int k = 1; term > sum * 1e-18; ++k) sum += term *= x * x / 4 / k / (k + order);
    return sum;
  }
  double term = 1, sum = 1;
  for (int k = 1; k < 40 && std::fabs(term) > 1e-18; ++k) {
    const double odd = 2 * k - 1;
    sum += term *= -(4. * order * order - odd * odd) / (8 * k * x);
  }
  return std::exp(x / 2) * (sum / std::sqrt(2 * std::numbers::pi * x)) * std::exp(x / 2);
}

Tensor i1(const Tensor& x) {
  return smooth_unary(
      "i1", x,
      [](auto a) {
        return one_by_one(
            a, [](auto t) { return static_cast<decltype(t)>(std::copysign(bessel_i(1, std::fabs(t)), t)); });
      },
      [](const Tensor& x, const Tensor& y) {
        const Tensor zero = x == 0;
        return i0(x) - backend::where(zero, 0.5, y / backend::where(zero, 1, x));
      });
}

}  // namespace

Tensor erfinv(const Tensor& x) {
  return smooth_unary(
      "erfinv", x,
      [](auto a) { return one_by_one(a, [](auto t) { return static_cast<decltype(t)>(erfinv_of(t)); }); },
      [](const Tensor&, const Tensor& y) { return 0.5 / std::numbers::inv_sqrtpi * exp(y * y); });
}

Tensor i0(const Tensor& x) {
  return smooth_unary(
      "i0", x,
      [](auto a) {
        return one_by_one(a, [](auto t) { return static_cast<decltype(t)>(bessel_i(0, std::fabs(t))); });
      },
      [](const Tensor& x, const Tensor&) { return i1(x); });
}

}  // namespace ktape::ops
