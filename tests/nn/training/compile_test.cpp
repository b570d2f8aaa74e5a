#include <ktape/nn/metrics/confusion.hpp>
#include <ktape/nn/training/compile.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;
using nn::OutputMetrics, nn::PerOutput;
using Names = std::vector<std::string>;

namespace {

Names names_of(const nn::MetricList& metrics) {
  Names names;
  for (const nn::Metric& metric : metrics) names.push_back(metric.name());
  return names;
}

Tensor distance(const Tensor& t, const Tensor& p) { return K::mean(K::abs(t - p)); }

}  // namespace

TEST_CASE("PerOutput holds one value, a list, or values by name") {
  CHECK(PerOutput<double>().form() == PerOutput<double>::Empty);
  const PerOutput<double> one = 0.5, list = {1., 2.}, named = {{"a", 1.}, {"b", 3.}};
  CHECK(one.form() == PerOutput<double>::One);
  CHECK(one.values()[0].second == 0.5);
  CHECK(list.form() == PerOutput<double>::List);
  CHECK(list.values().size() == 2);
  CHECK(named.form() == PerOutput<double>::ByName);
  CHECK(named.values()[1] == std::pair<std::string, double>{"b", 3});
  CHECK(PerOutput<double>(std::vector<double>{4}).form() == PerOutput<double>::List);
}

TEST_CASE("losses may be names in each form") {
  const PerOutput<nn::Loss> one = "mse", list = {"mse", "mae"}, named = {{"a", "mse"}};
  CHECK(one.form() == PerOutput<nn::Loss>::One);
  CHECK(list.form() == PerOutput<nn::Loss>::List);
  CHECK(named.form() == PerOutput<nn::Loss>::ByName);
  CHECK(list.values()[1].second.defined());
}

TEST_CASE("one metric and a list of metrics hold for every output") {
  CHECK(OutputMetrics().empty());
  const OutputMetrics one = "mae";
  CHECK(names_of(one.all()) == Names{"mae"});
  const OutputMetrics several = {"mae", nn::AUC({.name = "area"}), "mse"};
  CHECK(names_of(several.all()) == Names{"mae", "area", "mse"});
  CHECK(several.by_output().empty());
  CHECK(several.by_name().empty());
}

TEST_CASE("a name and a function in braces are one metric") {
  const OutputMetrics metrics = {{"distance", distance}, "mae"};
  CHECK(names_of(metrics.all()) == Names{"distance", "mae"});
  const OutputMetrics with_lambda = {
      "mae", {"near", [](const Tensor& t, const Tensor& p) { return distance(t, p); }}};
  CHECK(names_of(with_lambda.all()) == Names{"mae", "near"});
  metrics.all()[0].update_state(doubles({1, 2}), doubles({2, 4}));
  CHECK(metrics.all()[0].result().item<double>() == 1.5);
}

TEST_CASE("lists in a list are for the outputs; a single metric among them is a list of one metric") {
  const OutputMetrics metrics = {"accuracy", {"mae", "mse"}};
  REQUIRE(metrics.by_output().size() == 2);
  CHECK(names_of(metrics.by_output()[0]) == Names{"accuracy"});
  CHECK(names_of(metrics.by_output()[1]) == Names{"mae", "mse"});
  CHECK(metrics.all().empty());
  const OutputMetrics lists = {{"mae"}, {nn::AUC({.name = "area"})}};
  REQUIRE(lists.by_output().size() == 2);
  CHECK(names_of(lists.by_output()[1]) == Names{"area"});
}

TEST_CASE("lists may have names of outputs") {
  const OutputMetrics metrics = {{"scores", {"accuracy", "mae"}}, {"boxes", {"mse"}}};
  REQUIRE(metrics.by_name().size() == 2);
  CHECK(metrics.by_name()[0].first == "scores");
  CHECK(names_of(metrics.by_name()[0].second) == Names{"accuracy", "mae"});
  CHECK_FALSE(metrics.empty());
}

TEST_CASE("two names in braces are a list of two metrics, not the ends of a text") {
  const OutputMetrics one_output = {{"mae", "mse"}};
  REQUIRE(one_output.by_output().size() == 1);
  CHECK(names_of(one_output.by_output()[0]) == Names{"mae", "mse"});
  const OutputMetrics two_outputs = {{"mae"}, {"mse"}};
  REQUIRE(two_outputs.by_output().size() == 2);
  CHECK(names_of(two_outputs.by_output()[1]) == Names{"mse"});
  const OutputMetrics lists = {{"mae", "mse"}, {"mape", "msle"}};
  REQUIRE(lists.by_output().size() == 2);
  CHECK(names_of(lists.by_output()[1]) == Names{"mape", "msle"});
}
