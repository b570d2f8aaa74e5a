#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <cmath>
#include <limits>
#include <tuple>

#include "../close.hpp"
#include "catalogue.hpp"

namespace K = ktape::backend;
using ktape::ArrayLike, ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError, ktape::Variable;

namespace {
constexpr float inf = std::numeric_limits<float>::infinity();
const float not_a_number = std::nanf("");

std::vector<float> slopes(const std::function<Tensor(const Tensor&)>& f, const std::vector<float>& at) {
  const Variable x = K::variable(at, {.dtype = "float32"});
  return values<float>(K::gradients(f(x), {x})[0]);
}
}  // namespace

TEST_CASE("functions keep Keras's and C's values at 0, negative numbers, infinities and NaN") {
  CHECK(values<float>(K::sqrt(K::constant({4., -1., 0.}))) == std::vector<float>{2, 0, 0});
  CHECK(values<float>(K::round(K::constant({0.5, 1.5, -2.5, 2.6}))) == std::vector<float>{0, 2, -2, 3});
  CHECK(values<float>(K::sign(K::constant({-3., 0., 7.}))) == std::vector<float>{-1, 0, 1});
  CHECK(values<float>(K::exp(K::constant({0., -inf}))) == std::vector<float>{1, 0});
  CHECK(values<float>(K::pow(K::constant({2., -3., 0.}), 3)) == std::vector<float>{8, -27, 0});
  CHECK(values<float>(K::pow(K::constant({2.f, 4.f}), -1)) == std::vector<float>{0.5, 0.25});
  const Tensor whole = K::constant({-3, 2, 5}, {.dtype = "int64"});
  CHECK(values<float>(K::pow(whole, K::abs(whole))) == std::vector<float>{-27, 4, 3125});
  CHECK_THROWS_WITH_AS(K::pow(whole, whole),
                       "[pow] an integer tensor takes whole exponents of at least 0: received a=-3",
                       ValueError);
  CHECK(values<float>(K::maximum(K::constant({1.f, 5.f}), K::constant({3.f}))) == std::vector<float>{3, 5});
  CHECK(std::isnan(K::maximum(K::constant({not_a_number}), K::constant({3.f})).item<float>()));
  CHECK(std::isnan(K::minimum(K::constant({3.f}), K::constant({not_a_number})).item<float>()));
  CHECK(close(K::expm1(K::constant(1e-12, {.dtype = "float64"})).item<double>(), 1e-12, {.rtol = 1e-12}));
  CHECK(close(K::log1p(K::constant(1e-12, {.dtype = "float64"})).item<double>(), 1e-12, {.rtol = 1e-12}));
}

