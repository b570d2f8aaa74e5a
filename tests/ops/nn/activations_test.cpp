#include <ktape/autograd/tensor_metadata.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include <cmath>
#include <limits>

#include "../catalogue.hpp"
#include "../check.hpp"

using namespace ktape;
namespace K = ktape::backend;
using doctest::Contains;

namespace {

using List = std::vector<Tensor>;
using Function = std::function<Tensor(const Tensor&)>;
const double inf = std::numeric_limits<double>::infinity();

void check_gradients(const char* op, const Function& f, const Tensor& x) {
  ::check_gradients(op, [&](In in) { return f(in[0]); }, {x});
}

/// Returns the gradient of the gradient, whose values must be finite numbers for any x.
Tensor curvature(const Function& f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  return tape.gradient(tape.gradient(y, x), x);
}

const std::vector<double> awkward{-1e4, -800, -90, -20, -1.5, -1e-3, 1e-3, 0.5, 3, 20, 90, 800, 1e4};

}  // namespace

TEST_CASE("activations have gradients of both orders") {
  const Tensor x = doubles({{-30, -6, -2.4, -1}, {-1e-3, 1e-3, 0.3, 0.7}, {1.2, 2.4, 7, 40}});
  check_gradients(
      "sigmoid", [](const Tensor& v) { return K::sigmoid(v); }, x);
  check_gradients(
      "hard_sigmoid", [](const Tensor& v) { return K::hard_sigmoid(v); }, x);
  check_gradients(
      "elu", [](const Tensor& v) { return K::elu(v, 0.7); }, x);
  check_gradients(
      "softplus", [](const Tensor& v) { return K::softplus(v); }, x);
  check_gradients(
      "softsign", [](const Tensor& v) { return K::softsign(v); }, x);
  check_gradients(
      "gelu", [](const Tensor& v) { return K::gelu(v); }, x);
  check_gradients(
      "gelu", [](const Tensor& v) { return K::gelu(v, {.approximate = true}); }, x);
  check_gradients(
      "l2_normalize", [](const Tensor& v) { return K::l2_normalize(v, 1); }, x);
  for (int axis : {0, 1, -1}) {
    check_gradients(
        "softmax", [=](const Tensor& v) { return K::softmax(v, axis); }, x);
    check_gradients(
        "log_softmax", [=](const Tensor& v) { return K::log_softmax(v, axis); }, x);
  }
  for (const K::ReluOptions& o : {K::ReluOptions{},
                                  {.alpha = 0.2},
                                  {.max_value = 1.0},
                                  {.threshold = 0.5},
                                  {.alpha = 0.1, .max_value = 6, .threshold = -0.5}})
    check_gradients(
        "relu", [=](const Tensor& v) { return K::relu(v, o); }, x);
}

TEST_CASE("activations and both gradients are finite however large the argument") {
  const std::vector<std::pair<const char*, Function>> all = {
      {"sigmoid", [](const Tensor& v) { return K::sigmoid(v); }},
      {"elu", [](const Tensor& v) { return K::elu(v); }},
      {"softplus", [](const Tensor& v) { return K::softplus(v); }},
      {"softsign", [](const Tensor& v) { return K::softsign(v); }},
      {"gelu", [](const Tensor& v) { return K::gelu(v); }},
      {"gelu with tanh", [](const Tensor& v) { return K::gelu(v, {.approximate = true}); }},
      {"softmax", [](const Tensor& v) { return K::softmax(v); }},
      {"log_softmax", [](const Tensor& v) { return K::log_softmax(v); }}};
  for (const auto& [title, f] : all)
    for (const char* dtype : {"float32", "float64"}) {
      const Tensor x = K::constant(awkward, {.dtype = dtype});
      const std::string name = title;
      INFO(name, " ", dtype);
      CHECK(K::all(K::is_finite(f(x))).item<bool>());
      CHECK(K::all(K::is_finite(slope(f, x))).item<bool>());
      CHECK(K::all(K::is_finite(curvature(f, x))).item<bool>());
    }
}

