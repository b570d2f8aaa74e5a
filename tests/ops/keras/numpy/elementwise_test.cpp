#include <doctest/doctest.h>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/settings/config.hpp>

#include <limits>

#include "../../catalogue.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::DType, ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError;

TEST_CASE("ops: two dtypes give the wider dtype; numbers and bools follow Keras 3") {
  using ktape::op_helpers::common_dtype;
  CHECK(common_dtype(DType::Int8, DType::Int64) == "int64");
  CHECK(common_dtype(DType::UInt8, DType::Int8) == "int16");
  CHECK(common_dtype(DType::UInt8, DType::Int32) == "int32");
  CHECK(common_dtype(DType::Int64, DType::Float16) == "float16");
  CHECK(common_dtype(DType::Float16, DType::Float64) == "float64");
  CHECK(common_dtype(DType::Bool, DType::UInt8) == "uint8");
  const Tensor n = ints({1, 2}), flags = K::constant({true, false});
  CHECK(ops::add(n, 1).dtype() == "int32");
  CHECK(ops::add(n, 0.5).dtype() == K::floatx());
  CHECK(ops::add(flags, 1).dtype() == "int32");
  CHECK(ops::add(flags, flags).dtype() == "bool");
  CHECK(values(ops::add(n, doubles({0.25, 0.5}))) == Values{1.25, 2.5});
  CHECK(ops::divide(n, 2).dtype() == K::floatx());
}

TEST_CASE("ops: floating functions accept integers, and float16 through float32") {
  CHECK(values(ops::sqrt(ints({4, 9}))) == Values{2, 3});
  CHECK(values(ops::floor(ints({4, -9}))) == Values{4, -9});
  const Tensor half = K::constant({0.5, -1.25}, {.dtype = "float16"});
  CHECK(ops::floor(half).dtype() == "float16");
  CHECK(values(ops::floor(half)) == Values{0, -2});
  CHECK(std::isnan(values(ops::sqrt(doubles({-1.})))[0]));
  CHECK(values(ops::round(ints({1250, -1149}), -2)) == Values{1200, -1100});
}

TEST_CASE("ops: special functions agree with known values to the last digits") {
  const auto value = [](const Tensor& x) { return values(x)[0]; };
  CHECK(value(ops::i0(doubles({1.}))) == doctest::Approx(1.2660658777520084).epsilon(1e-14));
  CHECK(value(ops::i0(doubles({29.999}))) / value(ops::i0(doubles({30.001}))) ==
        doctest::Approx(std::exp(-0.002 * 0.98319)).epsilon(1e-7));
  CHECK(value(ops::erfinv(doubles({0.5}))) == doctest::Approx(0.4769362762044699).epsilon(1e-14));
  CHECK(value(ops::erfinv(doubles({1 - 1e-12}))) == doctest::Approx(5.042029745639059).epsilon(1e-6));
  CHECK(value(ops::gammainc(doubles({2.5}), doubles({1.}))) ==
        doctest::Approx(0.15085496391539038).epsilon(1e-13));
  CHECK(value(ops::sinc(doubles({0.}))) == 1);
  CHECK(value(ops::hypot(doubles({3e200}), doubles({4e200}))) == doctest::Approx(5e200));
}

TEST_CASE("ops: integers are divided as in Python, and a division by 0 does not end the program") {
  const Tensor x = ints({7, -7, 7, -7, 5}), y = ints({3, 3, -3, -3, 0});
  CHECK(values(ops::floor_divide(x, y)) == Values{2, -3, -3, 2, 0});
  CHECK(values(ops::mod(x, y)) == Values{1, 2, -2, -1, 0});
  CHECK(values(ops::fmod(x, y)) == Values{1, -1, 1, -1, 0});
  const auto lowest = std::numeric_limits<std::int64_t>::min();
  CHECK(ops::floor_divide(ints({lowest}, "int64"), -1).item<std::int64_t>() == lowest);
  CHECK(ops::mod(ints({lowest}, "int64"), -1).item<std::int64_t>() == 0);
  CHECK(values(ops::bitwise_left_shift(ints({1, 64}, "int8"), 1)) == Values{2, -128});
  CHECK(values(ops::bitwise_right_shift(ints({-8}), 100)) == Values{-1});
}

TEST_CASE("ops: element-wise functions refuse wrong arguments") {
  CHECK_THROWS_WITH_AS(ops::gcd(doubles({1.}), 2),
                       "[gcd] both tensors must hold integers: received dtype=float64", TypeError);
  CHECK_THROWS_WITH_AS(ops::ldexp(doubles({1.}), doubles({1.})),
                       "[ldexp] x2 must hold integers: received x2=float64", TypeError);
  CHECK_THROWS_WITH_AS(ops::floor(Tensor()),
                       "[floor] x must be a tensor: received an undefined tensor (None)", ValueError);
  CHECK_THROWS_WITH_AS(ops::add(Tensor(), 1),
                       "[add] x1 must be a tensor: received an undefined tensor (None)", ValueError);
  CHECK_THROWS_AS(ops::hypot(doubles({1., 2.}), doubles({1., 2., 3.})), ValueError);
  CHECK_THROWS_WITH_AS(
      ops::select({}, {}),
      "[select] there must be as many choices as conditions, at least one: received condlist of 0, "
      "choicelist of 0",
      ValueError);
}