TEST_CASE_TEMPLATE("functions agree with C's to a few units in the last place", T, float, double) {
  using Function = std::function<Tensor(const Tensor&)>;
  using Reference = std::function<long double(long double)>;
  struct Case {
    std::string name;
    Function function;
    Reference reference;
  };
  const auto gelu = [](long double v) {
    return v * std::erfc(v * -0.707106781186547524400844362104849039L) / 2;
  };
  const std::vector<Case> all = {
      {"exp", K::exp, [](long double v) { return std::exp(v); }},
      {"expm1", K::expm1, [](long double v) { return std::expm1(v); }},
      {"log", K::log, [](long double v) { return std::log(v); }},
      {"log1p", K::log1p, [](long double v) { return std::log1p(v); }},
      {"sin", K::sin, [](long double v) { return std::sin(v); }},
      {"cos", K::cos, [](long double v) { return std::cos(v); }},
      {"tanh", K::tanh, [](long double v) { return std::tanh(v); }},
      {"sigmoid", K::sigmoid, [](long double v) { return 1 / (1 + std::exp(-v)); }},
      {"softplus", K::softplus,
       [](long double v) { return std::fmax(v, 0.0L) + std::log1p(std::exp(-std::abs(v))); }},
      {"gelu", [](const Tensor& v) { return K::gelu(v); }, gelu},
      {"pow", [](const Tensor& v) { return K::pow(v, -2.5); },
       [](long double v) { return std::pow(v, -2.5L); }},
      {"pow", [](const Tensor& v) { return K::pow(v, 30.5); },
       [](long double v) { return std::pow(v, 30.5L); }}};
  std::vector<double> numbers{0,   -0.,  1,   -1,   1e-30, -1e-30, 88.6, 709.7,
                              -90, -700, 1e6, -1e6, 1e30,  inf,    -inf, std::nan("")};
  for (int i = -300; i < 300; ++i) numbers.push_back(i / 37.), numbers.push_back(std::exp(i / 20.));
  const Tensor x = K::constant(numbers, {.dtype = ktape::dtype_of<T>()});
  for (const auto& each : all) {
    const Tensor y = each.function(x);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const T given = x.data<T>()[i], found = y.data<T>()[i], wanted = static_cast<T>(each.reference(given));
      const T error = std::abs(found - wanted),
              unit = std::nextafter(std::abs(wanted), T(inf)) - std::abs(wanted);
      const bool near =
          found == wanted || (std::isnan(found) && std::isnan(wanted)) ||
          (std::isfinite(wanted) && error <= std::max(12 * unit, 12 * std::numeric_limits<T>::min()));
      CHECK_MESSAGE(near, each.name, " of ", given, " is ", found, ", not ", wanted);
    }
  }
}

TEST_CASE_TEMPLATE("erf agrees with C's, eager and symbolic", T, float, double) {
  constexpr double large = std::numeric_limits<T>::max(), small = std::numeric_limits<T>::min();
  std::vector<double> numbers{0,     small, -small, 6,   -6,   27.5,        300,
                              -1e10, large, -large, inf, -inf, std::nan("")};
  for (int i = -240; i <= 240; ++i) numbers.push_back(i / 37.);
  const Tensor x = K::constant(numbers, {.dtype = ktape::dtype_of<T>()});
  std::vector<T> want;
  for (std::int64_t i = 0; i < x.size(); ++i) want.push_back(static_cast<T>(std::erf(x.data<T>()[i])));
  const Tolerance allowed{.ulps = 4, .equal_nan = true};
  CHECK(close(K::erf(x), want, allowed));
  const Tensor waiting = K::placeholder({.shape = x.shape(), .dtype = x.dtype()});
  CHECK(close(K::function({waiting}, {K::erf(waiting)})({x})[0], want, allowed));
}

TEST_CASE("pow agrees with C at 0, 1, infinities and NaN") {
  for (const double x : {0., -0., 1., -1., 0.5, 2., -8., double{inf}, -double{inf}, double{not_a_number}})
    for (const double a : {0., 1., -1., 2., -2., 3., 0.5, -0.5, 20., -21., double{inf}, -double{inf}}) {
      const Tensor base = K::constant(x, {.dtype = "float64"}),
                   exponent = K::constant(a, {.dtype = "float64"});
      const double expected = std::pow(x, a);
      for (const Tensor& y : {K::pow(base, exponent), K::pow(base, a)}) {
        CAPTURE(x);
        CAPTURE(a);
        const double found = y.item<double>();
        CHECK(close(found, expected, {.rtol = 1e-13, .equal_nan = true}));
        if (!std::isnan(expected)) CHECK(std::signbit(found) == std::signbit(expected));
      }
    }
  const Variable x = K::variable({0., 0., 0.}), a = K::variable({0., 1., 2.});
  CHECK(values<float>(K::gradients(K::pow(x, a), {x})[0]) == std::vector<float>{0, 1, 0});
}