TEST_CASE("activations are exact where the plain formula rounds to 0") {
  CHECK(close(K::softplus(K::constant(-80.f)).item<double>(), std::exp(-80.0), {.rtol = 1e-5}));
  CHECK(K::softplus(K::constant(500.f)).item() == 500);
  CHECK(close(K::sigmoid(K::constant(-80.f)).item<double>(), std::exp(-80.0), {.rtol = 1e-5}));
  CHECK(close(K::elu(K::constant(-1e-7f)).item<double>(), -1e-7, {.rtol = 1e-6}));
  CHECK(close(K::gelu(K::constant(-10.f)).item<double>(), -7.6198530e-23, {.rtol = 1e-4}));
  CHECK(K::log_softmax(K::constant({0.f, 200.f})).item(0) == -200);
  CHECK(values(K::softmax(doubles({1000, 1000, -1000}))) == std::vector<double>{0.5, 0.5, 0});
}

namespace {
/// Returns rows of n numbers: finite, with a -infinity, with an infinity, of -infinities only, and again.
Tensor rows_with_infinities(std::int64_t rows, std::int64_t n, const char* dtype) {
  const Tensor x = normal({rows, n}, 1, dtype);
  std::vector<double> kinds, at(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < rows; ++i) kinds.push_back(static_cast<double>(i % 4));
  at[static_cast<std::size_t>(n / 2)] = 1;
  const Tensor kind = K::expand_dims(doubles(kinds)), there = K::equal(doubles(at), 1.);
  const Tensor low = K::full({}, -inf, dtype), high = K::full({}, inf, dtype);
  const Tensor lows = K::equal(kind, 3.) | (K::equal(kind, 1.) & there);
  return K::where(lows, low, K::where(K::equal(kind, 2.) & there, high, x)).detach();
}

/// Returns x with 0 for NaN, and a mask of the NaNs.
List without_nan(const Tensor& x) {
  const Tensor nan = K::is_nan(x);
  return {K::where(nan, K::zeros_like(x), x), K::cast(nan, "float32")};
}
}  // namespace

TEST_CASE("softmax of a row with an infinity has one gradient, along whichever axis the row lies") {
  for (const char* dtype : {"float32", "float64"})
    for (const auto& [rows, n] : {std::pair{4, 5}, {8, 37}, {36, 130}})
      for (const bool log : {false, true}) {
        CAPTURE(log);
        const Tensor x = rows_with_infinities(rows, n, dtype), weights = normal({rows, n}, 2, dtype);
        // Lays (rows, n) out as (rows, n), (n, rows) or (2, n, rows / 2).
        const auto at_axis = [rows = rows, n = n](const Tensor& t, int axis) {
          return axis == 1   ? t
                 : axis == 0 ? K::transpose(t)
                             : K::permute_dimensions(K::reshape(t, {2, rows / 2, n}), {0, 2, 1});
        };
        const auto gradient = [&](int axis) {
          const int along = axis == 2 ? 1 : axis;
          return slope(
              [&](const Tensor& v) {
                return at_axis(weights, axis) * (log ? K::log_softmax(v, along) : K::softmax(v, along));
              },
              at_axis(x, axis));
        };
        const List wanted = without_nan(gradient(1));
        CHECK(K::max(K::sum(wanted[1], 1)).item<int>() == n);  // of an infinity: all
        CHECK(K::max(wanted[1][0]).item<int>() == 0);
        CHECK(K::max(wanted[1][1]).item<int>() == 0);  // a -infinity is a weight of 0
        for (const int axis : {0, 2}) {
          const List got = without_nan(gradient(axis));
          CHECK(values(got[1]) == values(at_axis(wanted[1], axis)));
          CHECK(close(got[0], at_axis(wanted[0], axis), {.atol = 1e-5}));
        }
      }
}

TEST_CASE("relu: the threshold is a gate, max_value clips, alpha leaks from the threshold, NaN stays") {
  const Tensor x = doubles({-2, -0.5, 0, 0.5, 1, 6, 9});
  using V = std::vector<double>;
  CHECK(values(K::relu(x)) == V{0, 0, 0, .5, 1, 6, 9});
  CHECK(values(K::relu(x, {.alpha = 0.5})) == V{-1, -.25, 0, .5, 1, 6, 9});
  CHECK(values(K::relu(x, {.alpha = 0.5, .threshold = 1})) == V{-1.5, -.75, -.5, -.25, 0, 6, 9});
  CHECK(values(K::relu(x, {.threshold = -1})) == V{0, -.5, 0, .5, 1, 6, 9});
  CHECK(values(K::relu(x, {.max_value = 1.0, .threshold = -1})) == V{0, 0, 0, .5, 1, 1, 1});
  CHECK(values(K::relu(x, {.max_value = 6})) == V{0, 0, 0, .5, 1, 6, 6});
  CHECK(values(slope([](const Tensor& v) { return K::relu(v, {.max_value = 6}); }, x)) ==
        V{0, 0, 0, 1, 1, 0, 0});
  CHECK(values(slope([](const Tensor& v) { return K::relu(v, {.max_value = 1.0}); }, x)) ==
        V{0, 0, 0, 1, 1, 0, 0});
  CHECK(values(slope([](const Tensor& v) { return K::relu(v, {.alpha = 0.25}); }, x)) ==
        V{.25, .25, .25, 1, 1, 1, 1});
  CHECK(std::isnan(K::relu(doubles(NAN)).item<double>()));
  CHECK(std::isnan(K::relu(doubles(NAN), {.max_value = 6}).item<double>()));
}

