#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/core/object.hpp>
#include <ktape/nn/metrics/functions.hpp>

#include <functional>
#include <string>

namespace ktape::nn {

class Archive;
class Loss;

/// Options of `Metric`, `Mean` and `Sum`.
///
///     nn::Metric metric = nn::metrics::MeanAbsoluteError({.name = "error"});
///     metric.update_state(K::constant({{1.}, {2.}}), K::constant({{1.5}, {4.}}),
///                         {.sample_weight = K::constant({1., 0.})});
///     std::cout << metric.name() << " " << metric.result();
struct MetricCallOptions {
  Tensor sample_weight = {};  ///< weights of samples, (n,) or (n, 1), or of values, such as (n, steps)
  Tensor mask = {};  ///< 0 excludes, whatever is there; in such shapes; by default the mask of y_pred
};

/// The base class of metrics. A user's metric accumulates in `update_state`, which the tape does not record,
/// and returns the value in `result`.
///
///     struct LargestImpl : nn::MetricImpl {
///       float largest = 0;
///       LargestImpl() : nn::MetricImpl("Largest", "largest") {}
///       void update_state(const Tensor& y_true, const Tensor& y_pred,
///                         const Tensor&) override {
///         largest = std::max(largest, K::max(K::abs(y_pred - y_true)).item<float>());
///       }
///       Tensor result() const override { return K::constant(largest); }
///       void reset_state() override { largest = 0; }
///     };
///     nn::MetricOf<LargestImpl> metric;
///     metric.update_state(K::constant({{1.}, {2.}}), K::constant({{1.5}, {2.}}));
///     std::cout << metric.result();
class MetricImpl : public Object {
 public:
  static constexpr const char* kind = "metric";
  MetricImpl(std::string class_name, std::string name);

  std::string class_name() const override { return class_name_; }
  Config get_config() const override { return {{"name", name_}}; }
  const std::string& name() const { return name_; }

  /// Adds a batch. sample_weight may be undefined; y_true, too, for a metric that needs only values.
  virtual void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) = 0;
  /// Returns a number, or a number for each class or threshold.
  virtual Tensor result() const = 0;
  virtual void reset_state() = 0;
  /// Names the accumulated values, so that a training can stop within an epoch and resume; see Archive.
  virtual void state(Archive&) {}

 private:
  std::string class_name_, name_;
};

/// A metric, measured over the batches of an epoch: given by name ("mae"), under which logs report the value,
/// as an object, as a function of Keras (nn::metrics::mae), or as any callable of (y_true, y_pred) that
/// returns a value, or a value for each sample, whose mean is the metric. A callable gets targets in the
/// dtype of floating predictions.
///
///     nn::Precision precision({.thresholds = {0.3}});
///     precision.update_state(y_true, y_pred);
///     precision.result().item();
///
/// "accuracy" means binary, categorical or sparse accuracy, by the shapes of the first targets and
/// predictions. Sums are kept in double precision; results are floatx.
///
///     nn::Metric metric = "mae";
///     metric.update_state(K::constant({{1.}, {2.}}), K::constant({{1.}, {4.}}));
///     std::cout << metric.result();
class Metric : public Handle<MetricImpl> {
 public:
  using Function = std::function<Tensor(const Tensor&, const Tensor&)>;

  Metric() = default;
  /// Throws ValueError, with the nearest known names, for an unknown name.
  Metric(const char* name) : Metric(std::string(name)) {}
  Metric(const std::string& name);
  /// Makes the metric that a name or a {class_name, config} describes.
  explicit Metric(const Value& value);
  template <class F>
  requires(!AnyHandle<F> && std::is_constructible_v<Function, F>) Metric(F f)
      : Metric("function", std::move(f)) {}
  template <class R, class... Options>
  requires std::is_convertible_v<R, Tensor> Metric(R (*f)(const Tensor&, const Tensor&, Options...))
      : Metric(of_function(metrics::name_of(any_function(f)), f)) {}
  /// Makes a metric of a function and a name.
  template <class F>
  requires(!AnyHandle<F> && std::is_constructible_v<Function, F>) Metric(const std::string& name, F f)
      : Metric(name, Function(std::move(f))) {}
  Metric(const std::string& name, Function f);
  /// Makes the metric of a loss: the metric of its name with its options (nn::MeanAbsoluteError is the metric
  /// "mean_absolute_error" here), or the mean of the loss if no metric has its name.
  Metric(const Loss& loss);
  explicit Metric(std::shared_ptr<MetricImpl> impl) : Handle(std::move(impl)) {}

  const std::string& name() const { return impl().name(); }
  /// Adds a batch. Targets and predictions of 16 bits are converted to floatx(). Throws ValueError, before anything changes, for shapes that do not fit.
  void update_state(const Tensor& y_true, const Tensor& y_pred, const MetricCallOptions& options = {}) const;
  Tensor result() const { return impl().result(); }
  void reset_state() const { impl().reset_state(); }
  /// Calls update_state, then returns result.
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred, const MetricCallOptions& options = {}) const {
    update_state(y_true, y_pred, options);
    return result();
  }

 private:
  template <class R, class... Options>
  static Metric of_function(const std::string& name, R (*f)(const Tensor&, const Tensor&, Options...)) {
    if (means(name)) return Metric(name);
    return Metric(name.empty() ? "function" : name, WithDefaults<Function>::call(MetricImpl::kind, f));
  }
  /// Returns whether the metric with this name is the mean of the function with this name.
  static bool means(const std::string& function);
};

/// A handle to a metric class of a user.
template <class Implementation>
using MetricOf = HandleOf<Metric, Implementation>;

struct MetricOptions {
  std::string name = {};  ///< the name in the logs; Keras's name by default
};

/// The weighted mean of all values.
///
///     nn::Mean metric({.name = "mean_time"});
///     metric.update_state(K::constant({1., 2., 6.}));
///     std::cout << metric.name() << " " << metric.result();
class Mean : public Metric {
 public:
  Mean(const MetricOptions& options = {});
  void update_state(const Tensor& values, const MetricCallOptions& options = {}) const;
};

/// The weighted sum of all values.
///
///     nn::Sum metric;
///     metric.update_state(K::constant({1., 2., 6.}));
///     std::cout << metric.result();
class Sum : public Metric {
 public:
  Sum(const MetricOptions& options = {});
  void update_state(const Tensor& values, const MetricCallOptions& options = {}) const;
};

}  // namespace ktape::nn
