#pragma once
#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/core/class_registry.hpp>
#include <ktape/nn/core/names.hpp>
#include <ktape/nn/metrics/metric.hpp>

/// Helpers for metrics that accumulate sums. Internal: sources only.
namespace ktape::nn {

template <class F>
void fields(MetricOptions& o, F&& field) {
  field("name", o.name);
}

/// The sum of weighted values and the sum of the weights. Axes that the weights lack are averaged (for sums:
/// added up) before weighing, axes after the sample axis after weighing.
struct Weighted {
  double total, weight;
};
Weighted weighted_mean(const Tensor& values, const Tensor& sample_weight);
Weighted weighted_sum(const Tensor& values, const Tensor& sample_weight);

/// A metric that is the mean of f(y_true, y_pred).
class MeanMetric : public MetricImpl {
 public:
  MeanMetric(std::string class_name, std::string name, Config config, Metric::Function f)
      : MetricImpl(std::move(class_name), std::move(name)), config_(std::move(config)), f_(std::move(f)) {}

  Config get_config() const override { return config_; }
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) override;
  Tensor result() const override;
  void reset_state() override { total_ = count_ = 0; }
  void state(Archive& state) override;

 protected:
  double mean() const { return count_ == 0 ? 0 : total_ / count_; }

 private:
  Config config_;
  Metric::Function f_;
  double total_ = 0, count_ = 0;
};

/// Returns a metric that is the mean of f(y_true, y_pred, options). The default name is the name of the class
/// in Keras's spelling.
template <class Options, class F>
std::shared_ptr<MetricImpl> mean_metric(const char* class_name, Options options, F f) {
  if (options.name.empty()) options.name = to_snake_case(class_name);
  return std::make_shared<MeanMetric>(
      class_name, options.name, config_of(options),
      [options, f](const Tensor& y_true, const Tensor& y_pred) { return f(y_true, y_pred, options); });
}
inline std::shared_ptr<MetricImpl> mean_metric(const char* class_name, const MetricOptions& options,
                                               Tensor (*f)(const Tensor&, const Tensor&)) {
  return mean_metric(class_name, options,
                     [f](const Tensor& t, const Tensor& p, const MetricOptions&) { return f(t, p); });
}

/// A metric of the library, with options that hold a name.
template <class Options>
class MetricWith : public MetricImpl {
 public:
  MetricWith(const char* class_name, const Options& given, const std::string& name = {})
      : MetricImpl(class_name, !given.name.empty() ? given.name
                               : !name.empty()     ? name
                                                   : to_snake_case(class_name)),
        options(given) {
    options.name = this->name();
  }
  Config get_config() const override { return config_of(options); }

 protected:
  Options options;
};

/// Return a number, or several numbers, as a tensor of dtype floatx().
Tensor number_result(double value);
Tensor numbers_result(const std::vector<double>& values);

/// Returns the quotient, 0 where the divisor is 0.
inline double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

/// Returns a float64 weight for each value of a shape (n, ...), or an undefined tensor if no weights were
/// given. Weights may have the shape of the values, one more axis of extent 1, such as (n, 1) for (n,), or
/// only the first axes, such as (n,) for (n, steps). Throws ValueError otherwise: "[AUC] sample_weight and
/// mask must have the shape of the values, or their first axes: received ...".
Tensor weights_like(const std::string& metric, const Shape& shape, const Tensor& sample_weight);

}  // namespace ktape::nn