TEST_CASE("pow agrees with C for exponents of all sizes") {
  const auto check = [&]<class T>(T) {
    using Limits = std::numeric_limits<T>;
    const T next = std::nextafter(T(1), T(2)), before = std::nextafter(T(1), T(0));
    std::vector<T> bases = {0, T(0.5), 2,        T(0.9),  T(1.1),        next,          before,
                            1, 3,      T(1e-20), T(1e20), Limits::max(), Limits::min(), Limits::denorm_min()};
    std::vector<T> exponents = {1,
                                2,
                                3,
                                4,
                                5,
                                7,
                                12,
                                16,
                                17,
                                100,
                                101,
                                T(0.5),
                                T(1.5),
                                T(1e5),
                                T(99999),
                                T(8388607),
                                T(16777215),
                                T(16777216),
                                T(1e8),
                                T(1e14),
                                T(3e14),
                                T(1e15),
                                T(1e20),
                                T(1e30),
                                T(1e37),
                                Limits::max(),
                                Limits::min(),
                                Limits::denorm_min()};
    for (auto* list : {&bases, &exponents})
      for (std::size_t i = 0, n = list->size(); i < n; ++i) list->push_back(-(*list)[i]);
    for (const T a : exponents) {
      const Tensor x = K::constant(bases, {.dtype = ktape::dtype_of<T>()});
      const Tensor each = K::constant(std::vector<T>(bases.size(), a), {.dtype = ktape::dtype_of<T>()});
      const std::vector<T> by_tensor = values<T>(K::pow(x, each)),
                           by_number = values<T>(K::pow(x, double(a)));
      for (std::size_t i = 0; i < bases.size(); ++i)
        for (const T got : {by_tensor[i], by_number[i]}) {
          const T wanted =
              static_cast<T>(std::pow(static_cast<long double>(bases[i]), static_cast<long double>(a)));
          INFO(bases[i], " ** ", a, " = ", got, ", wanted ", wanted);
          const T size = std::fabs(wanted),
                  unit = std::isfinite(wanted) ? std::nextafter(size, T(INFINITY)) - size : 0;
          const bool right =
              std::isnan(wanted) ? std::isnan(got) : got == wanted || std::fabs(got - wanted) <= 2 * unit;
          if (!right) CHECK(got == wanted);
          if (right)
            CHECK(std::signbit(got) == (std::isnan(wanted) ? std::signbit(got) : std::signbit(wanted)));
        }
    }
  };
  check(float{});
  check(double{});
  CHECK(values<float>(K::pow(K::constant({1., 0.5, 2.}), 1e300)) == std::vector<float>{1, 0, INFINITY});
}

TEST_CASE("pow has no NaN slope where it is constant") {
  const Variable x = K::variable({0.5, 2., 0.}), a = K::variable({inf, -inf, -1.});
  const auto slopes = K::gradients(K::pow(x, a), {x, a});
  CHECK(values<float>(slopes[0]) == std::vector<float>{0, 0, -inf});
  CHECK(values<float>(slopes[1]) == std::vector<float>{0, 0, 0});
  CHECK(values<float>(K::gradients(K::pow(x, inf), {x})[0]) == std::vector<float>{0, inf, 0});
}

TEST_CASE("gradients at kinks follow TF2") {
  CHECK(slopes(K::sqrt, {-1, 4}) == std::vector<float>{0, 0.25});
  CHECK(slopes(K::abs, {-2, 0, 2}) == std::vector<float>{-1, 0, 1});
  CHECK(slopes([](const Tensor& x) { return K::clip(x, -1, 1); }, {-2, -1, 0, 1, 2}) ==
        std::vector<float>{0, 1, 1, 1, 0});
  CHECK(slopes([](const Tensor& x) { return K::maximum(x, K::constant({1.f})); }, {0, 1, 2}) ==
        std::vector<float>{0, 1, 1});
  CHECK(slopes([](const Tensor& x) { return K::minimum(K::constant({1.f}), x); }, {0, 1, 2}) ==
        std::vector<float>{1, 0, 0});
  const Variable x = K::variable({1.5f});
  CHECK_FALSE(K::gradients(K::round(x), {x})[0].defined());
}

