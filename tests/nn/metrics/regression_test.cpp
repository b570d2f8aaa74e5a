#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/metrics/regression.hpp>
#include <ktape/ops/operators.hpp>

#include <cmath>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;

TEST_CASE("the root of the mean square is taken over all batches") {
  const nn::RootMeanSquaredError metric;
  metric.update_state(doubles({0, 0}), doubles({1, 1}));
  metric.update_state(doubles({0, 0}), doubles({3, 5}));
  CHECK(close(metric.result().item<double>(), 3));
}

TEST_CASE("the cosine similarity of a metric is 1 for vectors of one direction") {
  const nn::metrics::CosineSimilarity metric;
  CHECK(close(metric(doubles({{1, 2}, {1, 0}}), doubles({{2, 4}, {0, 3}})).item<double>(), 0.5,
              {.rtol = 1e-6}));
}

TEST_CASE("R2 is 1 for perfect predictions, 0 for the mean of the targets") {
  const Tensor y = doubles({{1}, {2}, {3}}), mean = doubles({{2}, {2}, {2}});
  CHECK(nn::R2Score()(y, y).item<double>() == 1);
  CHECK(nn::R2Score()(y, mean).item<double>() == 0);
  const Tensor two = doubles({{1, 1}, {2, 5}, {3, 9}});
  CHECK(nn::R2Score({.class_aggregation = "variance_weighted_average"})(two, two).item<double>() == 1);
}

TEST_CASE("log(cosh) of an error is nearly its magnitude less log(2)") {
  CHECK(close(nn::LogCoshError()(doubles({0}), doubles({30})).item<double>(), 30 - std::log(2.0),
              {.rtol = 1e-6}));
}

namespace {

/// Returns the state of a metric with another value for one entry.
nn::Archive state_with(const nn::Metric& metric, const std::string& name, const Tensor& value) {
  nn::Archive kept;
  metric.impl().state(kept);
  std::vector<nn::Archive::Entry> entries = kept.entries();
  for (auto& [key, tensor] : entries)
    if (key == name) tensor = value;
  return nn::Archive(entries);
}

}  // namespace

TEST_CASE("a state with lists of different lengths is an error, and changes no sum") {
  const nn::R2Score metric({.class_aggregation = None});
  metric.update_state(doubles({{1, 1}, {2, 5}, {3, 9}}), doubles({{1, 2}, {2, 5}, {3, 7}}));
  const Values before = values(metric.result());
  for (const char* name : {"squares", "errors", "count"}) {
    CAPTURE(name);
    nn::Archive longer = state_with(metric, name, doubles({1, 2, 3}));
    CHECK_THROWS_AS(metric.impl().state(longer), ValueError);
    CHECK(values(metric.result()) == before);
  }
  nn::Archive longer = state_with(metric, "sum", doubles({1, 2, 3}));
  CHECK_THROWS_WITH_AS(metric.impl().state(longer), "[Archive] 'squares' must have 3 numbers: received 2",
                       ValueError);
  CHECK(values(metric.result()) == before);
}