TEST_CASE("relu of integers: whole options, in their dtype; leaky alone, in float32") {
  using V = std::vector<double>;
  for (const char* dtype : {"int8", "int16", "int32", "int64"}) {
    CAPTURE(dtype);
    const Tensor x = ints({-4, -1, 0, 1, 3, 9}, dtype);
    CHECK(K::relu(x).dtype() == dtype);
    CHECK(values(K::relu(x)) == V{0, 0, 0, 1, 3, 9});
    CHECK(values(K::relu(x, {.max_value = 6})) == V{0, 0, 0, 1, 3, 6});
    CHECK(values(K::relu(x, {.threshold = 2})) == V{0, 0, 0, 0, 3, 9});
    CHECK(values(K::relu(x, {.alpha = 2, .max_value = 5, .threshold = 1})) == V{-10, -4, -2, 0, 3, 5});
    CHECK(K::relu(x, {.alpha = 2, .threshold = 1}).dtype() == dtype);
    CHECK(K::relu(x, {.alpha = 0.5}).dtype() == "float32");
    CHECK(values(K::relu(x, {.alpha = 0.5})) == V{-2, -.5, 0, 1, 3, 9});
  }
  CHECK(values(K::relu(ints({0, 200}, "uint8"))) == V{0, 200});
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  CHECK(K::relu(K::constant({large}, {.dtype = "int64"})).item<std::int64_t>(0) == large);
  for (const K::ReluOptions& o :
       {K::ReluOptions{.max_value = 6.5}, {.threshold = 0.5}, {.alpha = 0.5, .max_value = 6}})
    CHECK_THROWS_WITH_AS(K::relu(ints({1}), o),
                         Contains("[relu] a number must fit the tensor's dtype int32: received number="),
                         TypeError);
  CHECK_THROWS_AS(K::relu(ints({1}, "uint8"), {.alpha = 1, .threshold = 1}), TypeError);
}

TEST_CASE("softmax and sigmoid note the logits that they were computed from") {
  const Tensor x = doubles({{1, 2}, {3, 4}}), y = K::softmax(x, 0), z = K::sigmoid(x);
  REQUIRE(computed_from(y, "softmax"));
  CHECK(computed_from(y, "softmax")->axis == 0);
  CHECK(!computed_from(y, "sigmoid"));
  REQUIRE(computed_from(z, "sigmoid"));
  CHECK(computed_from(z, "sigmoid")->input.get() == x.get());
  CHECK(!computed_from(K::stop_gradient(z), "sigmoid"));
  CHECK(!computed_from(K::relu(x), "relu"));
}

TEST_CASE("l2_normalize of zeros is zeros, with a finite gradient") {
  const Tensor x = doubles({{0, 0}, {3, 4}});
  CHECK(values(K::l2_normalize(x, 1)) == std::vector<double>{0, 0, 0.6, 0.8});
  CHECK(close(slope([](const Tensor& v) { return K::l2_normalize(v, 1); }, x).item<double>(0, 0), 1e6));
  CHECK(close(K::l2_normalize(x).item<double>(1, 0), 0.6));
  const Tensor y = K::reshape(K::arange(24., {.dtype = "float64"}), {2, 3, 4});
  for (const ktape::Axes& axes : {ktape::Axes(0), ktape::Axes(1), ktape::Axes{0, 2}, ktape::Axes()}) {
    const ktape::NoGrad off;
    CHECK(K::max(K::abs(K::l2_normalize(y, axes) * K::sqrt(K::sum(K::square(y), axes, true)) - y))
              .item<double>() < 1e-13);
  }
}

