#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <cmath>
#include <limits>

#include "catalogue.hpp"
#include "check.hpp"

using namespace ktape;
namespace K = ktape::backend;
using doctest::Contains;

namespace {

using List = std::vector<Tensor>;
const double inf = std::numeric_limits<double>::infinity();

/// Checks both orders of the gradient; the op is squared, so that the second order is not zero for linear
/// ops.
void check_gradients(const char* op, const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  ::check_gradients(op, [&](In in) { return K::square(f(in[0])); }, {x});
}

Tensor cube() {
  return doubles({{{1, -2, 3, 0.5}, {0.25, 4, -1, 2}, {-3, 0.75, 1.5, -0.5}},
                  {{2, 1, -1.5, 2.75}, {-0.75, 0.5, 2.5, 1}, {1.25, -1, 0.125, 2}}});
}

}  // namespace

TEST_CASE("sums over any axes agree with sums element by element") {
  const Tensor x = cube();
  for (int bits = 0; bits < 8; ++bits) {
    std::vector<int> axes;
    for (int i = 0; i < 3; ++i)
      if (bits >> i & 1) axes.push_back(i % 2 ? i - 3 : i);
    std::vector<double> wanted(24);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 4; ++k) {
          int at = bits & 1 ? 0 : i;
          if (!(bits & 2)) at = at * 3 + j;
          if (!(bits & 4)) at = at * 4 + k;
          wanted[static_cast<std::size_t>(at)] += x.item<double>(i, j, k);
        }
    const Tensor y = K::sum(x, axes);
    wanted.resize(static_cast<std::size_t>(y.size()));
    CHECK(values(y) == wanted);
    CHECK(values(K::sum(x, axes, true)) == wanted);
    CHECK(K::sum(x, axes, true).ndim() == 3);
    check_gradients(
        "sum", [&](const Tensor& v) { return K::sum(v, axes); }, x);
    check_gradients(
        "mean", [&](const Tensor& v) { return K::mean(v, axes, true); }, x);
  }
  CHECK(K::sum(x).shape() == Shape{});
  CHECK(K::sum(x, {0, 2}, true).shape() == Shape{1, 3, 1});
}

TEST_CASE("reductions of int8 and int16 keep the dtype, its range and its bounds") {
  for (const char* dtype : {"int8", "int16"}) {
    CAPTURE(dtype);
    const Tensor x = K::constant({{100, -128, 3}, {120, 5, -7}}, {.dtype = dtype});
    CHECK(K::max(x, 0).dtype() == dtype);
    CHECK(values<int>(K::max(x, 0)) == std::vector<int>{120, 5, 3});
    CHECK(values<int>(K::min(x, 1)) == std::vector<int>{-128, -7});
    CHECK(values<int>(K::mean(x, 0)) == std::vector<int>{110, -61, -2});
    CHECK(K::mean(K::reshape(x, {1, 2, 3}), {0, 2}).dtype() == dtype);
    const Tensor none = K::zeros({0, 2}, {.dtype = dtype});
    const int bound = none.dtype() == "int16" ? 32768 : 128;
    CHECK(values<int>(K::max(none, 0)) == std::vector<int>{-bound, -bound});
    CHECK(values<int>(K::min(none, 0)) == std::vector<int>{bound - 1, bound - 1});
    CHECK(values<int>(K::sum(none, 0)) == std::vector<int>{0, 0});
    CHECK(values<int>(K::prod(none, 0)) == std::vector<int>{1, 1});
  }
  CHECK(K::sum(K::constant({100, 100}, {.dtype = "int8"})).item<int>() == -56);
  CHECK(K::sum(K::constant({30000, 30000}, {.dtype = "int16"})).item<int>() == -5536);
}

TEST_CASE("an empty list of axes reduces nothing") {
  const Axes none(std::vector<int>{});
  const Tensor x = doubles({{1, -2}, {0, 3}});
  CHECK(values(K::sum(x, none)) == values(x));
  CHECK(values(K::norm(x, none)) == std::vector<double>{1, 2, 0, 3});
  CHECK(values(K::var(x, none)) == std::vector<double>{0, 0, 0, 0});
  CHECK(values(K::logsumexp(x, none)) == values(x));
  CHECK(K::any(x, none).dtype() == "bool");
  CHECK(values(K::all(x, none)) == std::vector<double>{1, 1, 0, 1});
}