TEST_CASE("ops: infinities, NaN and the bounds of dtypes") {
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = doubles({inf, -inf, nan, -0.0, 1.});
  CHECK(values(ops::isposinf(x)) == Values{1, 0, 0, 0, 0});
  CHECK(values(ops::isneginf(x)) == Values{0, 1, 0, 0, 0});
  CHECK(values(ops::isinf(x)) == Values{1, 1, 0, 0, 0});
  CHECK(values(ops::signbit(x)) == Values{0, 1, 0, 1, 0});
  CHECK(values(ops::nan_to_num(x, 3, 2, -2)) == Values{2, -2, 3, 0, 1});
  CHECK(values(ops::logaddexp(doubles({-inf, inf}), doubles({-inf, inf}))) == Values{-inf, inf});
  CHECK(values(ops::saturate_cast(ints({-300, 5, 300}), "int8")) == Values{-128, 5, 127});
  CHECK(values(ops::saturate_cast(doubles({inf, 1e300, -2.}), "float16")) == Values{65504, 65504, -2});
  CHECK(values(ops::fmax(doubles({nan, 1.}), doubles({2., nan}))) == Values{2, 1});
}

namespace {

Tensor inside() { return doubles({{0.5, -0.25, 0.125}, {-0.75, 0.9, 0.}}); }
Tensor above_one() { return doubles({{1.5, 2., 7.5}, {1.25, 3., 1.01}}); }
Tensor away_from_zero() { return doubles({{0.5, -0.7, 1.5}, {-3., 2., 0.125}}); }
auto pairs(Tensor (*f)(const ktape::TensorOrNumber&, const ktape::TensorOrNumber&)) {
  return of2([f](const Tensor& x, const Tensor& y) { return f(x, y); });
}

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"ops::sqrt", of(ops::sqrt), {positive_numbers()}},
      {"ops::rsqrt", of(ops::rsqrt), {positive_numbers()}, 1e-7},
      {"ops::reciprocal", of(ops::reciprocal), {away_from_zero()}},
      {"ops::cbrt", of(ops::cbrt), {away_from_zero()}},
      {"ops::square", of(ops::square), {awkward_numbers()}},
      {"ops::exp", of(ops::exp), {normal({2, 3})}},
      {"ops::expm1", of(ops::expm1), {normal({2, 3})}},
      {"ops::exp2", of(ops::exp2), {normal({2, 3})}},
      {"ops::log", of(ops::log), {positive_numbers()}, 1e-7},
      {"ops::log2", of(ops::log2), {positive_numbers()}, 1e-7},
      {"ops::log10", of(ops::log10), {positive_numbers()}, 1e-7},
      {"ops::log1p", of(ops::log1p), {positive_numbers()}},
      {"ops::sin", of(ops::sin), {awkward_numbers()}},
      {"ops::cos", of(ops::cos), {awkward_numbers()}},
      {"ops::tan", of(ops::tan), {inside()}},
      {"ops::arcsin", of(ops::arcsin), {inside()}},
      {"ops::arccos", of(ops::arccos), {inside()}},
      {"ops::arctan", of(ops::arctan), {awkward_numbers()}},
      {"ops::sinh", of(ops::sinh), {normal({2, 3})}},
      {"ops::cosh", of(ops::cosh), {normal({2, 3})}},
      {"ops::tanh", of(ops::tanh), {awkward_numbers()}},
      {"ops::arcsinh", of(ops::arcsinh), {awkward_numbers()}},
      {"ops::arccosh", [](In in) { return ops::arccosh(1.01 + K::square(in[0])); }, {above_one()}},
      {"ops::arctanh", of(ops::arctanh), {inside()}},
      {"ops::deg2rad", of(ops::deg2rad), {awkward_numbers()}},
      {"ops::rad2deg", of(ops::rad2deg), {awkward_numbers()}},
      {"ops::sinc", of(ops::sinc), {inside()}},
      {"ops::erf", of(ops::erf), {normal({2, 3})}},
      {"ops::erfc", of(ops::erfc), {normal({2, 3})}},
      {"ops::erfinv", of(ops::erfinv), {inside()}},
      {"ops::i0", of(ops::i0), {doubles({{0.5, -0.7, 1.5}, {-3., 0., 0.125}})}},
      {"ops::abs", of(ops::abs), {awkward_numbers()}},
      {"ops::absolute", of(ops::absolute), {awkward_numbers()}},
      {"ops::fabs", of(ops::fabs), {awkward_numbers()}},
      {"ops::negative", of(ops::negative), {awkward_numbers()}},
      {"ops::sign", of(ops::sign), {awkward_numbers()}},
      {"ops::real", of(ops::real), {awkward_numbers()}},
      {"ops::conj", of(ops::conj), {awkward_numbers()}},
      {"ops::conjugate", of(ops::conjugate), {awkward_numbers()}},
      {"ops::nan_to_num", [](In in) { return ops::nan_to_num(in[0]); }, {awkward_numbers()}},
      {"ops::clip", [](In in) { return ops::clip(in[0], -1, 1); }, {awkward_numbers()}},
      {"ops::saturate_cast", [](In in) { return ops::saturate_cast(in[0], "float64"); }, {awkward_numbers()}},
      {"ops::add", pairs(ops::add), {normal({2, 3}), normal({3}, 2)}},
      {"ops::subtract", pairs(ops::subtract), {normal({2, 3}), normal({3}, 2)}},
      {"ops::multiply", pairs(ops::multiply), {normal({2, 3}), normal({3}, 2)}},
      {"ops::divide", pairs(ops::divide), {normal({2, 3}), doubles({1., -2., 3.})}},
      {"ops::true_divide", pairs(ops::true_divide), {normal({2, 3}), doubles({1., -2., 3.})}},
      {"ops::divide_no_nan", pairs(ops::divide_no_nan), {normal({2, 3}), doubles({1., -2., 3.})}},
      {"ops::mod", pairs(ops::mod), {doubles({{0.5, -0.7, 1.6}, {-3.1, 2.2, 0.1}}), doubles({0.4, -0.6, 1.})}},
      {"ops::fmod", pairs(ops::fmod), {doubles({{0.5, -0.7, 1.6}, {-3.1, 2.2, 0.1}}), doubles({0.4, -0.6, 1.})}},
      {"ops::power", pairs(ops::power), {positive_numbers(), normal({3})}, 1e-7},
      {"ops::ldexp", [](In in) { return ops::ldexp(in[0], ints({1, -2, 0})); }, {normal({2, 3})}},
      {"ops::maximum", pairs(ops::maximum), {awkward_numbers(), normal({3})}},
      {"ops::minimum", pairs(ops::minimum), {awkward_numbers(), normal({3})}},
      {"ops::fmax", pairs(ops::fmax), {awkward_numbers(), normal({3})}},
      {"ops::fmin", pairs(ops::fmin), {awkward_numbers(), normal({3})}},
      {"ops::arctan2", pairs(ops::arctan2), {away_from_zero(), normal({3})}},
      {"ops::hypot", pairs(ops::hypot), {away_from_zero(), normal({3})}},
      {"ops::logaddexp", pairs(ops::logaddexp), {awkward_numbers(), normal({3})}},
      {"ops::logaddexp2", pairs(ops::logaddexp2), {awkward_numbers(), normal({3})}},
      {"ops::gammainc", [](In in) { return ops::gammainc(2.5, in[0]); }, {positive_numbers()}, 1e-7},
      {"ops::gammainc", of2([](const Tensor& a, const Tensor& x) { return ops::gammainc(a, x); }), {doubles({{0.5, 2.5, 9.}, {20., 0.03, 1.}}), doubles({{0.2, 4., 7.5}, {19., 0.5, 1.}})}},
      {"ops::gammainc", [](In in) { return ops::gammainc(in[0], 3.); }, {doubles({0.25, 1., 2., 7.5})}},
      {"ops::where", [](In in) { return ops::where(in[0] > 0, in[0], in[1]); }, {normal({2, 3}), normal({3}, 2)}},
      {"ops::select", [](In in) { return ops::select({in[0] > 1, in[0] > 0}, {in[0], in[1]}, 0.5); }, {normal({2, 3}), normal({3}, 2)}},
      // Results that jump, or that are constant.
      {"ops::floor", no_gradient}, {"ops::ceil", no_gradient}, {"ops::trunc", no_gradient}, {"ops::round", no_gradient},
      {"ops::angle", no_gradient}, {"ops::imag", no_gradient}, {"ops::isnan", no_gradient}, {"ops::isfinite", no_gradient},
      {"ops::isinf", no_gradient}, {"ops::isposinf", no_gradient}, {"ops::isneginf", no_gradient},
      {"ops::isreal", no_gradient}, {"ops::signbit", no_gradient}, {"ops::floor_divide", no_gradient},
      {"ops::heaviside", no_gradient}, {"ops::nextafter", no_gradient}, {"ops::gcd", no_gradient}, {"ops::lcm", no_gradient},
      {"ops::equal", no_gradient}, {"ops::not_equal", no_gradient}, {"ops::greater", no_gradient},
      {"ops::greater_equal", no_gradient}, {"ops::less", no_gradient}, {"ops::less_equal", no_gradient},
      {"ops::logical_and", no_gradient}, {"ops::logical_or", no_gradient}, {"ops::logical_xor", no_gradient},
      {"ops::logical_not", no_gradient}, {"ops::bitwise_and", no_gradient}, {"ops::bitwise_or", no_gradient},
      {"ops::bitwise_xor", no_gradient}, {"ops::bitwise_not", no_gradient}, {"ops::bitwise_invert", no_gradient},
      {"ops::bitwise_left_shift", no_gradient}, {"ops::bitwise_right_shift", no_gradient},
      {"ops::left_shift", no_gradient}, {"ops::right_shift", no_gradient}, {"ops::isclose", no_gradient},
      {"ops::allclose", no_gradient},
  };
});
// clang-format on

}  // namespace
