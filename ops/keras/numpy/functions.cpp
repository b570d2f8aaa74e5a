#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/unary.hpp>
#include <ktape/ops/kernels/simd/math.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

#include <limits>
#include <numbers>

/// The functions of one tensor that have kernels.
namespace ktape::ops {

namespace vectors = kernels::functions;
using kernels::wide::polynomial;
using op_helpers::counted, op_helpers::floating, op_helpers::largest_number, op_helpers::like,
    op_helpers::select, op_helpers::smooth_unary;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
}  // namespace

Tensor floor(const Tensor& x) {
  return smooth_unary(
      "floor", x, [](auto a) { return vectors::floor(a); }, nullptr);
}
Tensor ceil(const Tensor& x) {
  return smooth_unary(
      "ceil", x, [](auto a) { return vectors::ceil(a); }, nullptr);
}

Tensor trunc(const Tensor& x) {
  expect_defined("trunc", "x", x);
  if (!x.dtype().is_floating()) return backend::identity(x);
  return smooth_unary(
      "trunc", x, [](auto a) { return vectors::trunc(a); }, nullptr);
}

Tensor round(const Tensor& given, int decimals) {
  const Tensor x = counted("round", given);
  if (decimals == 0 || (x.dtype().is_integer() && decimals > 0)) return backend::round(x);
  if (is_symbolic(x)) return defer_described("round", info_of(x), round, x, decimals);
  if (x.dtype().is_integer())
    return backend::cast(round(backend::cast(x, DType::Float64), decimals), x.dtype());
  const double scale = std::pow(10.0, std::abs(decimals));
  if (decimals > 0)
    return smooth_unary(
        "round", x, [scale](auto a) { return xsimd::nearbyint(a * scale) / scale; }, nullptr);
  return smooth_unary(
      "round", x, [scale](auto a) { return xsimd::nearbyint(a / scale) * scale; }, nullptr);
}

Tensor isinf(const Tensor& x) {
  expect_defined("isinf", "x", x);
  if (!x.dtype().is_floating()) return ~backend::is_finite(x);
  return op_helpers::condition(
      "isinf", [](auto a) { return abs(a) == like(a, infinity); }, x);
}

Tensor isposinf(const Tensor& x) {
  const CalledOp called("isposinf");
  expect_defined("isposinf", "x", x);
  return x.dtype().is_floating() ? x == infinity : isinf(x);
}
Tensor isneginf(const Tensor& x) {
  const CalledOp called("isneginf");
  expect_defined("isneginf", "x", x);
  return x.dtype().is_floating() ? x == -infinity : isinf(x);
}

Tensor signbit(const Tensor& x) {
  expect_defined("signbit", "x", x);
  if (x.dtype().is_bool()) return backend::zeros_like(x);
  if (!x.dtype().is_floating()) return x < 0;
  return op_helpers::condition(
      "signbit", [](auto a) { return xsimd::copysign(like(a, 1), a) < 0; }, x);
}

Tensor nan_to_num(const Tensor& x, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  expect_defined("nan_to_num", "x", x);
  if (!x.dtype().is_floating()) return backend::identity(x);
  if (is_symbolic(x)) return defer_described("nan_to_num", info_of(x), nan_to_num, x, nan, posinf, neginf);
  const double most = posinf.value_or(largest_number(x.dtype())),
               least = neginf.value_or(-largest_number(x.dtype()));
  return op_helpers::unary_by_input(
      "nan_to_num", x,
      [=](auto a) {
        const auto bounded = select(a == infinity, like(a, most), select(a == -infinity, like(a, least), a));
        return select(a == a, bounded, like(a, nan));
      },
      [](auto g, auto a) { return select(a - a == a - a, g, like(g, 0)); });
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
      [](const Tensor&, const Tensor& y) { return y * -0.5 * (y * y); });
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
      [](const Tensor& x, const Tensor&) {
        const Tensor h = hypot(x, 1);
        return 1 / h / h;
      });
}