TEST_CASE("clip takes numbers, tensors and None") {
  const Tensor x = K::constant({-2.f, 0.f, 2.f});
  CHECK(values<float>(K::clip(x, K::None, 1)) == std::vector<float>{-2, 0, 1});
  CHECK(values<float>(K::clip(x, 1, -1)) == std::vector<float>{1, 1, 1});
  CHECK(values<float>(K::clip(x, K::constant({-1.f, 1.f, 0.f}), K::None)) == std::vector<float>{-1, 1, 2});
  CHECK(values<float>(K::clip(K::constant({1, 5, 9}, {.dtype = "int32"}), 2.5, 7)) ==
        std::vector<float>{3, 5, 7});
  CHECK_THROWS_WITH_AS(K::clip(x, not_a_number, 1),
                       "[clip] min_value must be a number: received min_value=nan", ValueError);
  CHECK_THROWS_WITH_AS(K::clip(x, -1, K::ones({2})),
                       "[clip] max_value must broadcast to x of shape (3,): received max_value=(2,)",
                       ValueError);
  const Tensor missing = K::gradients(K::sum(K::ones({3})), {x})[0];
  CHECK_THROWS_WITH_AS(K::clip(x, missing, 1),
                       doctest::Contains("[clip] min_value must be a tensor: received an undefined"),
                       ValueError);
}

TEST_CASE("operands that do not broadcast are named as the arguments are") {
  const Tensor x = K::ones({2, 3}), y = K::ones({2});
  CHECK_THROWS_WITH_AS(K::pow(x, y), "[pow] shapes must broadcast: received x=(2, 3), a=(2,)", ValueError);
  CHECK_THROWS_WITH_AS(K::where(x > 0, y, 0),
                       "[where] shapes must broadcast: received condition=(2, 3), x and y=(2,)", ValueError);
  CHECK_THROWS_WITH_AS(K::binary_crossentropy(y, x),
                       "[binary_crossentropy] shapes must broadcast: received target=(2,), output=(2, 3)",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      K::switch_(x > 0, x, y),
      "[switch] shapes must broadcast: received then_expression=(2, 3), else_expression=(2,)", ValueError);
}

TEST_CASE("where lets no NaN through from the side that was not chosen") {
  const Variable x = K::variable({-1.f, 4.f});
  const Tensor y = K::where(x > 0, K::log(x), x);
  CHECK(values<float>(y)[0] == -1.f);
  CHECK(values<float>(K::where(K::constant({true, false}), K::constant({{1.f}, {2.f}}), K::constant(0.f))) ==
        std::vector<float>{1, 0, 2, 0});
}

