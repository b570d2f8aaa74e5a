#include <ktape/ops/control/function.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>

#include "check.hpp"

#include <cmath>
#include <limits>

using namespace ktape;
namespace K = ktape::backend;

namespace {
using Bools = std::vector<bool>;
constexpr double inf = std::numeric_limits<double>::infinity();

Bools bools(const Tensor& x) {
  const auto found = values<double>(x);
  return {found.begin(), found.end()};
}
}  // namespace

TEST_CASE("a tensor compares exactly with numbers that its dtype cannot hold") {
  const Tensor bytes = ints({0, 1, 255}, "uint8");
  CHECK(bools(bytes < 256) == Bools{true, true, true});
  CHECK(bools(bytes == 256) == Bools{false, false, false});
  CHECK(bools(bytes != 256) == Bools{true, true, true});
  CHECK(bools(bytes >= -1) == Bools{true, true, true});
  CHECK(bools(bytes <= -1) == Bools{false, false, false});
  CHECK(bools(bytes > 0.5) == Bools{false, true, true});
  CHECK(bools(bytes <= 254.5) == Bools{true, true, false});
  const Tensor n = ints({1, -1});
  CHECK(bools(n == 4294967297) == Bools{false, false});
  CHECK(bools(n < inf) == Bools{true, true});
  CHECK(bools(n > -inf) == Bools{true, true});
  CHECK(bools(n < std::uint64_t{1} << 63) == Bools{true, true});
  const Tensor flags = K::constant({true, false});
  CHECK(bools(flags == 1) == Bools{true, false});
  CHECK(bools(flags == 2) == Bools{false, false});
  CHECK(bools(flags > 0.5) == Bools{true, false});
}

TEST_CASE("the largest integers compare exactly with real numbers") {
  const std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  const Tensor n = K::constant({highest, -highest - 1}, {.dtype = "int64"});
  CHECK(bools(n < 0x1p63) == Bools{true, true});
  CHECK(bools(n == 0x1p63) == Bools{false, false});
  CHECK(bools(n == -0x1p63) == Bools{false, true});
  CHECK(bools(n > -1e300) == Bools{true, true});
}

TEST_CASE("floats compare with numbers beyond their range, and every tensor with NaN") {
  const Tensor x = K::constant({1., inf, -inf, std::nan("")}, {.dtype = "float16"});
  CHECK(bools(x < 1e10) == Bools{true, false, true, false});
  CHECK(bools(x == 1e10) == Bools{false, false, false, false});
  CHECK(bools(x != 1e10) == Bools{true, true, true, true});
  CHECK(bools(x > 1e10) == Bools{false, true, false, false});
  CHECK(bools(ints({1, 2}) < std::nan("")) == Bools{false, false});
  CHECK(bools(ints({1, 2}) != std::nan("")) == Bools{true, true});
}

TEST_CASE("a float tensor rounds the number that it is compared with") {
  CHECK(bools(K::constant({0.1f}) == 0.1) == Bools{true});
}

TEST_CASE("symbolic tensors compare with any number, too") {
  const Tensor x = K::placeholder({.shape = {2}, .dtype = "uint8"});
  CHECK((x < 256).dtype() == "bool");
  CHECK((x < 256).shape() == Shape{2});
}

TEST_CASE("arithmetic with a number that the dtype cannot hold is refused") {
  const Tensor bytes = ints({0, 255}, "uint8"), n = ints({1});
  CHECK_THROWS_WITH_AS(bytes + 300, "[add] a number must fit the tensor's dtype uint8: received number=300",
                       TypeError);
  CHECK_THROWS_WITH_AS(
      bytes - 256, "[subtract] a number must fit the tensor's dtype uint8: received number=256", TypeError);
  CHECK_THROWS_WITH_AS(
      -1 * bytes, "[multiply] a number must fit the tensor's dtype uint8: received number=-1", TypeError);
  CHECK_THROWS_WITH_AS(n + inf, "[add] a number must fit the tensor's dtype int32: received number=inf",
                       TypeError);
  CHECK_THROWS_WITH_AS(n + std::nan(""),
                       "[add] a number must fit the tensor's dtype int32: received number=nan", TypeError);
  CHECK_THROWS_WITH_AS(K::constant({1.f}) * 1e300,
                       "[multiply] a number must fit the tensor's dtype float32: received number=1e+300",
                       TypeError);
  CHECK_THROWS_WITH_AS(1e300 / K::constant({1.f}),
                       "[divide] a number must fit the tensor's dtype float32: received number=1e+300",
                       TypeError);
  CHECK(values(bytes + 1) == Values{1, 0});
  CHECK(values(bytes / 300) == Values{0, 255.f / 300});
}

TEST_CASE("the other ops hold numbers to the dtype as well") {
  const Tensor bytes = ints({0, 1, 255}, "uint8");
  CHECK_THROWS_WITH_AS(K::pad(bytes, {{1, 1}}, {.constant_values = 256}),
                       "[pad] a number must fit the tensor's dtype uint8: received number=256", TypeError);
  CHECK_THROWS_WITH_AS(K::relu(bytes, {.max_value = 300}),
                       "[relu] a number must fit the tensor's dtype uint8: received number=300", TypeError);
}

TEST_CASE("clip takes bounds that the dtype cannot hold for the nearest that it can") {
  const Tensor bytes = ints({0, 1, 255}, "uint8");
  CHECK(values(K::clip(bytes, -5, 300)) == Values{0, 1, 255});
  CHECK(values(K::clip(bytes, 0.5, ints(100, "uint8"))) == Values{1, 1, 100});
  CHECK(values(K::clip(bytes, ints(1, "uint8"), 1e10)) == Values{1, 1, 255});
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  CHECK(K::clip(K::constant({large}, {.dtype = "int64"}), 0, large - 1).item<std::int64_t>(0) == large - 1);
}

TEST_CASE("the gradient of a number by a tensor does not square the tensor") {
  const auto f = [](const Tensor& v) { return 1e30f / v; };
  CHECK(close(slope(f, K::constant({1e20f})).item(), -1e-10f));
  CHECK(close(slope([](const Tensor& v) { return 1e-10f / v; }, K::constant({1e-22f})).item(), -1e34f));
  const auto slope_of_slope = [&](const Tensor& v) {
    return slope([](const Tensor& w) { return slope([](const Tensor& u) { return 1 / u; }, w); }, v);
  };
  CHECK(values(slope_of_slope(doubles({0, 2, inf}))) == Values{inf, 0.25, 0});
}

TEST_CASE("minus 0 is -0, in every dtype, and 0 for integers") {
  for (const char* dtype : {"float16", "bfloat16", "float32", "float64"})
    for (const std::int64_t n : {1, 37}) {
      CAPTURE(dtype);
      const auto negative_zeros = [](const Tensor& x) {
        for (const double each : values(x))
          if (each != 0 || !std::signbit(each)) return false;
        return true;
      };
      const Tensor zeros = K::zeros({n}, {.dtype = dtype});
      CHECK(negative_zeros(-zeros));
      CHECK(!negative_zeros(-(-zeros)));
      CHECK(negative_zeros(ops::negative(zeros)));
      const Tensor in = K::placeholder({.shape = {n}, .dtype = dtype});
      CHECK(negative_zeros(K::function({in}, {-in})({zeros})[0]));
      CHECK(values(-K::cast(doubles({2., -3.}), dtype)) == Values{-2, 3});
    }
  CHECK(values(-ints({0, 5, -7})) == Values{0, -5, 7});
  CHECK(values(1 / -K::zeros({1})) == Values{-inf});
}