TEST_CASE("groups of nothing have the neutral value") {
  const Tensor x = K::zeros({2, 0, 3}, {.dtype = "float64"});
  CHECK(values(K::sum(x, 1)) == std::vector<double>(6, 0));
  CHECK(values(K::prod(x, {0, 1})) == std::vector<double>(3, 1));
  CHECK(values(K::max(x, 1)) == std::vector<double>(6, -inf));
  CHECK(values(K::min(x)) == std::vector<double>{inf});
  CHECK(std::isnan(K::mean(x).item<double>()));
  CHECK(std::isnan(K::var(x, 1).item<double>(0, 0)));
  CHECK(values(K::logsumexp(x, 1)) == std::vector<double>(6, -inf));
  CHECK(values(K::all(x)) == std::vector<double>{1});
  CHECK(values(K::any(x, 1)) == std::vector<double>(6, 0));
  CHECK(K::sum(x, 0).shape() == Shape{0, 3});
  CHECK(K::argmax(x, 0).shape() == Shape{0, 3});
  CHECK(K::mean(K::zeros({0}, {.dtype = "int32"})).item<int>() == 0);
  CHECK(slope([](const Tensor& v) { return K::sum(v); }, x).shape() == x.shape());
  const Tensor many = K::zeros({std::int64_t{1} << 44, 0});
  CHECK(K::cumsum(many, 1).shape() == many.shape());
  CHECK(K::cumprod(many, 1).shape() == many.shape());
}

TEST_CASE("integers keep their dtype, wrap around and are truncated by mean") {
  const Tensor x = K::constant({100, 27, 1}, {.dtype = "int8"});
  CHECK(K::sum(x).dtype() == "int8");
  CHECK(K::sum(x).item<int>() == -128);
  CHECK(K::prod(x).item<int>() == static_cast<std::int8_t>(2700));
  CHECK(K::mean(K::constant({-3, 0, -4}, {.dtype = "int32"})).item<int>() == -2);
  CHECK(K::mean(K::constant({200, 250}, {.dtype = "uint8"})).item<int>() == 225);
  CHECK(K::max(K::constant({3, 9, 5}, {.dtype = "uint8"})).item<int>() == 9);
  CHECK(values<int>(K::cumsum(K::constant({100, 100, 100}, {.dtype = "uint8"}))) ==
        std::vector<int>{100, 200, 44});
}

TEST_CASE("statistics of bool are of floatx") {
  const Tensor x = K::constant({true, false, true, true});
  CHECK(K::mean(x).dtype() == K::floatx());
  CHECK(K::mean(x).item() == 0.75f);
  CHECK(K::var(x).item() == 0.1875f);
  CHECK(close(K::std(x).item(), std::sqrt(0.1875)));
}

TEST_CASE("variance is exact however large the mean") {
  const Tensor x = K::constant({16777000.f, 16777001.f, 16777002.f, 16777003.f});
  CHECK(K::var(x).item() == 1.25f);
  const Tensor y = doubles({1e15 + 1, 1e15 + 2, 1e15 + 3});
  CHECK(close(K::var(y).item<double>(), 2.0 / 3));
  CHECK(close(K::std(y, 0, true).item<double>(0), std::sqrt(2.0 / 3)));
}

TEST_CASE("float16 is averaged in float32") {
  const Tensor x = K::full({3, 40000}, 3, "float16");
  CHECK(K::mean(x).item() == 3);
  CHECK(K::mean(x).dtype() == "float16");
  CHECK(K::var(x, 1).item(0) == 0);
  CHECK(K::sum(K::full({3, 4, 5}, 2.5, "float16"), {0, 2}).item(3) == 37.5f);
  CHECK(close(K::logsumexp(K::full({4}, 3, "float16")).item(), 3 + std::log(4.0), {.rtol = 1e-3}));
}

TEST_CASE("logsumexp neither overflows nor loses infinities, and its slope there is no NaN") {
  CHECK(close(K::logsumexp(doubles({1000, 1000})).item<double>(), 1000 + std::log(2.0)));
  CHECK(close(K::logsumexp(doubles({-1000, -1001})).item<double>(), -1000 + std::log1p(std::exp(-1.0))));
  CHECK(K::logsumexp(doubles({-inf, -inf})).item<double>() == -inf);
  CHECK(K::logsumexp(doubles({inf, 1})).item<double>() == inf);
  CHECK(std::isnan(K::logsumexp(doubles({NAN, 1})).item<double>()));
  const auto f = [](const Tensor& v) { return K::logsumexp(v); };
  CHECK(values(slope(f, doubles({-inf, 0}))) == std::vector<double>{0, 1});
  CHECK(values(slope(f, doubles({-inf, -inf}))) == std::vector<double>{0, 0});
}

