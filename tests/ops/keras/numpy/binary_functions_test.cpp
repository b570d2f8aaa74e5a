#include <doctest/doctest.h>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>
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

TEST_CASE("ops: fmax and fmin ignore NaN, divide_no_nan has no infinities of its own") {
  check_bits(
      "fmax", [](auto x, auto y) { return ops::fmax(x + 0, y + 0); },
      [](auto a, auto b) { return std::fmax(a, b) + 0; });
  check_bits(
      "fmin", [](auto x, auto y) { return ops::fmin(x + 0, y + 0); },
      [](auto a, auto b) { return std::fmin(a, b) + 0; });
  check_bits(
      "divide_no_nan", [](auto x, auto y) { return ops::divide_no_nan(x, y); },
      [](auto a, auto b) { return b == 0 ? decltype(a)(0) : a / b; });
}

TEST_CASE("ops: isclose is NumPy's formula, with NaN and infinities") {
  for (const bool equal_nan : {false, true}) {
    const auto [x, y] = pairs<double>();
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

namespace {

using Wide = __int128;

/// Checks an op on pairs of integers of each dtype, the lowest and the largest among them, against `exact`, whose
/// result keeps its low bits.
template <class F>
void check_integers(const char* op, Tensor (*f)(const ktape::TensorOrNumber&, const ktape::TensorOrNumber&),
                    F exact) {
  const auto check_dtype = [&]<class T>(T) {
    using Limits = std::numeric_limits<T>;
    std::vector<T> some = {
        0, 1, 2, 3, 5, 7, 8, 12, 31, 64, 100, Limits::max(), T(Limits::max() - 1), T(Limits::max() / 3)};
    for (std::size_t i = 0, n = some.size(); i < n; ++i) some.push_back(static_cast<T>(-some[i]));
    some.push_back(Limits::min());
    std::vector<T> x, y;
    for (const T a : some)
      for (const T b : some) x.push_back(a), y.push_back(b);
    const auto tensor = [](const std::vector<T>& numbers) {
      const std::vector<std::int64_t> wide(numbers.begin(), numbers.end());
      return K::constant(wide, {.dtype = ktape::dtype_of<T>()});
    };
    const Tensor got = f(tensor(x), tensor(y));
    REQUIRE(got.dtype() == ktape::dtype_of<T>());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T wanted = static_cast<T>(exact(Wide(x[i]), Wide(y[i])));
      INFO(op, '(', +x[i], ", ", +y[i], ") in ", ktape::dtype_of<T>().name());
      if (got.pointer<T>()[i] != wanted) CHECK(+got.pointer<T>()[i] == +wanted);
    }
  };
  check_dtype(std::uint8_t{}), check_dtype(std::int8_t{}), check_dtype(std::int16_t{});
  check_dtype(std::int32_t{}), check_dtype(std::int64_t{});
}

Wide floor_quotient(Wide x, Wide y) { return y == 0 ? 0 : x / y - (x % y != 0 && (x < 0) != (y < 0)); }
Wide greatest_divisor(Wide x, Wide y) {
  if (x < 0) x = -x;
  if (y < 0) y = -y;
  while (y != 0) std::swap(x %= y, y);
  return x;
}

}  // namespace

TEST_CASE("ops: quotients, remainders, divisors and shifts of integers") {
  check_integers("floor_divide", ops::floor_divide, floor_quotient);
  check_integers("mod", ops::mod, [](Wide x, Wide y) { return y == 0 ? 0 : x - y * floor_quotient(x, y); });
  check_integers("fmod", ops::fmod, [](Wide x, Wide y) { return y == 0 ? 0 : x % y; });
  check_integers("gcd", ops::gcd, greatest_divisor);
  check_integers("lcm", ops::lcm, [](Wide x, Wide y) {
    const Wide divisor = greatest_divisor(x, y), size = divisor == 0 ? 0 : x / divisor * y;
    return size < 0 ? -size : size;
  });
  check_integers("left_shift", ops::left_shift,
                 [](Wide x, Wide n) { return n > 63 ? 0 : x << static_cast<int>(n < 0 ? 0 : n); });
  check_integers("right_shift", ops::right_shift, [](Wide x, Wide n) {
    return x >> static_cast<int>(n < 0 ? 0 : n > 63 ? 63 : n);
  });
}

TEST_CASE("ops: powers of integers wrap around") {
  const Tensor base = ints({0, 1, -1, 2, -3, 7, 2}), exponent = ints({0, 31, 33, 31, 5, 11, 40});
  CHECK(values(ops::power(base, exponent)) == Values{1, 1, -1, -2147483648., -243, 1977326743, 0});
  CHECK(values(ops::power(ints({0, 2, -3, 7}), ints({0, 30, 3, 11}))) ==
        Values{1, 1073741824, -27, 1977326743});
  CHECK_THROWS_WITH_AS(ops::power(ints({2}), ints({-1})),
                       "[pow] an integer tensor takes whole exponents of at least 0: received a=-1",
                       ktape::ValueError);
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
