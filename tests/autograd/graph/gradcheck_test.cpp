#include <doctest/doctest.h>
#include <ktape/autograd/graph/gradcheck.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>

#include <cmath>

#include "../../close.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

using List = std::vector<Tensor>;

Tensor doubles(const ArrayLike& value) { return value.tensor("float64", "float64"); }

bool contains(const GradcheckReport& report, const char* words) {
  return report.message.find(words) != std::string::npos;
}

/// Returns x * x with a gradient that is wrong by `factor` in the element `at`.
Tensor wrong_square(const Tensor& x, std::int64_t at, double factor) {
  return custom_gradient([=](const Tensor& x) {
    return std::pair{x * x, [=](const Tensor& dy) {
                       const Tensor g = dy * 2 * x;
                       Tensor weights = g * 0 + 1;
                       weights.pointer<double>()[at] = factor;
                       return g * weights;
                     }};
  })(x);
}

}  // namespace

TEST_CASE("correct gradients pass, of first and second order, for every subset of inputs") {
  const GradcheckReport report = gradcheck(
      [](const List& in) { return K::tanh(in[0]) * in[1] / K::exp(in[2]); },
      {doubles({{0.5, -1, 2}, {0, 3, -0.25}}), doubles({1, -2, 0.5}), doubles(0.75)}, {.second_order = true});
  CHECK_MESSAGE(report.ok, report.message);
  CHECK(report.message == "");
}

TEST_CASE("a wrong gradient is reported with op, input, index and both values") {
  const GradcheckReport report =
      gradcheck([](const List& in) { return in[0] + wrong_square(in[1], 5, 0.5); },
                {doubles(1), doubles({{1, 2, 3}, {4, 5, 6}})}, {.op = "wrong_square"});
  CHECK(!report);
  CHECK(contains(report, "[wrong_square] gradient of input 1 at (1, 2): analytic "));
  CHECK(contains(report, ", numeric "));
  CHECK(!contains(report, "input 0"));
}

TEST_CASE("the report shows the wrong gradient: half of the derivative") {
  const auto report = gradcheck([](const List& in) { return wrong_square(in[0], 0, 0.5); }, {doubles(3)});
  double analytic = 0, numeric = 0;
  REQUIRE(std::sscanf(report.message.c_str(),
                      "[function] gradient of input 0 at (): analytic %lf, numeric %lf", &analytic,
                      &numeric) == 2);
  CHECK(close(analytic, numeric / 2, {.rtol = 1e-6}));
}

TEST_CASE("a gradient that is wrong only when other inputs are constant is found") {
  const auto choosy = [](const List& in) {
    const Tensor y = in[0] * in[1];
    return in[0].node() && in[1].node() ? y : y.detach() + in[0] * in[1] * 0;
  };
  const auto report = gradcheck(choosy, {doubles({2, 3}), doubles({4, 5})});
  CHECK(contains(report, "gradient of input 0"));
  CHECK(contains(report, "recorded inputs 0"));
  CHECK(contains(report, "\n[function] gradient of input 1"));
  CHECK(gradcheck(choosy, {doubles({2, 3}), doubles({4, 5})}, {.inputs = {0, 1}}).ok);
}

TEST_CASE("a wrong second derivative of a correct first derivative is found") {
  const auto frozen = custom_gradient([](const Tensor& x) {
    return std::pair{x * x, [x](const Tensor& dy) { return dy * 2 * x.detach(); }};
  });
  const auto f = [&](const List& in) { return frozen(in[0]); };
  CHECK(gradcheck(f, {doubles({1, 2})}).ok);
  const auto report = gradcheck(f, {doubles({1, 2})}, {.second_order = true, .op = "frozen"});
  CHECK(contains(report, "[frozen] second-order gradient of input 0 at ("));
  CHECK(contains(report, "analytic 0, numeric "));
}