TEST_CASE("the slope of logsumexp is NaN where inf or NaN outweighs the elements, as in TF") {
  const auto slopes = [](const Tensor& x) {
    return slope([](const Tensor& v) { return K::logsumexp(v); }, x);
  };
  const Tensor of_infinity = slopes(doubles({inf, 1, -inf}));
  CHECK(values<bool>(K::is_nan(of_infinity)) == std::vector<bool>{true, false, false});
  CHECK(of_infinity.item<double>(1) == 0);
  CHECK(values<bool>(K::is_nan(slopes(doubles({NAN, 1})))) == std::vector<bool>{true, true});
}

TEST_CASE("reductions have gradients of both orders, with zeros and large numbers too") {
  const Tensor x = cube();
  for (const Axes& axes : {Axes(), Axes(1), Axes({0, 2}), Axes({0, 1})}) {
    check_gradients(
        "var", [&](const Tensor& v) { return K::var(v, axes); }, x);
    check_gradients(
        "std", [&](const Tensor& v) { return K::std(v, axes, true); }, x);
    check_gradients(
        "norm", [&](const Tensor& v) { return K::norm(v, axes); }, x);
    check_gradients(
        "max", [&](const Tensor& v) { return K::max(v, axes); }, x);
    check_gradients(
        "min", [&](const Tensor& v) { return K::min(v, axes, true); }, x);
    check_gradients(
        "logsumexp", [&](const Tensor& v) { return K::logsumexp(v, axes); }, x);
  }
  for (int axis = 0; axis < 3; ++axis) {
    check_gradients(
        "prod", [&](const Tensor& v) { return K::prod(v, axis); }, x);
    check_gradients(
        "cumsum", [&](const Tensor& v) { return K::cumsum(v, axis); }, x);
    check_gradients(
        "cumprod", [&](const Tensor& v) { return K::cumprod(v, axis); }, x);
  }
  check_gradients(
      "prod",
      [](const Tensor& v) {
        return K::prod(v, {0, 2});
      },
      x);
}

TEST_CASE("products with a factor 0 are 0, however large the other factors are") {
  for (const char* dtype : {"float16", "bfloat16", "float32", "float64"}) {
    CAPTURE(dtype);
    const double large = dtype == std::string("float16")   ? 3e4
                         : dtype == std::string("float64") ? 1e300
                                                           : 1e30;
    const double inf = std::numeric_limits<double>::infinity();
    for (const std::int64_t n : {3, 5, 16, 33, 100, 1000})
      for (const std::int64_t zero : {std::int64_t{0}, n / 2, n - 1})
        for (const std::int64_t inner : {1, 2, 7, 40}) {
          CAPTURE(n);
          CAPTURE(zero);
          CAPTURE(inner);
          const Tensor is_zero = K::reshape(K::equal(K::arange(n), zero), {1, n, 1});
          const Tensor x =
              K::cast(K::where(is_zero, K::zeros({2, n, inner}), K::ones({2, n, inner})) * 1., "float64") *
              large;
          const Tensor factors = K::cast(x, dtype);
          CHECK(K::max(K::abs(K::prod(factors, 1))).item() == 0);
          CHECK(K::max(K::abs(K::prod(factors, {0, 1}))).item() == 0);
          const Tensor running = K::cumprod(factors, 1),
                       after = K::slice(running, {0, zero, 0}, {2, n - zero, inner});
          CHECK(K::max(K::abs(after)).item() == 0);
          CHECK(!K::any(K::is_nan(running)).item<bool>());
          for (const auto& f : {std::function([](const Tensor& v) { return K::prod(v, 1); }),
                                std::function([](const Tensor& v) {
                                  return K::prod(v, {0, 1});
                                }),
                                std::function([](const Tensor& v) { return K::cumprod(v, 1); })}) {
            const Tensor slopes = slope(f, factors);
            CHECK(!K::any(K::is_nan(slopes)).item<bool>());
          }
        }
    const Tensor mixed = K::cast(doubles({{large, 0, large}, {inf, 0, 1}, {0, std::nan(""), 1}}), dtype);
    const Values products = values(K::prod(mixed, 1)), running = values(K::cumprod(mixed, 1));
    CHECK(products[0] == 0);
    CHECK((std::isnan(products[1]) && std::isnan(products[2])));
    CHECK((running[1] == 0 && running[2] == 0 && std::isnan(running[4]) && std::isnan(running[7])));
  }
  // The product of the others, where their product is in range: 0 for the neighbours of a 0.
  CHECK(values(slope([](const Tensor& v) { return K::prod(v); }, doubles({1e200, 0, 1e200, 1e-200}))) ==
        Values{0, 1e200, 0, 0});
  CHECK(values(slope([](const Tensor& v) { return K::cumprod(v); },
                     doubles({1, 0, 1e300, 1e300, 1e300})))[0] == 1);
  CHECK(values(K::prod(doubles({{0, 1e200}, {1e200, 1e200}, {1e200, 1}}), {0, 1})) == Values{0});
  CHECK(values(K::prod(K::reshape(doubles({1e200, 0, 1e200, 1e200, 0, 1e200, 1e200, 1e200}), {2, 2, 2}),
                       {0, 2})) == Values{0, inf});
}

