#include "integer_pairs.hpp"

using namespace number_pairs;

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
