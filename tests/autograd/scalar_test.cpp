#include <doctest/doctest.h>
#include <ktape/autograd/error.hpp>
#include <ktape/autograd/scalar.hpp>

#include <limits>
#include <string>

using namespace ktape;

TEST_CASE("a scalar keeps the kind of number it was made from") {
  CHECK(Scalar(true).kind() == Scalar::Bool);
  CHECK(Scalar(3).kind() == Scalar::Integer);
  CHECK(Scalar(3.f).kind() == Scalar::Real);
  CHECK(Scalar(std::int64_t{1} << 60).integer() == std::int64_t{1} << 60);
  CHECK(Scalar(7).real() == 7.0);
}

TEST_CASE("conversion to an integer truncates and is defined for every number") {
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  CHECK(Scalar(-2.9).to<int>() == -2);
  CHECK(Scalar(1e300).integer() == highest);
  CHECK(Scalar(-1e300).integer() == lowest);
  CHECK(Scalar(-9223372036854775808.0).integer() == lowest);
  CHECK(Scalar(std::numeric_limits<double>::quiet_NaN()).integer() == 0);
}

TEST_CASE("conversion to bool asks whether the number is not zero") {
  CHECK(Scalar(0.5).to<bool>());
  CHECK(Scalar(-1).to<bool>());
  CHECK(!Scalar(0.0).to<bool>());
}

TEST_CASE("errors are exceptions of one family, with the parts written one after another") {
  CHECK_THROWS_WITH_AS(fail("[op] the rule: received n=", 3), "[op] the rule: received n=3", ValueError);
  CHECK_THROWS_AS(fail<TypeError>("x"), Error);
  CHECK_THROWS_AS(fail<IOError>("x"), std::runtime_error);
}
