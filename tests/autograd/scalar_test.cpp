#include <doctest/doctest.h>
#include <ktape/autograd/base/dtype.hpp>
#include <ktape/autograd/base/error.hpp>
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

TEST_CASE("conversion to a narrow integer saturates") {
  CHECK(Scalar(300).to<std::uint8_t>() == 255);
  CHECK(Scalar(-1).to<std::uint8_t>() == 0);
  CHECK(Scalar(4294967297).to<int>() == std::numeric_limits<int>::max());
}

TEST_CASE("an unsigned integer above all of int64 stays positive") {
  const std::uint64_t large = std::uint64_t{1} << 63;
  CHECK(Scalar(large).real() == 0x1p63);
  CHECK(Scalar(large - 1).integer() == std::numeric_limits<std::int64_t>::max());
  CHECK(!Scalar(large).fits<std::int64_t>());
  CHECK(Scalar(large).fits<std::uint64_t>());
}

TEST_CASE("a number fits a type that holds it") {
  CHECK(Scalar(255).fits<std::uint8_t>());
  CHECK(!Scalar(256).fits<std::uint8_t>());
  CHECK(!Scalar(-1).fits<std::uint8_t>());
  CHECK(Scalar(-128.0).fits<std::int8_t>());
  CHECK(!Scalar(2.5).fits<int>());
  CHECK(!Scalar(1e10).fits<int>());
  CHECK(Scalar(-0x1p63).fits<std::int64_t>());
  CHECK(!Scalar(0x1p63).fits<std::int64_t>());
  CHECK(!Scalar(std::numeric_limits<double>::infinity()).fits<std::int64_t>());
  CHECK(!Scalar(std::numeric_limits<double>::quiet_NaN()).fits<int>());
  CHECK(Scalar(std::numeric_limits<double>::infinity()).fits<float>());
  CHECK(Scalar(0.1).fits<float>());
  CHECK(!Scalar(1e300).fits<float>());
  CHECK(!fits(70000, "float16"));
  CHECK(fits(1, "bool"));
  CHECK(!fits(2, "bool"));
}

TEST_CASE("a number that does not fit is refused with all its digits") {
  CHECK_THROWS_WITH_AS(expect_fits("add", 4294967297, "int32"),
                       "[add] a number must fit the tensor's dtype int32: received number=4294967297",
                       TypeError);
  CHECK_THROWS_WITH_AS(expect_fits("add", 256.0000001, "uint8"),
                       "[add] a number must fit the tensor's dtype uint8: received number=256.0000001",
                       TypeError);
  CHECK_NOTHROW(expect_fits("constant", 2, "bool"));
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