namespace {

/// Returns c[0] x^n + ... + c[n] of vectors and Tensors.
template <class B, std::size_t N>
B horner(const B& x, const double (&c)[N]) {
  B sum = x * c[0] + c[1];
  for (std::size_t i = 2; i < N; ++i) sum = sum * x + c[i];
  return sum;
}

/// sin(t) / t and its derivative over t, as polynomials of t^2 whose next terms are below the rounding errors for
/// |t| < 1.
constexpr double sinc_near_0[] = {-1 / 121645100408832000.,
                                  1 / 355687428096000.,
                                  -1 / 1307674368000.,
                                  1 / 6227020800.,
                                  -1 / 39916800.,
                                  1 / 362880.,
                                  -1 / 5040.,
                                  1 / 120.,
                                  -1 / 6.,
                                  1};
constexpr double sinc_slope_near_0[] = {20 / 51090942171709440000.,
                                        -18 / 121645100408832000.,
                                        16 / 355687428096000.,
                                        -14 / 1307674368000.,
                                        12 / 6227020800.,
                                        -10 / 39916800.,
                                        8 / 362880.,
                                        -6 / 5040.,
                                        4 / 120.,
                                        -2 / 6.};

// The functions of vectors, beside those of tensors.
using vectors::cos, vectors::sin;

template <class A>
xsimd::batch<A> nearest(const xsimd::batch<A>& x) {
  return xsimd::nearbyint(x);
}
Tensor nearest(const Tensor& x) { return backend::round(x); }

/// sin(pi a) = sign sin(angle), and so for cos: half turns are taken away before a is multiplied by pi, so that the sine of whole
/// numbers is 0.
template <class B>
struct HalfTurns {
  B sign, angle;
  explicit HalfTurns(const B& a) : HalfTurns(a, nearest(a)) {}

 private:
  HalfTurns(const B& a, const B& n) : HalfTurns(a, n, n - nearest(n * 0.5) * 2) {}
  HalfTurns(const B& a, const B& n, const B& odd)
      : sign(1 - odd * odd * 2), angle((a - n) * std::numbers::pi) {}
};

}  // namespace

Tensor sinc(const Tensor& x) {
  // Near 0 the quotients lose digits to cancellation; the series do not.
  return op_helpers::unary_by_input(
      "sinc", floating("sinc", x),
      [](auto a) {
        const auto t = a * std::numbers::pi;
        const auto small = abs(t) < like(t, 1);
        const auto away = select(small, like(a, 0.5), a);
        const HalfTurns<std::decay_t<decltype(away)>> turns(away);
        return select(small, horner(t * t, sinc_near_0),
                      turns.sign * sin(turns.angle) / (away * std::numbers::pi));
      },
      [](auto g, auto a) {
        const auto t = a * std::numbers::pi;
        const auto small = abs(t) < like(t, 1);
        const auto away = select(small, like(a, 0.5), a), size = away * std::numbers::pi;
        const HalfTurns<std::decay_t<decltype(away)>> turns(away);
        const auto quotient = turns.sign * (cos(turns.angle) - sin(turns.angle) / size) / size;
        return g * (select(small, t * horner(t * t, sinc_slope_near_0), quotient) * std::numbers::pi);
      });
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
      [](const Tensor& x, const Tensor&) { return 1 / hypot(x, 1); });
}
Tensor arccosh(const Tensor& x) {
  return smooth_unary(
      "arccosh", x, [](auto a) { return vectors::acosh(a); },
      [](const Tensor& x, const Tensor&) { return rsqrt(x - 1) * rsqrt(x + 1); });
}
Tensor arctanh(const Tensor& x) {
  return smooth_unary(
      "arctanh", x, [](auto a) { return vectors::atanh(a); },
      [](const Tensor& x, const Tensor&) { return 1 / ((1 - x) * (1 + x)); });
}

namespace {
Tensor gaussian(const Tensor& x) {
  return smooth_unary(
      "gaussian", x, [](auto a) { return vectors::gaussian(a); },
      [](const Tensor& x, const Tensor& y) { return -2 * x * y; });
}
}  // namespace

