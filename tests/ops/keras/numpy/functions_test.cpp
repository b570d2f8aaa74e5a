#include <doctest/doctest.h>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>

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
