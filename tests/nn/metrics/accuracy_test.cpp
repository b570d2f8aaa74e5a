#include <ktape/nn/metrics/accuracy.hpp>
#include <ktape/ops/operators.hpp>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;

namespace {

double number(const nn::Metric& metric) { return metric.result().item<double>(); }

}  // namespace

TEST_CASE("\"accuracy\" is binary, sparse or categorical, as the shapes say") {
  const auto accuracy = [](const Tensor& y_true, const Tensor& y_pred) {
    const nn::Metric metric = "accuracy";
    CHECK(metric.name() == "accuracy");
    metric.update_state(y_true, y_pred);
    return number(metric);
  };
  const Tensor scores = doubles({{0.1, 0.7, 0.2}, {0.6, 0.3, 0.1}});
  CHECK(accuracy(doubles({1, 0, 1, 1}), doubles({0.7, 0.2, 0.4, 0.9})) == 0.75);
  CHECK(accuracy(doubles({{1}, {0}}), doubles({{0.7}, {0.6}})) == 0.5);
  CHECK(accuracy(ints({1, 1}), scores) == 0.5);
  CHECK(accuracy(ints({{1}, {0}}), scores) == 1);
  CHECK(accuracy(doubles({{0, 1, 0}, {0, 0, 1}}), scores) == 0.5);
  CHECK(nn::Metric("accuracy").result().item() == 0);
  CHECK(nn::Metric("acc").name() == "acc");
}

TEST_CASE("the k largest scores may hold the true class; ties count") {
  const Tensor scores = doubles({{0.1, 0.5, 0.4}, {0.6, 0.3, 0.1}});
  CHECK(nn::SparseTopKCategoricalAccuracy({.k = 2})(ints({2, 2}), scores).item<double>() == 0.5);
  CHECK(nn::TopKCategoricalAccuracy({.k = 1})(doubles({{0, 1, 0}, {1, 0, 0}}), scores).item<double>() == 1);
}

TEST_CASE("weights of samples weigh their hits") {
  const nn::BinaryAccuracy accuracy({.threshold = 0.25});
  accuracy.update_state(doubles({1, 0, 0}), doubles({0.3, 0.3, 0.2}), {.sample_weight = doubles({1, 3, 4})});
  CHECK(number(accuracy) == 0.625);
}
