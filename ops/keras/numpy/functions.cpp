#include <ktape/ops/creation.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/unary.hpp>
#include <ktape/ops/kernels/simd/math.hpp>

#include <limits>
#include <numbers>

/// The functions of one tensor that have kernels.
namespace ktape::ops {

namespace vectors = kernels::functions;
using kernels::wide::polynomial, op_helpers::smooth_unary, vectors::one_by_one;

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

Tensor angle(const Tensor& x) {
  return smooth_unary(
      "angle", x,
      [](auto a) {
        using B = decltype(a);
        return xsimd::select(a < B(0), B(std::numbers::pi), xsimd::select(a == a, B(0), a));
      },
      nullptr);
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
      "cbrt", x, [](auto a) { return vectors::cbrt(a); },
      [](const Tensor&, const Tensor& y) { return (1 / 3.) / (y * y); });
}

Tensor exp2(const Tensor& x) {
  return smooth_unary(
      "exp2", x, [](auto a) { return vectors::exp2(a); },
      [](const Tensor&, const Tensor& y) { return y * std::numbers::ln2; });
}
Tensor log2(const Tensor& x) {
  return smooth_unary(
      "log2", x, [](auto a) { return vectors::log2(a); },
      [](const Tensor& x, const Tensor&) { return std::numbers::log2e / x; });
}
Tensor log10(const Tensor& x) {
  return smooth_unary(
      "log10", x, [](auto a) { return vectors::log10(a); },
      [](const Tensor& x, const Tensor&) { return std::numbers::log10e / x; });
}

Tensor tan(const Tensor& x) {
  return smooth_unary(
      "tan", x, [](auto a) { return vectors::tan(a); },
      [](const Tensor&, const Tensor& y) { return 1 + y * y; });
}
Tensor arcsin(const Tensor& x) {
  return smooth_unary(
      "arcsin", x, [](auto a) { return vectors::asin(a); },
      [](const Tensor& x, const Tensor&) { return rsqrt((1 - x) * (1 + x)); });
}
Tensor arccos(const Tensor& x) {
  return smooth_unary(
      "arccos", x, [](auto a) { return vectors::acos(a); },
      [](const Tensor& x, const Tensor&) { return -rsqrt((1 - x) * (1 + x)); });
}
Tensor arctan(const Tensor& x) {
  return smooth_unary(
      "arctan", x, [](auto a) { return vectors::atan(a); },
      [](const Tensor& x, const Tensor&) { return 1 / (1 + x * x); });
}

Tensor sinh(const Tensor& x) {
  return smooth_unary(
      "sinh", x, [](auto a) { return vectors::sinh(a); },
      [](const Tensor& x, const Tensor&) { return cosh(x); });
}
Tensor cosh(const Tensor& x) {
  return smooth_unary(
      "cosh", x, [](auto a) { return vectors::cosh(a); },
      [](const Tensor& x, const Tensor&) { return sinh(x); });
}
Tensor arcsinh(const Tensor& x) {
  return smooth_unary(
      "arcsinh", x, [](auto a) { return vectors::asinh(a); },
      [](const Tensor& x, const Tensor&) { return rsqrt(x * x + 1); });
}
Tensor arccosh(const Tensor& x) {
  return smooth_unary(
      "arccosh", x, [](auto a) { return vectors::acosh(a); },
      [](const Tensor& x, const Tensor&) { return rsqrt((x - 1) * (x + 1)); });
}
Tensor arctanh(const Tensor& x) {
  return smooth_unary(
      "arctanh", x, [](auto a) { return vectors::atanh(a); },
      [](const Tensor& x, const Tensor&) { return 1 / ((1 - x) * (1 + x)); });
}

Tensor erfc(const Tensor& x) {
  return smooth_unary(
      "erfc", x, [](auto a) { return vectors::erfc(a); },
      [](const Tensor& x, const Tensor&) { return -std::numbers::inv_sqrtpi * 2 * exp(-x * x); });
}

namespace {

/// erfinv(y) / y as polynomials: in w - 2.5 for w = -log(1 - y^2) below 5, in sqrt(w) - 3 for larger w. The
/// relative errors are 6e-9 and 3e-8.
template <class A>
constexpr A erfinv_centre[] = {-8.791056506e-9, 2.323264432e-8, 4.661706644e-7,  -3.462704759e-6,
                               -4.963347857e-6, 2.183444394e-4, -1.252741878e-3, -4.177386781e-3,
                               0.2466402862,    1.501409359};
template <class A>
constexpr A erfinv_tail[] = {-3.867596741e-7, 6.234572492e-6,  -4.163374634e-5, 1.429379603e-4,
                             -2.244971699e-4, -1.257348221e-4, 1.423418037e-3,  -3.549300507e-3,
                             5.706912739e-3,  -7.649281579e-3, 9.442598045e-3,  1.00167574,
                             2.832976872};

/// Returns the inverse of erf. For doubles, a step of Halley's method makes the polynomial exact; erfc keeps its
/// digits where erf is near 1.
template <class A>
xsimd::batch<A> erfinv_of(const xsimd::batch<A>& y) {
  using B = xsimd::batch<A>;
  const B size = xsimd::abs(y), one(A(1)), w = -vectors::log((one - size) * (one + size));
  const B centre = polynomial<A>(w - A(2.5), erfinv_centre<A>);
  const B tail = polynomial<A>(xsimd::sqrt(w) - A(3), erfinv_tail<A>);
  B x = size * xsimd::select(w < B(A(5)), centre, tail);
  if constexpr (std::is_same_v<A, double>) {
    const B error = xsimd::select(size < B(0.5), vectors::erf(x) - size, (one - size) - vectors::erfc(x));
    const B step = error * vectors::exp(x * x) * (1 / (2 * std::numbers::inv_sqrtpi));
    x -= step / (x * step + one);
  }
  x = xsimd::select(size == one, B(std::numeric_limits<A>::infinity()), x);
  return xsimd::copysign(x, y);
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
      "erfinv", x, [](auto a) { return erfinv_of(a); },
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