TEST_CASE("where picks between tensors, rows and numbers of every dtype") {
  const Tensor condition = K::constant({{true, false, true}, {false, false, true}});
  for (const char* dtype :
       {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"}) {
    CAPTURE(dtype);
    const auto of = [dtype](const ArrayLike& value) { return K::constant(value, {.dtype = dtype}); };
    const Tensor full = of({{1, 0, 1}, {1, 1, 1}}), one = of(1), zero = of({{0}}), row = of({0, 1, 0});
    CHECK(values<float>(K::where(condition, full, zero)) == std::vector<float>{1, 0, 1, 0, 0, 1});
    CHECK(values<float>(K::where(condition, zero, full)) == std::vector<float>{0, 0, 0, 1, 1, 0});
    CHECK(values<float>(K::where(condition, one, zero)) == std::vector<float>{1, 0, 1, 0, 0, 1});
    CHECK(values<float>(K::where(condition, one, row)) == std::vector<float>{1, 1, 1, 0, 1, 1});
    CHECK(values<float>(K::where(K::constant(false), full, one)) == std::vector<float>(6, 1));
    CHECK(K::where(K::ones({0, 3}, {.dtype = "bool"}), one, row).shape() == Shape{0, 3});
  }
}

TEST_CASE("comparisons, is_nan and is_finite give bools") {
  const Tensor x = K::constant({1.f, not_a_number, inf});
  CHECK(K::dtype(K::is_nan(x)) == "bool");
  CHECK(values<float>(K::is_nan(x)) == std::vector<float>{0, 1, 0});
  CHECK(values<float>(K::is_finite(x)) == std::vector<float>{1, 0, 0});
  CHECK(values<float>(x == x) == std::vector<float>{1, 0, 1});
  CHECK(values<float>(x != x) == std::vector<float>{0, 1, 0});
  CHECK(values<float>(x >= 1) == std::vector<float>{1, 0, 1});
}

TEST_CASE("operators broadcast, and numbers take the tensor's dtype") {
  const Tensor row = K::constant({1.f, 2.f, 3.f}), column = K::constant({{10.f}, {20.f}});
  CHECK(K::int_shape(row + column) == Shape{2, 3});
  CHECK(values<float>(row + column) == std::vector<float>{11, 12, 13, 21, 22, 23});
  CHECK(values<float>(1 - row / 2) == std::vector<float>{0.5, 0, -0.5});
  const Tensor whole = K::constant({7, -7}, {.dtype = "int32"});
  CHECK(K::dtype(whole * 2) == "int32");
  CHECK(K::dtype(whole / 2) == "float64");
  CHECK(K::dtype(K::cast(whole, "int8") / 2) == "float32");
  CHECK_THROWS_WITH_AS(K::cast(whole, "bool") / 2, "[divide] x must be a number: received dtype=bool",
                       TypeError);
  CHECK_THROWS_WITH_AS(whole + 2.5, "[add] a number must fit the tensor's dtype int32: received number=2.5",
                       TypeError);
  CHECK_THROWS_WITH_AS(row + whole,
                       "[add] both tensors must have one dtype: received x=float32, y=int32 "
                       "(K::cast(y, \"float32\") converts)",
                       TypeError);
  CHECK_THROWS_WITH_AS(row * K::ones({2}), "[multiply] shapes must broadcast: received x=(3,), y=(2,)",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      K::exp(whole), "[exp] x must be floating (float16, bfloat16, float32 or float64): received dtype=int32",
      TypeError);
  CHECK_THROWS_AS(Tensor() + row, ValueError);
}

TEST_CASE("every broadcast layout agrees with the elements") {
  for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{{{5, 3}, {3}},
                                                                 {{5, 3}, {5, 1}},
                                                                 {{4, 1, 7}, {1, 3, 1}},
                                                                 {{2, 3, 70}, {3, 70}},
                                                                 {{600, 3}, {3}},
                                                                 {{2, 40, 3}, {2, 1, 3}},
                                                                 {{1}, {300}},
                                                                 {{}, {2, 2}},
                                                                 {{0, 3}, {3}}}) {
    const Tensor x = K::random_normal(a, {.seed = 1}), y = K::random_normal(b, {.seed = 2});
    const Tensor got = x - y;
    const Tensor full_x = K::broadcast_to(x, got.shape()), full_y = K::broadcast_to(y, got.shape());
    for (std::int64_t i = 0; i < got.size(); ++i)
      REQUIRE(got.data<float>()[i] == full_x.data<float>()[i] - full_y.data<float>()[i]);
    CHECK(values<float>(got) == values<float>(-(y - x)));
  }
}

