#include <doctest/doctest.h>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>
#include <ktape/ops/operators.hpp>

#include <cmath>
#include <limits>

#include "number_pairs.hpp"

/// The kernels of functions of two numbers against those of C, number by number.
using namespace number_pairs;

TEST_CASE("ops: nextafter and heaviside have the bits of C and NumPy") {
  check_bits(
      "nextafter", [](auto x, auto y) { return ops::nextafter(x, y); },
      [](auto a, auto b) { return std::nextafter(a, b); });
  check_bits(
      "heaviside", [](auto x, auto y) { return ops::heaviside(x, y); },
      [](auto a, auto b) {
        return a == 0 ? b : a > 0 ? decltype(a)(1) : a < 0 ? decltype(a)(0) : a;
      });
}

TEST_CASE("ops: fmax and fmin ignore NaN") {
  check_bits(
      "fmax", [](auto x, auto y) { return ops::fmax(x + 0, y + 0); },
      [](auto a, auto b) { return std::fmax(a, b) + 0; });
  check_bits(
      "fmin", [](auto x, auto y) { return ops::fmin(x + 0, y + 0); },
      [](auto a, auto b) { return std::fmin(a, b) + 0; });
}

TEST_CASE("ops: isclose is NumPy's formula, with NaN and infinities") {
  for (const bool equal_nan : {false, true}) {
    const auto numbers = pairs<double>();
    const std::vector<double>&x = numbers.first, &y = numbers.second;
    const Tensor got =
        ops::isclose(K::constant(x, {.dtype = "float64"}), K::constant(y, {.dtype = "float64"}),
                     {.rtol = 0.25, .atol = 0.125, .equal_nan = equal_nan});
    REQUIRE(got.dtype() == ktape::DType::Bool);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool finite = std::isfinite(x[i]) && std::isfinite(y[i]);
      const bool near = finite && std::fabs(x[i] - y[i]) <= 0.125 + 0.25 * std::fabs(y[i]);
      const bool wanted = near || x[i] == y[i] || (equal_nan && std::isnan(x[i]) && std::isnan(y[i]));
      INFO("isclose(", x[i], ", ", y[i], ')');
      if (got.pointer<bool>()[i] != wanted) CHECK(got.pointer<bool>()[i] == wanted);
    }
  }
  CHECK(values(ops::isclose(ints({1, 2}), ints({1, 3}))) == Values{1, 0});
  CHECK(ops::isclose(K::ones({3, 1}), K::ones({2})).shape() == ktape::Shape{3, 2});
}

TEST_CASE("ops: ldexp rounds once, also to subnormal numbers") {
  for (const int n :
       {0, 1, -1, 60, -60, 127, -130, 200, -148, -170, 1000, -1060, 1023, -1074, 2100, -2100, 100000})
    check_bits(
        "ldexp", [n](auto x, auto) { return ops::ldexp(x, n); },
        [n](auto a, auto) { return std::ldexp(a, n); });
}

TEST_CASE("ops: logaddexp of numbers far apart, equal and infinite") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = doubles({0, 1000, -inf, inf, -inf, inf, 2}), y = doubles({0, 1000, -inf, inf, 3, -inf, 1});
  const auto sums = values(ops::logaddexp(x, y));
  const Values wanted = {std::log(2), 1000 + std::log(2), -inf, inf, 3, inf, 2 + std::log1p(std::exp(-1))};
  CHECK(close(sums, wanted, {.rtol = 1e-15}));
  CHECK(std::isnan(values(ops::logaddexp(doubles({NAN}), 1))[0]));
}

TEST_CASE("ops: logaddexp2 keeps the digits of large exponents") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = doubles({0, 1e6, -inf, inf, -inf, 3, 1}), y = doubles({0, 1e6, -inf, inf, 3, 2, 1e-9});
  const Values wanted = {1, 1e6 + 1, -inf, inf, 3, std::log2(12), std::log2(2 + std::exp2(1e-9))};
  CHECK(close(values(ops::logaddexp2(x, y)), wanted, {.rtol = 1e-15}));
  CHECK(std::isnan(values(ops::logaddexp2(1, doubles({NAN})))[0]));
}

TEST_CASE("ops: erfinv ends the way of erf, near 0 and near 1") {
  for (const double x : {1e-300, 1e-8, 0.1, 0.49, 0.51, 0.9, 0.9999, 1 - 1e-12})
    for (const double sign : {1., -1.})
      CHECK(values(ops::erf(ops::erfinv(doubles({sign * x}))))[0] ==
            doctest::Approx(sign * x).epsilon(1e-15));
  CHECK(values(ops::erfinv(doubles({0, 1, -1}))) == Values{0, INFINITY, -INFINITY});
  CHECK(std::isnan(values(ops::erfinv(doubles({1.5})))[0]));
  const Tensor y = K::random_uniform({1000}, {.minval = -1, .maxval = 1, .dtype = "float32", .seed = 3});
  const auto single = values(ops::erfinv(y)), exact = values(ops::erfinv(K::cast(y, "float64")));
  for (std::size_t i = 0; i < exact.size(); ++i) CHECK(single[i] == doctest::Approx(exact[i]).epsilon(5e-7));
}
