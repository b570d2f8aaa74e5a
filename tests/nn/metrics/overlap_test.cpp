#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/metrics/overlap.hpp>
#include <ktape/ops/operators.hpp>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;

TEST_CASE("F1 is the harmonic mean of precision and recall, of each class or averaged") {
  const Tensor hot = doubles({{1, 0}, {0, 1}, {1, 0}}),
               scores = doubles({{0.9, 0.1}, {0.6, 0.4}, {0.7, 0.3}});
  CHECK(close(nn::F1Score({.average = "micro"})(hot, scores).item<double>(), 2 / 3.0, {.rtol = 1e-5}));
  CHECK(close(nn::F1Score({.average = "weighted"})(hot, scores).item<double>(), 0.8 * 2 / 3, {.rtol = 1e-5}));
}

TEST_CASE("IoU is the overlap over the union of the pixels of a class") {
  const Tensor y = ints({0, 0, 1, 1, 2}), p = ints({0, 1, 1, 1, 0});
  CHECK(close(nn::IoU({.num_classes = 3, .target_class_ids = {1}})(y, p).item<double>(), 2 / 3.0,
              {.rtol = 1e-6}));
  CHECK(close(nn::MeanIoU({.num_classes = 3})(y, p).item<double>(), (1 / 3.0 + 2 / 3.0 + 0) / 3,
              {.rtol = 1e-6}));
  CHECK(close(nn::MeanIoU({.num_classes = 3, .ignore_class = 2})(y, p).item<double>(), (0.5 + 2 / 3.0) / 2,
              {.rtol = 1e-6}));
}

TEST_CASE("BinaryIoU compares predictions with a threshold") {
  const nn::BinaryIoU metric({.target_class_ids = {1}, .threshold = 0.4});
  CHECK(close(metric(doubles({0, 1, 1, 0}), doubles({0.1, 0.4, 0.2, 0.5})).item<double>(), 1 / 3.0,
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
  const nn::F1Score metric({.average = None});
  metric.update_state(doubles({{1, 0}, {0, 1}}), doubles({{0.9, 0.1}, {0.8, 0.2}}));
  const Values before = values(metric.result());
  nn::Archive longer = state_with(metric, "true_positives", doubles({1, 2, 3}));
  CHECK_THROWS_WITH_AS(metric.impl().state(longer),
                       "[Archive] 'false_positives' must have 3 numbers: received 2", ValueError);
  CHECK(values(metric.result()) == before);
  nn::Archive shorter = state_with(metric, "false_negatives", doubles({1}));
  CHECK_THROWS_AS(metric.impl().state(shorter), ValueError);
  CHECK(values(metric.result()) == before);
}