TEST_CASE("comparisons and arithmetic of every dtype agree with the elements") {
  for (const char* dtype :
       {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"})
    for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{{{1}, {1}},
                                                                   {{7}, {7}},
                                                                   {{16}, {16}},
                                                                   {{131}, {131}},
                                                                   {{3, 67}, {67}},
                                                                   {{67}, {3, 67}},
                                                                   {{5, 37}, {5, 1}},
                                                                   {{40, 3}, {40, 1}},
                                                                   {{70001}, {1}}}) {
      CAPTURE(dtype);
      const auto of = [dtype](const Shape& shape, int seed) {
        return K::cast(K::round(K::random_uniform(shape, {.minval = 0, .maxval = 3, .seed = seed})), dtype);
      };
      const Tensor x = of(a, 1), y = of(b, 2), equal = x == y, greater = x > y, unequal = x != y;
      const auto xs = values<float>(K::broadcast_to(x, equal.shape())),
                 ys = values<float>(K::broadcast_to(y, equal.shape()));
      const Tensor sum = x.dtype().is_bool() ? K::where(x, K::ones_like(y), y) : x * y + 2 * x;
      std::vector<float> equals, greaters, sums;
      for (std::size_t i = 0; i < xs.size(); ++i) {
        equals.push_back(xs[i] == ys[i]);
        greaters.push_back(xs[i] > ys[i]);
        sums.push_back(x.dtype().is_bool() ? float(xs[i] || ys[i]) : xs[i] * ys[i] + 2 * xs[i]);
      }
      CHECK(close(values<float>(equal), equals, exactly));
      CHECK(close(values<float>(K::equal(unequal, false)), equals, exactly));
      CHECK(close(values<float>(greater), greaters, exactly));
      CHECK(close(values<float>(sum), sums, exactly));
    }
}

TEST_CASE("casts of every dtype to every other agree with the elements") {
  const std::vector<double> some{0, 1, 2.75, 100, 127, 0.5, 3, 7, 99, 12, 64.25};
  for (const int n : {1, 7, 8, 9, 300, 600})
    for (const char* from :
         {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"})
      for (const char* to :
           {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"}) {
        std::vector<double> given(n), wanted(n);
        for (int i = 0; i < n; ++i) {
          const double value = some[i % some.size()];
          given[i] = std::string(from) == "bool"        ? value != 0
                     : ktape::DType(from).is_floating() ? value
                                                        : std::trunc(value);
          wanted[i] = std::string(to) == "bool"        ? given[i] != 0
                      : ktape::DType(to).is_floating() ? given[i]
                                                       : std::trunc(given[i]);
        }
        const auto found = K::get_value(K::cast(K::cast(K::constant(given, {.dtype = "float64"}), from), to));
        CHECK(close(found, wanted, exactly));
      }
}

TEST_CASE("half precision computes in float and rounds once") {
  const Tensor x = K::cast(K::constant({0.1, 1000.}), "float16");
  CHECK(K::dtype(K::tanh(x)) == "float16");
  CHECK(close(K::tanh(x).item<float>(0), std::tanh(0.1), {.rtol = 1e-3}));
  CHECK((x * x).item<float>(1) == inf);
}

TEST_CASE("either operand of a binary function may be a number") {
  const Tensor x = K::constant({-1.f, 0.5f, 2.f});
  CHECK(values<float>(K::maximum(x, 0.f)) == std::vector<float>{0, 0.5, 2});
  CHECK(values<float>(K::maximum(0, x)) == std::vector<float>{0, 0.5, 2});
  CHECK(values<float>(K::minimum(1, x)) == std::vector<float>{-1, 0.5, 1});
  CHECK(values<float>(K::equal(0.5, x)) == std::vector<float>{0, 1, 0});
  CHECK(values<float>(K::not_equal(x, 0.5)) == std::vector<float>{1, 0, 1});
  CHECK(values<float>(K::greater(x, 0.5f)) == std::vector<float>{0, 0, 1});
  CHECK(values<float>(K::greater_equal(x, 0.5f)) == std::vector<float>{0, 1, 1});
  CHECK(values<float>(K::less(0.5f, x)) == std::vector<float>{0, 0, 1});
  CHECK(values<float>(K::less_equal(0.5f, x)) == std::vector<float>{0, 1, 1});
  CHECK(values<float>(0.5f >= x) == std::vector<float>{1, 1, 0});
  CHECK(values<float>(K::pow(2.0, x)) == std::vector<float>{0.5, std::sqrt(2.f), 4});
  CHECK(values<float>(K::where(x > 0, 1.f, x)) == std::vector<float>{-1, 1, 1});
  CHECK(values<float>(K::where(true, x, 0)) == values<float>(x));
  CHECK(K::maximum(1, 2.5).item() == 2.5f);
  CHECK(K::maximum(1, 2.5).dtype() == K::floatx());
  CHECK(K::minimum(K::constant({3, 5}, {.dtype = "int64"}), 4).dtype() == "int64");

  const Variable v = K::variable({0.5f, 3.f});
  CHECK(values<float>(K::gradients(K::maximum(v, 1.f), {v})[0]) == std::vector<float>{0, 1});
  CHECK(close(values<float>(K::gradients(K::pow(2.f, v), {v})[0])[1], 8 * std::log(2)));
  CHECK_THROWS_AS(K::maximum(K::constant({3, 5}, {.dtype = "int32"}), 0.5), TypeError);

  const Tensor p = K::placeholder({K::None, 2});
  CHECK(values<float>(K::function({p}, {K::where(p > 0, p, -1.f)})({{{1.f, -2.f}}})[0]) ==
        std::vector<float>{1, -1});
}

TEST_CASE("logical operators on bools, and bit by bit on integers") {
  const Tensor a = K::constant({true, true, false, false}), b = K::constant({true, false, true, false});
  CHECK(values<float>(a & b) == std::vector<float>{1, 0, 0, 0});
  CHECK(values<float>(a | b) == std::vector<float>{1, 1, 1, 0});
  CHECK(values<float>(a ^ b) == std::vector<float>{0, 1, 1, 0});
  CHECK(values<float>(~a) == std::vector<float>{0, 0, 1, 1});
  CHECK((~a).dtype() == "bool");
  CHECK(values<float>(a & true) == values<float>(a));
  CHECK(values<float>(false | b) == values<float>(b));
  CHECK((K::reshape(a, {4, 1}) & b).shape() == Shape{4, 4});

  const Tensor n = K::constant({12, 10}, {.dtype = "uint8"});
  CHECK(values<float>(n & 6) == std::vector<float>{4, 2});
  CHECK(values<float>(n | 1) == std::vector<float>{13, 11});
  CHECK(values<float>(~n) == std::vector<float>{243, 245});
  CHECK_THROWS_WITH_AS(K::ones({2}) & K::ones({2}),
                       "[logical_and] x must be bool or of integers: received dtype=float32", TypeError);
  CHECK_THROWS_AS(a & n, TypeError);

  const Tensor p = K::placeholder({K::None}), mask = (p > 0) & ~(p > 2);
  CHECK(values<float>(K::function({p}, {mask})({{-1.f, 1.f, 3.f}})[0]) == std::vector<float>{0, 1, 0});
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"abs", of(K::abs), {awkward_numbers()}},
      {"sqrt", of(K::sqrt), {positive_numbers()}},
      {"square", of(K::square), {awkward_numbers()}},
      {"exp", of(K::exp), {normal({2, 3})}},
      {"expm1", of(K::expm1), {normal({2, 3})}},
      {"log", of(K::log), {positive_numbers()}},
      {"log1p", of(K::log1p), {positive_numbers()}},
      {"sign", of(K::sign), {awkward_numbers()}},
      {"pow", [](In in) { return K::pow(in[0], 3); }, {awkward_numbers()}},
      {"pow", of2(K::pow), {positive_numbers(), normal({3})}},
      {"clip", [](In in) { return K::clip(in[0], -1, 1); }, {awkward_numbers()}},
      {"sin", of(K::sin), {awkward_numbers()}},
      {"cos", of(K::cos), {awkward_numbers()}},
      {"tanh", of(K::tanh), {awkward_numbers()}},
      {"maximum", of2(K::maximum), {awkward_numbers(), normal({3})}},
      {"minimum", of2(K::minimum), {awkward_numbers(), normal({3})}},
      {"where", [](In in) { return K::where(in[0] > 0, in[0], in[1]); }, {normal({2, 3}), normal({3}, 2)}},
      {"erf", of(K::erf), {normal({2, 3})}},
      // Results that jump.
      {"round", no_gradient}, {"equal", no_gradient}, {"not_equal", no_gradient}, {"greater", no_gradient},
      {"greater_equal", no_gradient}, {"less", no_gradient}, {"less_equal", no_gradient},
      {"is_nan", no_gradient}, {"is_finite", no_gradient},
  };
});
// clang-format on

}  // namespace