Tensor erfc(const Tensor& x) {
  return smooth_unary(
      "erfc", x, [](auto a) { return vectors::erfc(a); },
      [](const Tensor& x, const Tensor&) { return -std::numbers::inv_sqrtpi * 2 * gaussian(x); });
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

/// The series of the modified Bessel functions: powers up to `border`, then inverse powers. The terms that are left
/// out are below the rounding errors.
template <class A>
struct BesselSeries {
  static constexpr A border = 10;
  static constexpr int powers = 18, inverse_powers = 11;
};
template <>
struct BesselSeries<double> {
  static constexpr double border = 20;
  static constexpr int powers = 36, inverse_powers = 31;
};

/// Returns the modified Bessel function of order 0 or 1 for x >= 0.
template <int order, class A>
xsimd::batch<A> bessel_i(const xsimd::batch<A>& x) {
  using B = xsimd::batch<A>;
  using Series = BesselSeries<A>;
  const auto small = x < B(Series::border);
  const B near = xsimd::select(small, x, B(0)), t = near * near * A(0.25);
  B sum(1);
  for (int k = Series::powers; k > 0; --k) sum = sum * (t * (A(1) / static_cast<A>(k * (k + order)))) + A(1);
  if constexpr (order == 1) sum = sum * near * A(0.5);
  if (xsimd::all(small)) return sum;
  const B far = xsimd::select(small, B(Series::border), x), inverse = A(1) / far;
  B share(1);
  for (int k = Series::inverse_powers; k > 0; --k) {
    const A odd = static_cast<A>(2 * k - 1), factor = (odd * odd - 4 * order * order) / static_cast<A>(8 * k);
    share = share * (inverse * factor) + A(1);
  }
  // The root of the exponential keeps the product finite where the exponential alone overflows.
  const B half = vectors::exp(B(far * A(0.5)));
  const B large = half * (share * xsimd::sqrt(inverse * A(0.5 * std::numbers::inv_pi))) * half;
  return xsimd::select(small, sum, xsimd::select(x == B(infinity), x, large));
}

Tensor i1(const Tensor& x) {
  return smooth_unary(
      "i1", x, [](auto a) { return xsimd::copysign(bessel_i<1>(decltype(a)(xsimd::abs(a))), a); },
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
      "i0", x, [](auto a) { return bessel_i<0>(decltype(a)(xsimd::abs(a))); },
      [](const Tensor& x, const Tensor&) { return i1(x); });
}

}  // namespace ktape::ops

namespace ktape::nn {
namespace {

Tensor rounded(const OperationCall& call) {
  constexpr std::int64_t most = 400;  // beyond the exponents of float64
  return ops::round(call.tensor("x"), static_cast<int>(std::clamp(call.integer("decimals"), -most, most)));
}

}  // namespace

Operations function_operations() {
  static constexpr Operation rows[] = {
      {"Angle", "numpy", "x;", calls<ops::angle>},
      {"Arccos", "numpy", "x;", calls<ops::arccos>},
      {"Arccosh", "numpy", "x;", calls<ops::arccosh>},
      {"Arcsin", "numpy", "x;", calls<ops::arcsin>},
      {"Arcsinh", "numpy", "x;", calls<ops::arcsinh>},
      {"Arctan", "numpy", "x;", calls<ops::arctan>},
      {"Arctanh", "numpy", "x;", calls<ops::arctanh>},
      {"Cbrt", "numpy", "x;", calls<ops::cbrt>},
      {"Ceil", "numpy", "x;", calls<ops::ceil>},
      {"Cosh", "numpy", "x;", calls<ops::cosh>},
      {"Exp2", "numpy", "x;", calls<ops::exp2>},
      {"Floor", "numpy", "x;", calls<ops::floor>},
      {"I0", "numpy", "x;", calls<ops::i0>},
      {"Isinf", "numpy", "x;", calls<ops::isinf>},
      {"Isneginf", "numpy", "x;", calls<ops::isneginf>},
      {"Isposinf", "numpy", "x;", calls<ops::isposinf>},
      {"Log10", "numpy", "x;", calls<ops::log10>},
      {"Log2", "numpy", "x;", calls<ops::log2>},
      {"Signbit", "numpy", "x;", calls<ops::signbit>},
      {"Sinc", "numpy", "x;", calls<ops::sinc>},
      {"Sinh", "numpy", "x;", calls<ops::sinh>},
      {"Sqrt", "numpy", "x;", calls<backend::sqrt>},  // symbols of ops::sqrt have this name, too
      {"Tan", "numpy", "x;", calls<ops::tan>},
      {"Trunc", "numpy", "x;", calls<ops::trunc>},
      {"Erfc", "math", "x;", calls<ops::erfc>},
      {"Erfinv", "math", "x;", calls<ops::erfinv>},
      {"Rsqrt", "math", "x;", calls<ops::rsqrt>},
      {"Round", "numpy", "x; decimals=0", rounded, "", "x | x, decimals"},
      {"NanToNum", "numpy", "x; nan=0.0, posinf=null, neginf=null", calls<ops::nan_to_num>},
  };
  return rows;
}

}  // namespace ktape::nn