TEST_CASE("products with zeros have gradients of both orders") {
  for (const Tensor& x : {doubles({2, 0, 3, -1, 0.5}), doubles({0, 2, 0, -1}), doubles({0, 0, 0}),
                          doubles({0}), doubles({0, 7})}) {
    const auto prod =
        gradcheck([](const List& in) { return K::prod(in[0]); }, {x}, {.second_order = true, .op = "prod"});
    CHECK_MESSAGE(prod.ok, prod.message);
    const auto cumprod = gradcheck([](const List& in) { return K::cumprod(in[0]); }, {x},
                                   {.second_order = true, .op = "cumprod"});
    CHECK_MESSAGE(cumprod.ok, cumprod.message);
  }
  CHECK(values(slope([](const Tensor& v) { return K::prod(v); }, doubles({2, 0, 3}))) ==
        std::vector<double>{0, 6, 0});
}

TEST_CASE("ties of max and min share the gradient over the whole group") {
  const Tensor x = doubles({{2, 1, 2}, {0, 2, 2}});
  CHECK(values(slope([](const Tensor& v) { return K::max(v); }, x)) ==
        std::vector<double>{.25, 0, .25, 0, .25, .25});
  CHECK(values(slope([](const Tensor& v) { return K::max(v, 0); }, x)) ==
        std::vector<double>{1, 0, .5, 0, 1, .5});
  CHECK(values(slope([](const Tensor& v) { return K::min(v, 1); }, x)) ==
        std::vector<double>{0, 1, 0, 1, 0, 0});
}

TEST_CASE("the gradients of std and norm are 0 where these are 0") {
  const Tensor x = doubles({3, 3, 3});
  CHECK(values(slope([](const Tensor& v) { return K::std(v); }, x)) == std::vector<double>{0, 0, 0});
  CHECK(values(slope([](const Tensor& v) { return K::norm(v); }, x * 0)) == std::vector<double>{0, 0, 0});
}

TEST_CASE("argmax and argmin find the first of equal elements, and NaN") {
  const Tensor x = K::constant({{1, 5, 5}, {7, 7, -1}});
  CHECK(values<int>(K::argmax(x)) == std::vector<int>{1, 0});
  CHECK(values<int>(K::argmax(x, 0)) == std::vector<int>{1, 1, 0});
  CHECK(values<int>(K::argmin(x, 0)) == std::vector<int>{0, 0, 1});
  CHECK(K::argmax(x).dtype() == "int64");
  CHECK(K::argmax(doubles({1, NAN, 3})).item<int>() == 1);
  CHECK(K::argmin(K::constant({true, false, false})).item<int>() == 1);
}

TEST_CASE("any and all take any dtype") {
  CHECK(values(K::any(doubles({{0, -0.0}, {NAN, 0}}), 1)) == std::vector<double>{0, 1});
  CHECK(values(K::all(K::constant({{1, 2}, {3, 0}}, {.dtype = "int64"}), 1)) == std::vector<double>{1, 0});
  CHECK(K::all(K::constant({{1, 2}, {3, 0}}, {.dtype = "float16"}), {0, 1}).item<bool>() == false);
}

