#pragma once
#include <ktape/nn/losses/loss.hpp>
#include <ktape/nn/metrics/metric.hpp>
#include <ktape/nn/optimizers/optimizer.hpp>

#include <concepts>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// The arguments of `compile`.
namespace ktape::nn {

/// A value for each output of a model: a single value for all outputs; a list in the order of the outputs; or
/// values by the names of outputs.
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

/// The metrics of a model: a list for every output, a list of lists in the order of the outputs, or lists by
/// the names of the outputs.
///
///     .metrics = {"accuracy"}     .metrics = {{"mae"}, {"mse", nn::R2Score()}}
///     .metrics = {{"scores", {"accuracy"}}, {"boxes", {"mae"}}}
///
/// In a list of lists, a single metric is a list of one: `{"accuracy", {"mae", "mse"}}`.
///
///     Tensor in = nn::Input({2});
///     nn::Model model(in, {nn::Dense(1, {.name = "scores"})(in),
///                          nn::Dense(4, {.name = "boxes"})(in)});
///     model.compile({.loss = {{"scores", "mse"}, {"boxes", "mae"}},
///                    .metrics = {{"scores", {"mae"}}, {"boxes", {"mse"}}}});
///     std::cout << model.train_on_batch(K::ones({4, 2}),
///                                       {K::ones({4, 1}), K::ones({4, 4})});
class OutputMetrics {
 public:
  using Named = std::pair<std::string, MetricList>;
  class Listed;
  class Entry;

  OutputMetrics() = default;
  OutputMetrics(const char* metric) : all_{metric} {}
  OutputMetrics(const Metric& metric) : all_{metric} {}
  OutputMetrics(MetricList metrics) : all_(std::move(metrics)) {}
  /// Takes a list of lists. A template, so that overload resolution prefers the constructor with names.
  template <class T = Entry>
  OutputMetrics(std::initializer_list<std::type_identity_t<T>> entries) {
    take(entries);
  }
  OutputMetrics(std::initializer_list<Named> by_name) : by_name_(by_name) {}
  OutputMetrics(std::vector<Named> by_name) : by_name_(std::move(by_name)) {}

  const MetricList& all() const { return all_; }
  const std::vector<MetricList>& by_output() const { return by_output_; }
  const std::vector<Named>& by_name() const { return by_name_; }
  bool empty() const { return all_.empty() && by_output_.empty() && by_name_.empty(); }

 private:
  void take(const std::vector<Entry>& entries);

  MetricList all_;
  std::vector<MetricList> by_output_;
  std::vector<Named> by_name_;
};

/// An element of a list in braces: a metric, or a part of `{name, function}`.
class OutputMetrics::Listed {
 public:
  template <std::convertible_to<Metric> T>
  Listed(const T& given) {
    if constexpr (std::convertible_to<const T&, std::string>) name_ = given;
    else metric_ = given;
    if constexpr (!AnyHandle<T> && std::is_constructible_v<Metric::Function, T>) function_ = given;
  }
  template <class F>
  requires std::is_constructible_v<Metric::Function, F> Listed(const std::string& name, const F& f)
      : metric_(name, f) {}

  const std::string& name() const { return name_; }
  const Metric::Function& function() const { return function_; }
  Metric metric() const { return name_.empty() ? metric_ : Metric(name_); }

 private:
  std::string name_;
  Metric metric_;
  Metric::Function function_;
};

/// A metric, or in braces the metrics of an output; braces of a name and a function make one metric.
class OutputMetrics::Entry {
 public:
  template <std::convertible_to<Metric> T>
  Entry(const T& metric) : metrics_{Metric(metric)} {}
  Entry(std::initializer_list<Listed> metrics);

  bool is_list() const { return is_list_; }
  const MetricList& metrics() const { return metrics_; }

 private:
  MetricList metrics_;
  bool is_list_ = false;
};

/// Whether the training steps of a model run compiled: true, false or "auto". Throws ValueError for another
/// text.
///
///     nn::Sequential model({nn::Dense(1, {.input_shape = {2}})});
///     model.compile({.loss = "mse", .jit_compile = false});
///     std::cout << nn::JitCompile("auto").wanted();
class JitCompile {
 public:
  JitCompile(bool wanted) : wanted_(wanted) {}
  JitCompile(const char* text);
  /// Returns whether steps run compiled. "auto" is true: a step of any model can run compiled.
  bool wanted() const { return wanted_; }

 private:
  bool wanted_;
};

/// Options of `Model::compile`.
///
///     nn::Sequential model({nn::Dense(1, {.kernel_initializer = "zeros"})});
///     model.compile({.optimizer = nn::SGD(0.1), .loss = "mse", .metrics = {"mae"}});
///     std::cout << model.train_on_batch(K::ones({4, 2}), K::ones({4, 1}));
struct CompileOptions {
  Optimizer optimizer = "rmsprop";
  PerOutput<Loss> loss = {};            ///< None for an output without a loss
  PerOutput<double> loss_weights = {};  ///< 1 by default
  OutputMetrics metrics = {};           ///< "accuracy": the accuracy that fits targets and predictions
  OutputMetrics weighted_metrics = {};  ///< metrics to which the sample weights are passed
  /// Whether element-wise ops of a training step on large tensors run together, in one pass over memory:
  /// forward, backward, in losses and in metrics. Results are equal, bit for bit. Has no effect if the
  /// environment variable KTAPE_COMPILE is 0.
  JitCompile jit_compile = "auto";
  /// Whether the optimizer is wrapped in a LossScaleOptimizer if the model or a layer in the model has the
  /// policy "mixed_float16".
  bool auto_scale_loss = true;
};

}  // namespace ktape::nn
