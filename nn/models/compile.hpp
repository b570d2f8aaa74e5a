#pragma once
#include <ktape/nn/losses/loss.hpp>
#include <ktape/nn/metrics/metric.hpp>
#include <ktape/nn/optimizers/optimizer.hpp>

#include <utility>
#include <vector>

/// What `compile` takes.
namespace ktape::nn {

/// A value for each output of a model: one, for a model of one output or for all of them; a list, in the
/// order of the outputs; or some by the names of the outputs.
///
///     .loss = "mse"     .loss = {"mse", "mae"}     .loss = {{"scores", "mse"}, {"boxes", huber}}
template <class T>
class PerOutput {
 public:
  using Named = std::pair<std::string, T>;

  PerOutput() = default;
  template <std::convertible_to<T> U>
  requires(!std::same_as<U, PerOutput>) PerOutput(const U& value) : values_{{"", T(value)}}, form_(One) {}
  PerOutput(std::initializer_list<T> values) : form_(List) {
    for (const T& value : values) values_.emplace_back("", value);
  }
  PerOutput(const std::vector<T>& values) : form_(List) {
    for (const T& value : values) values_.emplace_back("", value);
  }
  PerOutput(std::initializer_list<Named> values) : values_(values), form_(ByName) {}
  PerOutput(std::vector<Named> values) : values_(std::move(values)), form_(ByName) {}

  enum Form { Empty, One, List, ByName };
  Form form() const { return form_; }
  const std::vector<Named>& values() const { return values_; }

 private:
  std::vector<Named> values_;
  Form form_ = Empty;
};

/// Some metrics: `{"accuracy", nn::AUC(), {"hits", callable}}`.
using MetricList = std::vector<Metric>;

/// The metrics of a model: a list that holds for every output, or lists by the names of the outputs.
///
///     .metrics = {"accuracy"}     .metrics = {{"scores", {"accuracy"}}, {"boxes", {"mae"}}}
class OutputMetrics {
 public:
  using Named = std::pair<std::string, MetricList>;

  OutputMetrics() = default;
  OutputMetrics(const char* metric) : all_{metric} {}
  OutputMetrics(const Metric& metric) : all_{metric} {}
  OutputMetrics(std::initializer_list<Metric> metrics) : all_(metrics) {}
  OutputMetrics(MetricList metrics) : all_(std::move(metrics)) {}
  OutputMetrics(std::initializer_list<Named> by_name) : by_name_(by_name) {}
  OutputMetrics(std::vector<Named> by_name) : by_name_(std::move(by_name)) {}

  const MetricList& all() const { return all_; }
  const std::vector<Named>& by_name() const { return by_name_; }

 private:
  MetricList all_;
  std::vector<Named> by_name_;
};

struct CompileOptions {
  Optimizer optimizer = "rmsprop";
  PerOutput<Loss> loss = {};            ///< None for an output that only add_loss looks at
  PerOutput<double> loss_weights = {};  ///< 1 by default
  OutputMetrics metrics = {};           ///< "accuracy" is the one that fits targets and predictions
  OutputMetrics weighted_metrics = {};  ///< the same, with the sample weights
};

}  // namespace ktape::nn