TEST_CASE("NaN on one side is a failure, and so is an infinity") {
  const auto nan = custom_gradient([](const Tensor& x) {
    return std::pair{x * 1, [](const Tensor& dy) { return dy * NAN; }};
  });
  CHECK(contains(gradcheck([&](const List& in) { return nan(in[0]); }, {doubles(1)}), "analytic nan"));
  const auto inf = custom_gradient([](const Tensor& x) {
    return std::pair{x * 1, [](const Tensor& dy) { return dy * HUGE_VAL; }};
  });
  CHECK(contains(gradcheck([&](const List& in) { return inf(in[0]); }, {doubles(1)}), "inf"));
}

TEST_CASE("NaN agrees with NaN only with equal_nan") {
  const auto f = [](const List& in) { return K::sqrt(in[0]) * NAN; };
  CHECK(contains(gradcheck(f, {doubles(1)}), "analytic nan, numeric nan"));
  CHECK(gradcheck(f, {doubles(1)}, {.equal_nan = true}).ok);
}

TEST_CASE("no gradient counts as zeros") {
  CHECK(gradcheck([](const List& in) { return in[0] * 2; }, {doubles({1, 2}), doubles({1, 2})},
                  {.second_order = true})
            .ok);
  CHECK(contains(gradcheck([](const List& in) { return in[0].detach() * 2; }, {doubles(1)}),
                 "analytic 0, numeric"));
}

TEST_CASE("several results are checked together; inputs and results of other dtypes pass through") {
  const Tensor flags = ArrayLike({true, false}).tensor("bool", "bool");
  const auto report = gradcheck(
      [](const List& in) {
        return std::vector<Tensor>{K::where(in[1], in[0], in[0] * 3), K::exp(in[0]), in[1], Tensor()};
      },
      {doubles({1, 2}), flags}, {.second_order = true});
  CHECK_MESSAGE(report.ok, report.message);
}

TEST_CASE("elements that are not finite are passed on unchecked, empty tensors have none") {
  CHECK(gradcheck([](const List& in) { return K::tanh(in[0]); }, {doubles({HUGE_VAL, 1})},
                  {.second_order = true})
            .ok);
  CHECK(gradcheck([](const List& in) { return K::tanh(in[0]); }, {Tensor::empty({0, 2}, "float64")},
                  {.second_order = true})
            .ok);
}

TEST_CASE("arguments that cannot be checked are refused") {
  const auto f = [](const List& in) { return in[0] * 2; };
  const Tensor x = doubles({1, 2});
  CHECK_THROWS_WITH_AS(gradcheck(f, {ArrayLike(1).tensor("float32", "float32")}),
                       "[gradcheck] floating inputs must be float64: received dtype=float32 as input 0",
                       TypeError);
  CHECK_THROWS_WITH_AS(gradcheck(f, {x, Tensor()}),
                       "[gradcheck] the inputs must be defined: received an undefined tensor as input 1",
                       ValueError);
  const Tensor waiting = K::placeholder({.shape = {2}, .dtype = "float64", .name = "waiting"});
  CHECK_THROWS_WITH_AS(gradcheck(f, {x, waiting}), doctest::Contains("waits for the placeholder 'waiting'"),
                       ValueError);
  CHECK_THROWS_WITH_AS(gradcheck([&](const List& in) { return in[0] * waiting; }, {x}),
                       doctest::Contains("waits for the placeholder 'waiting'"), ValueError);
  CHECK_THROWS_WITH_AS(gradcheck(f, {}), "[gradcheck] there must be a float64 input: received none",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      gradcheck(f, {x}, {.inputs = {1}}),
      "[gradcheck] an input to check must be the position of a float64 input: received input=1 of 1",
      ValueError);
  CHECK_THROWS_WITH_AS(gradcheck(f, {x}, {.epsilon = 0}),
                       "[gradcheck] epsilon must be a positive number: received epsilon=0", ValueError);
  CHECK_THROWS_WITH_AS(gradcheck([](const List& in) { return in[0] < 1; }, {x}, {.op = "less"}),
                       "[gradcheck] the function must return a floating tensor: received none from less",
                       ValueError);
  NoGrad off;
  CHECK_THROWS_WITH_AS(gradcheck(f, {x}), "[gradcheck] ops must be recorded: received a call inside NoGrad",
                       ValueError);
}