TEST_CASE("reductions name the op and what is wrong") {
  const Tensor x = K::ones({2, 3}), flags = K::constant({true});
  CHECK_THROWS_WITH_AS(K::sum(x, 2), Contains("[sum] axis must be in [-2, 2)"), ValueError);
  CHECK_THROWS_WITH_AS(K::max(x, {0, -2}), Contains("named once: received axis=-2"), ValueError);
  CHECK_THROWS_WITH_AS(K::cumsum(x, 2), Contains("[cumsum] axis"), ValueError);
  CHECK_THROWS_WITH_AS(K::argmax(K::zeros({2, 0})),
                       "[argmax] the axis must not be empty: received x=(2, 0), axis=-1", ValueError);
  CHECK_THROWS_WITH_AS(K::argmin(K::constant(1.f), 0), Contains("[argmin] axis"), ValueError);
  CHECK_THROWS_WITH_AS(K::sum(flags), "[sum] x must be a number: received dtype=bool", TypeError);
  CHECK_THROWS_WITH_AS(K::var(K::constant({1, 2}, {.dtype = "int32"})), Contains("[var] x must be floating"),
                       TypeError);
  CHECK_THROWS_AS(K::mean(Tensor()), ValueError);
}

TEST_CASE("long running sums stay exact, from either end") {
  const Tensor x = K::full({3000000}, 0.1, "float32"), columns = K::reshape(x, {30000, 100});
  CHECK(close(K::cumsum(x).item<double>(-1), 300000, {.rtol = 1e-6}));
  CHECK(close(K::cumsum(columns, 0).item<double>(-1, 0), 3000, {.rtol = 2e-6}));
  CHECK(slope([](const Tensor& v) { return K::cumsum(v); }, x).item<double>(0) == 3000000);
  std::vector<float> large(20000, 1e30f);
  large[9000] = std::numeric_limits<float>::infinity();
  CHECK(K::cumsum(K::constant(large)).item(-1) == std::numeric_limits<float>::infinity());
}

TEST_CASE("the slope of a largest or smallest NaN is NaN for its whole group, of both orders") {
  const Tensor x = doubles({{1, NAN, 3}, {4, 2, 4}});
  const Values rows{NAN, NAN, NAN, .5, 0, .5}, all(6, NAN);
  const Tolerance nan_agrees{.ulps = 0, .equal_nan = true};
  const auto of_rows = [](const Tensor& v) { return K::max(v, 1); };
  const auto of_all = [](const Tensor& v) { return K::min(v); };
  CHECK(close(values(slope(of_rows, x)), rows, nan_agrees));
  CHECK(close(values(slope(of_all, x)), all, nan_agrees));
  const auto of_columns = [](const Tensor& v) { return K::max(v, 0); };
  CHECK(close(values(slope(of_columns, K::transpose(x))), Values{NAN, .5, NAN, 0, NAN, .5}, nan_agrees));
  GradientTape outer;
  outer.watch(x);
  CHECK(close(values(slope(of_rows, x)), rows, nan_agrees));  // recorded
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"max", [](In in) { return K::max(in[0], 1); }, {awkward_numbers()}},
      {"min", [](In in) { return K::min(in[0], 1, true); }, {awkward_numbers()}},
      {"sum", [](In in) { return K::sum(in[0], {0, 2}); }, {normal({2, 3, 4})}},
      {"prod", [](In in) { return K::prod(in[0], 1); }, {K::constant({{0., 2., 3.}, {0., 0., 1.}}, {.dtype = "float64"})}},
      {"mean", [](In in) { return K::mean(in[0], -1); }, {normal({2, 3})}},
      {"var", [](In in) { return K::var(in[0], 0); }, {normal({3, 2}) + 100}},
      {"std", [](In in) { return K::std(in[0], 0); }, {normal({3, 2})}},
      {"logsumexp", [](In in) { return K::logsumexp(in[0], 1); }, {awkward_numbers()}},
      {"cumsum", [](In in) { return K::cumsum(in[0], 1); }, {normal({2, 3})}},
      {"cumprod", [](In in) { return K::cumprod(in[0], 1); }, {normal({2, 3})}},
      {"norm", [](In in) { return K::norm(in[0], 1); }, {normal({2, 3})}},
      // Results that jump.
      {"any", no_gradient}, {"all", no_gradient}, {"argmax", no_gradient}, {"argmin", no_gradient},
  };
});
// clang-format on

}  // namespace
