#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include "integer_pairs.hpp"

using namespace number_pairs;

TEST_CASE("ops: remainders are exact, with the signs of C and of Python") {
  check_bits(
      "fmod", [](auto x, auto y) { return ops::fmod(x, y); }, [](auto a, auto b) { return std::fmod(a, b); });
  check_bits(
      "mod", [](auto x, auto y) { return ops::mod(x, y); },
      [](auto a, auto b) {
        const auto rest = std::fmod(a, b);
        if (rest == 0) return std::copysign(rest, b);
        return (rest < 0) != (b < 0) ? rest + b : rest;
      });
}

TEST_CASE("ops: quotients are rounded down from the exact quotient, as in NumPy") {
  check_bits(
      "floor_divide", [](auto x, auto y) { return ops::floor_divide(x, y); },
      [](auto a, auto b) {
        using T = decltype(a);
        if (b == 0) return a / b;
        const T rest = std::fmod(a, b);
        long double quotient = (static_cast<long double>(a) - rest) / b;
        if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
        return quotient == 0 ? std::copysign(T(0), a / b) : static_cast<T>(std::round(quotient));
      });
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Tensor x = doubles({1., 60., -1., 1., -1., 6., -6., 1., -1., 1., -0.3, 7.}),
               y = doubles({.1, .1, .1, -.1, -.1, inf, inf, -inf, -inf, 0., .1, -2.});
  CHECK(values(ops::floor_divide(x, y)) == Values{9, 599, -10, -10, 9, 0, -1, -1, 0, inf, -3, -4});
  CHECK(values(ops::floor_divide(doubles({-1.}), doubles({0.}))) == Values{-inf});
  CHECK(std::isnan(ops::floor_divide(doubles({0.}), doubles({0.})).item()));
  CHECK(std::isnan(ops::floor_divide(doubles({inf}), doubles({2.})).item()));
}

TEST_CASE("ops: quotient and remainder give the number back") {
  for (const char* dtype : {"float16", "bfloat16", "float32", "float64"}) {
    CAPTURE(dtype);
    const Tensor x = K::cast(normal({4001}, 1) * 20, dtype), y = K::cast(normal({4001}, 2), dtype);
    const Tensor a = K::cast(x, "float64"), b = K::cast(y, "float64");
    const Tensor quotient = K::cast(ops::floor_divide(x, y), "float64");
    // The rest may be rounded where a small one of the wrong sign is moved by y.
    const double unit = dtype == std::string("float64")   ? 1e-15
                        : dtype == std::string("float32") ? 1e-7
                                                          : 1e-2;
    const Tensor rest = K::cast(ops::mod(x, y), "float64"), known = K::abs(quotient) < (1 / unit) * 0.1;
    const Tensor lost = K::abs(quotient * b + rest - a) <= unit * (K::abs(b) + K::abs(a));
    CHECK(K::all(lost | ~known).item<bool>());
    CHECK(K::all(K::equal(quotient, K::round(quotient))).item<bool>());
  }
  for (const char* dtype : {"uint8", "int8", "int16", "int32", "int64"}) {
    const Tensor n = K::arange(100), x = K::cast(n, dtype), y = K::cast(ops::mod(n, 7) + 1, dtype);
    CHECK(K::all(K::equal(ops::floor_divide(x, y) * y + ops::mod(x, y), x)).item<bool>());
  }
}

TEST_CASE("ops: slopes of remainders are the exact quotients") {
  const Tensor x = doubles({1., 60., -1., 7.5, -7.5}), y = doubles({.1, .1, .1, 2., 2.});
  const auto by_divisor = [&](auto f) { return values(slope([&](const Tensor& v) { return f(x, v); }, y)); };
  CHECK(by_divisor([](auto& x, auto& y) { return ops::mod(x, y); }) == Values{-9, -599, 10, -3, 4});
  CHECK(by_divisor([](auto& x, auto& y) { return ops::fmod(x, y); }) == Values{-9, -599, 9, -3, 3});
}

TEST_CASE("ops: divide_no_nan is 0 where the divisor is 0, and a quotient elsewhere") {
  check_bits(
      "divide_no_nan", [](auto x, auto y) { return ops::divide_no_nan(x, y); },
      [](auto a, auto b) { return b == 0 ? decltype(a)(0) : a / b; });
}

namespace {
Wide floor_quotient(Wide x, Wide y) { return y == 0 ? 0 : x / y - (x % y != 0 && (x < 0) != (y < 0)); }
}  // namespace

TEST_CASE("ops: quotients and remainders of integers are exact, and those of 0 are 0") {
  check_integers("floor_divide", ops::floor_divide, floor_quotient);
  check_integers("mod", ops::mod, [](Wide x, Wide y) { return y == 0 ? 0 : x - y * floor_quotient(x, y); });
  check_integers("fmod", ops::fmod, [](Wide x, Wide y) { return y == 0 ? 0 : x % y; });
}
