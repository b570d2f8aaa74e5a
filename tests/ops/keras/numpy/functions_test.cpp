#include <doctest/doctest.h>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/operators.hpp>

#include <cmath>
#include <limits>

#include "../../catalogue.hpp"

/// The functions of one number as the library computes them, with the vectors of this processor, against those of C.
namespace {

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Tensor;

/// Returns numbers between -4 and 4 and numbers at which functions have poles, bounds and results of their own.
template <class T>
std::vector<T> some_numbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x = {
      0.5, 1, 3, 100, 1000, T(1e5), T(1e30), T(1e-7), T(1e-20), Limits::min(), Limits::min() / 4};
  x.insert(x.end(), {Limits::denorm_min(), Limits::max(), Limits::infinity()});
  for (int i = 1; i < 4000; ++i) x.push_back(static_cast<T>(i * 0.001));
  for (std::size_t i = 0, n = x.size(); i < n; ++i) x.push_back(-x[i]);
  x.push_back(0);
  x.push_back(Limits::quiet_NaN());
  return x;
}

template <class F>
void check(const char* name, Tensor (*op)(const Tensor& x), F exact) {
  const auto check_dtype = [&]<class T>(T) {
    const std::vector<T> x = some_numbers<T>();
    const Tensor y = op(K::constant(x, {.dtype = ktape::dtype_of<T>()}));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T wanted = static_cast<T>(exact(static_cast<long double>(x[i]))), got = y.pointer<T>()[i];
      const T unit =
          std::nextafter(std::fabs(wanted), std::numeric_limits<T>::infinity()) - std::fabs(wanted);
      const bool near = std::isfinite(wanted) ? std::fabs(got - wanted) <= 4 * unit
                                              : got == wanted || (std::isnan(got) && std::isnan(wanted));
      INFO(name, '(', x[i], ") = ", got, ", wanted ", wanted);
      if (!near) CHECK(near);
    }
  };
  check_dtype(float{});
  check_dtype(double{});
}

}  // namespace

TEST_CASE("floor, ceil, trunc and round keep the sign of zero") {
  const auto signs = [](const Tensor& x) {
    std::vector<bool> found;
    for (int i = 0; i < x.size(); ++i) found.push_back(std::signbit(x.item<double>(i)));
    return found;
  };
  for (const char* dtype : {"float32", "float64", "float16"}) {
    CAPTURE(dtype);
    const Tensor x = K::constant({-0., 0., -0.3, 0.3, -2., 2., -0., -0.2, 0.}, {.dtype = dtype});
    const std::vector<bool> wanted = {true, false, true, false, true, false, true, true, false};
    CHECK(signs(ops::floor(x)) == wanted);
    CHECK(signs(ops::ceil(x)) == wanted);
    CHECK(signs(ops::trunc(x)) == wanted);
    CHECK(signs(ops::round(x, 0)) == wanted);
    CHECK(signs(ops::round(x, 1)) == wanted);
    CHECK(signs(ops::round(x, -1)) == wanted);
  }
}

TEST_CASE("ops: exponential functions and logarithms are exact to 4 units in the last place") {
  check("exp", ops::exp, [](long double x) { return std::exp(x); });
  check("exp2", ops::exp2, [](long double x) { return std::exp2(x); });
  check("expm1", ops::expm1, [](long double x) { return std::expm1(x); });
  check("log", ops::log, [](long double x) { return std::log(x); });
  check("log2", ops::log2, [](long double x) { return std::log2(x); });
  check("log10", ops::log10, [](long double x) { return std::log10(x); });
  check("log1p", ops::log1p, [](long double x) { return std::log1p(x); });
}

TEST_CASE("ops: trigonometric functions are exact to 4 units in the last place") {
  check("sin", ops::sin, [](long double x) { return std::sin(x); });
  check("cos", ops::cos, [](long double x) { return std::cos(x); });
  check("tan", ops::tan, [](long double x) { return std::tan(x); });
  check("arcsin", ops::arcsin, [](long double x) { return std::asin(x); });
  check("arccos", ops::arccos, [](long double x) { return std::acos(x); });
  check("arctan", ops::arctan, [](long double x) { return std::atan(x); });
}

TEST_CASE("ops: hyperbolic functions, cbrt and erf are exact to 4 units in the last place") {
  check("sinh", ops::sinh, [](long double x) { return std::sinh(x); });
  check("cosh", ops::cosh, [](long double x) { return std::cosh(x); });
  check("tanh", ops::tanh, [](long double x) { return std::tanh(x); });
  check("arcsinh", ops::arcsinh, [](long double x) { return std::asinh(x); });
  check("arccosh", ops::arccosh, [](long double x) { return std::acosh(x); });
  check("arctanh", ops::arctanh, [](long double x) { return std::atanh(x); });
  check("cbrt", ops::cbrt, [](long double x) { return std::cbrt(x); });
  check("erf", ops::erf, [](long double x) { return std::erf(x); });
  check("erfc", ops::erfc, [](long double x) { return std::erfc(x); });
}