TEST_CASE("in_top_k: ties are in, odd targets and rows are not") {
  const Tensor p =
      K::constant({{0.1, 0.5, 0.5, 0.2}, {0.9, 0.1, 0.3, 0.3}, {1, 2, 3, inf}, {1, 2, 3, 4}, {4, 3, 2, 1}});
  const auto in = [&](std::vector<int> targets, int k) {
    return values<int>(K::in_top_k(p, K::constant(targets, {.dtype = "int32"}), k));
  };
  CHECK(in({2, 1, 3, 4, -1}, 1) == std::vector<int>{1, 0, 0, 0, 0});
  CHECK(in({3, 3, 0, 2, 1}, 2) == std::vector<int>{0, 1, 0, 1, 1});
  CHECK(in({3, 3, 0, 0, 3}, 0) == std::vector<int>{0, 0, 0, 0, 0});
  CHECK(in({0, 1, 0, 0, 3}, 9) == std::vector<int>{1, 1, 0, 1, 1});
  CHECK_THROWS_WITH_AS(K::in_top_k(p, K::zeros({4}, {.dtype = "int32"}), 1),
                       Contains("[in_top_k] predictions must be (samples, classes)"), ValueError);
  CHECK_THROWS_WITH_AS(K::in_top_k(p, K::zeros({5}), 1), Contains("[in_top_k] targets must be integers"),
                       TypeError);
}

TEST_CASE("activations name the op and what is wrong") {
  CHECK_THROWS_WITH_AS(K::softmax(K::constant(1.f)), Contains("[softmax] axis must be in"), ValueError);
  CHECK_THROWS_WITH_AS(K::log_softmax(K::ones({2}), 1), Contains("[log_softmax] axis"), ValueError);
  CHECK_THROWS_WITH_AS(K::relu(K::ones({2}, {.dtype = "bool"})), Contains("[relu] x must be floating"),
                       TypeError);
  CHECK_THROWS_WITH_AS(K::sigmoid(K::ones({2}, {.dtype = "bool"})), Contains("[sigmoid] x must be floating"),
                       TypeError);
  CHECK_THROWS_WITH_AS(K::l2_normalize(K::ones({2}), 1), Contains("axis"), ValueError);
}

TEST_CASE_TEMPLATE("hard_sigmoid passes the gradient at both of its bounds", T, float, double) {
  const Tensor x = K::constant({-2.6, -2.5, 0., 2.5, 2.6}, {.dtype = dtype_of<T>()});
  const T passed = static_cast<T>(0.2);
  CHECK(values<T>(slope(K::hard_sigmoid, x)) == std::vector<T>{0, passed, passed, passed, 0});
}

TEST_CASE("a clipped NaN has slope 0, for it lies between no bounds") {
  const Tensor x = doubles({NAN, 1});
  const auto slope_of = [&](auto f) { return values(slope(f, x)); };
  CHECK(slope_of([](const Tensor& v) { return K::clip(v, 0, 2); }) == Values{0, 1});
  CHECK(slope_of([](const Tensor& v) { return K::clip(v, K::None, 2.); }) == Values{0, 1});
  CHECK(slope_of([](const Tensor& v) { return K::sqrt(v); }) == Values{0, 0.5});
  CHECK(slope_of([](const Tensor& v) { return K::hard_sigmoid(v); }) == Values{0, 0.2});
  CHECK(slope_of([](const Tensor& v) { return K::relu(v, {.max_value = 2.}); }) == Values{0, 1});
  CHECK(slope_of([](const Tensor& v) { return K::relu(v, {.threshold = 0.5}); }) == Values{0, 1});
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"sigmoid", of(K::sigmoid), {awkward_numbers()}},
      {"hard_sigmoid", of(K::hard_sigmoid), {awkward_numbers()}},
      {"relu", [](In in) { return K::relu(in[0], {.alpha = 0.1, .max_value = 6., .threshold = 0.2}); }, {awkward_numbers()}},
      {"elu", [](In in) { return K::elu(in[0], 0.7); }, {awkward_numbers()}},
      {"softplus", of(K::softplus), {awkward_numbers()}},
      {"softsign", of(K::softsign), {awkward_numbers()}},
      {"softmax", [](In in) { return K::softmax(in[0]); }, {normal({2, 3})}},
      {"l2_normalize", [](In in) { return K::l2_normalize(in[0], 1); }, {normal({2, 3})}},
      {"gelu", [](In in) { return K::gelu(in[0]); }, {normal({2, 3})}},
      {"log_softmax", [](In in) { return K::log_softmax(in[0]); }, {normal({2, 3})}},
      // Results that jump.
      {"in_top_k", no_gradient},
  };
});
// clang-format on

}  // namespace
