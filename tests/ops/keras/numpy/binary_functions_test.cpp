#include <doctest/doctest.h>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/operators.hpp>

#include <cmath>
#include <limits>
#include <random>

#include "../../catalogue.hpp"

/// The kernels of functions of two numbers against those of C, number by number.
namespace {

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Tensor;

/// Returns numbers of all sizes, near integers and special ones, in pairs.
template <class T>
std::pair<std::vector<T>, std::vector<T>> pairs() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> some = {0, 0.5, 1, 3, T(0.1), T(1e5), T(1e10), T(1e30), T(1e-20)};
  some.insert(some.end(), {Limits::min(), Limits::denorm_min(), Limits::max(), Limits::infinity()});
  for (std::size_t i = 0, n = some.size(); i < n; ++i) some.push_back(-some[i]);
  some.push_back(Limits::quiet_NaN());
  std::vector<T> x, y;
  for (const T a : some)
    for (const T b : some) x.push_back(a), y.push_back(b);
  std::mt19937 bits(7);
  std::uniform_real_distribution<T> fraction(-1, 1);
  for (int exponent = -40; exponent <= 40; ++exponent)
    for (int i = 0; i < 50; ++i) {
      const T b = fraction(bits), whole = std::floor(fraction(bits) * 1000);
      x.push_back(i % 2 ? std::ldexp(fraction(bits), exponent) : std::nextafter(whole * b, fraction(bits)));
      y.push_back(b);
    }
  return {x, y};
}

/// Checks that the op returns the bits of `exact`, for float32 and float64.
template <class F, class G>
void check_bits(const char* op, F f, G exact) {
  const auto check_dtype = [&]<class T>(T) {
    const auto [x, y] = pairs<T>();
    const Tensor got =
        f(K::constant(x, {.dtype = ktape::dtype_of<T>()}), K::constant(y, {.dtype = ktape::dtype_of<T>()}));
    REQUIRE(got.dtype() == ktape::dtype_of<T>());
    const T* const elements = got.pointer<T>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T wanted = exact(x[i], y[i]), value = elements[i];
      const bool equal = std::isnan(wanted) ? std::isnan(value)
                                            : value == wanted && std::signbit(value) == std::signbit(wanted);
      INFO(op, '(', x[i], ", ", y[i], ") = ", value, ", wanted ", wanted);
      if (!equal) CHECK(equal);
    }
  };
  check_dtype(float{});
  check_dtype(double{});
}

}  // namespace

TEST_CASE("ops: remainders are exact, with the signs of C and of Python") {
  check_bits(
      "fmod", [](auto x, auto y) { return ops::fmod(x, y); }, [](auto a, auto b) { return std::fmod(a, b); });
  check_bits(
      "mod", [](auto x, auto y) { return ops::mod(x, y); },
      [](auto a, auto b) {
        const auto rest = std::fmod(a, b);
        return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
      });
  check_bits(
      "floor_divide", [](auto x, auto y) { return ops::floor_divide(x, y); },
      [](auto a, auto b) { return std::floor(a / b); });
}

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
