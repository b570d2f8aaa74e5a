#include <doctest/doctest.h>
#include <ktape/nn/callbacks/internal/python_format.hpp>

#include <cmath>

namespace nn = ktape::nn;
using doctest::Contains;
using ktape::ValueError;

namespace {

std::string formatted(const std::string& pattern) {
  return nn::python_format("Test", pattern,
                           {{"epoch", 7},
                            {"below", -7},
                            {"many", 1234567},
                            {"loss", 0.25},
                            {"val_loss", 12.3456},
                            {"fall", -0.5},
                            {"nan", NAN}});
}

}  // namespace

TEST_CASE("integers as Python formats them") {
  CHECK(formatted("{epoch}|{epoch:d}|{epoch:02d}|{epoch:3}|{epoch:03}") == "7|7|07|  7|007");
  CHECK(formatted("{below:04d}|{below:4d}|{below:<4d}|{epoch:+d}|{epoch: d}") == "-007|  -7|-7  |+7| 7");
  CHECK(formatted("{epoch:*^5d}|{epoch:x<3}|{many:,}|{many:_d}") == "**7**|7xx|1,234,567|1_234_567");
  CHECK(formatted("{epoch:.2f}|{epoch:e}") == "7.00|7.000000e+00");
}

TEST_CASE("numbers as Python formats them") {
  CHECK(formatted("{val_loss:.2f}|{val_loss:f}|{val_loss:08.2f}|{val_loss:8.1f}|{val_loss:.0f}") ==
        "12.35|12.345600|00012.35|    12.3|12");
  CHECK(formatted("{fall:06.2f}|{fall:+.1f}|{loss:+.1f}|{loss:<6.2f}|{loss:^8}") ==
        "-00.50|-0.5|+0.2|0.25  |  0.25  ");
  CHECK(formatted("{val_loss:.3e}|{val_loss:.2E}|{val_loss:g}|{val_loss:.3g}|{loss:.0%}|{loss:.1%}") ==
        "1.235e+01|1.23E+01|12.3456|12.3|25%|25.0%");
  CHECK(formatted("{loss}|{val_loss}|{nan}|{nan:.2f}|{fall}") == "0.25|12.3456|nan|nan|-0.5");
}

TEST_CASE("names around the fields, and braces in them") {
  CHECK(formatted("a/{epoch:02d}-{val_loss:.2f}.keras") == "a/07-12.35.keras");
  CHECK(formatted("{{epoch}}{epoch}") == "{epoch}7");
  CHECK(formatted("plain").compare("plain") == 0);
}

TEST_CASE("fields that Python refuses") {
  CHECK_THROWS_WITH_AS(formatted("{val_los:.2f}"),
                       Contains("[Test] a name in the file's name must be reported by the training: received "
                                "'{val_los:.2f}'; did you mean 'val_loss'"),
                       ValueError);
  CHECK_THROWS_WITH_AS(formatted("{loss:d}"), Contains("must go with an integer and no precision"),
                       ValueError);
  CHECK_THROWS_WITH_AS(formatted("{epoch:.2}"), Contains("must go with an integer"), ValueError);
  CHECK_THROWS_WITH_AS(formatted("{epoch:02q}"), Contains("as in Python's format: received '{epoch:02q}'"),
                       ValueError);
  CHECK_THROWS_WITH_AS(formatted("{loss:.f}"), Contains("a precision in the file's name must be a number"),
                       ValueError);
  CHECK_THROWS_WITH_AS(formatted("{loss:999999999999999999999f}"), Contains("at most 200"), ValueError);
  for (const char* pattern : {"{epoch", "epoch}", "{", "}", "{epoch}}"}) {
    CAPTURE(pattern);
    CHECK_THROWS_WITH_AS(formatted(pattern), Contains("braces in the file's name must come in pairs"),
                         ValueError);
  }
  CHECK_THROWS_AS(formatted("{}"), ValueError);
}

TEST_CASE("python_repr has the digits that name a number") {
  const auto repr = [](double x) { return nn::python_repr(x); };
  CHECK(repr(0.1) == "0.1");
  CHECK(repr(2) == "2.0");
  CHECK(repr(0) == "0.0");
  CHECK(repr(-1.5) == "-1.5");
  CHECK(repr(1e-5) == "1e-05");
  CHECK(repr(0.0001) == "0.0001");
  CHECK(repr(1e16) == "1e+16");
  CHECK(repr(123456789012345) == "123456789012345.0");
  CHECK(repr(1.0 / 3) == "0.3333333333333333");
  CHECK(repr(NAN) == "nan");
  CHECK(repr(-INFINITY) == "-inf");
}