namespace {

/// Returns the modified Bessel function of order 0 by its power series.
long double bessel(long double x) {
  long double term = 1, sum = 1;
  for (int k = 1; term > sum * 1e-20L; ++k) sum += term *= x * x / 4 / k / k;
  return sum;
}

}  // namespace

TEST_CASE("ops: i0 and its slope, where the series of powers ends and where the exponential overflows") {
  std::vector<double> x = {0, 1e-300, 1e-8, 9.99, 10, 10.01, 19.99, 20, 20.01, 50, 87, 88, 89, 91};
  for (int i = 1; i < 400; ++i) x.push_back(i * 0.1);
  for (const char* dtype : {"float32", "float64"})
    for (const double sign : {1., -1.}) {
      const Tensor at = sign * K::constant(x, {.dtype = dtype});
      const auto arguments = values(at), got = values(ops::i0(at));
      const double epsilon = std::string(dtype) == "float32" ? 4e-7 : 2e-15;
      for (std::size_t i = 0; i < x.size(); ++i)
        CHECK(got[i] == doctest::Approx(static_cast<double>(bessel(arguments[i]))).epsilon(epsilon));
    }
  CHECK(values(ops::i0(doubles({INFINITY, -INFINITY, 713})))[2] ==
        doctest::Approx(static_cast<double>(bessel(713))).epsilon(1e-14));
  CHECK(values(ops::i0(doubles({INFINITY, -INFINITY}))) == Values{INFINITY, INFINITY});
  CHECK(std::isnan(values(ops::i0(doubles({NAN})))[0]));
}

TEST_CASE("ops: sinc is exact near 0, and so are its derivatives") {
  const Tensor x = doubles({0, 1e-200, 1e-9, 0.1, 0.3, 0.32, 0.5, 1.5, 30.25});
  const auto at = values(x), got = values(ops::sinc(x));
  for (std::size_t i = 1; i < at.size(); ++i) {
    const long double t = at[i] * 3.141592653589793238L;
    CHECK(got[i] == doctest::Approx(static_cast<double>(std::sin(t) / t)).epsilon(1e-15));
  }
  CHECK(values(ops::sinc(doubles({0., 1., -2.})))[0] == 1);
  // The derivatives at 0 are 0, -pi^2 / 3, 0, pi^4 / 5.
  const Tensor zero = doubles({0.});
  const Tensor v = K::variable(zero);
  Tensor slope = ops::sinc(v);
  for (const double wanted : {0., -3.2898681336964525, 0., 19.481818206800487}) {
    slope = ktape::gradients(slope, {v})[0];
    CHECK(values(slope)[0] == doctest::Approx(wanted).epsilon(1e-14));
  }
}

TEST_CASE("ops: conditions and replacements of special numbers, in every floating dtype") {
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  for (const char* dtype : {"float16", "bfloat16", "float32", "float64"}) {
    CAPTURE(dtype);
    const Tensor x = K::constant({1., -1., 0., -0., inf, -inf, nan, 0.5, -0.25}, {.dtype = dtype});
    CHECK(values(ops::isinf(x)) == Values{0, 0, 0, 0, 1, 1, 0, 0, 0});
    CHECK(values(ops::signbit(x)) == Values{0, 1, 0, 1, 0, 1, 0, 0, 1});
    CHECK(values(ops::nan_to_num(x, 9, 7, -7)) == Values{1, -1, 0, 0, 7, -7, 9, 0.5, -0.25});
    const auto bounded = values(ops::nan_to_num(x));
    CHECK(std::isfinite(bounded[4]));
    CHECK(bounded[5] == -bounded[4]);
    CHECK(values(ops::isinf(2 * ops::nan_to_num(K::constant({inf}, {.dtype = dtype}))))[0] == 1);
  }
  CHECK(values(ops::signbit(ints({-3, 0, 3}))) == Values{1, 0, 0});
  CHECK(values(ops::isinf(ints({-3, 0, 3}))) == Values{0, 0, 0});
}

TEST_CASE("ops: round keeps decimals, and halves go to the even digit") {
  CHECK(values(ops::round(doubles({0.125, 2.345, -0.375, 1e300}), 2)) ==
        Values{0.12, 2.35, -0.38, 1e300 * 100 / 100});
  CHECK(values(ops::round(doubles({15., 25., -149.}), -1)) == Values{20, 20, -150});
  CHECK(values(ops::round(ints({15, 25, -149}), -1)) == Values{20, 20, -150});
  CHECK(values(ops::round(ints({15, 25, -149}), 1)) == Values{15, 25, -149});
}
