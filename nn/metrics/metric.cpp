#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/nn/core/full_precision.hpp>
#include <ktape/nn/core/names.hpp>
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/nn/losses/alignment.hpp>
#include <ktape/nn/losses/loss.hpp>
#include <ktape/nn/losses/reduction.hpp>
#include <ktape/nn/metrics/accuracy.hpp>
#include <ktape/nn/metrics/reduction.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <numeric>

namespace ktape::nn {
namespace K = backend;
namespace {

using Reduce = Tensor (*)(const Tensor&, const Axes&, bool);

Axes axes_from(int first, int rank) {
  std::vector<int> axes(static_cast<std::size_t>(std::max(0, rank - first)));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

double total_of(const Tensor& x) { return K::sum(x).item<double>(); }

Weighted weighted(Tensor values, Tensor weights, Reduce reduce) {
  if (values.dtype() != DType::Float64) values = K::as_dtype(values, DType::Float32);
  if (!weights.defined()) {
    const std::int64_t samples = values.ndim() == 0 ? 1 : values.shape()[0];
    const double each = reduce == &K::mean && samples > 0
                            ? static_cast<double>(values.size()) / static_cast<double>(samples)
                            : 1;
    return {each == 0 ? 0 : total_of(values) / each, static_cast<double>(samples)};
  }
  const SameRank both = to_same_rank(values, K::as_dtype(weights, values.dtype()));
  values = both.x, weights = both.y;
  if (values.ndim() > weights.ndim())
    values = reduce(values, axes_from(weights.ndim(), values.ndim()), false);
  weights = K::broadcast_to(weights, values.shape());
  const auto of_samples = [&](const Tensor& x) {
    return total_of(x.ndim() > 1 ? reduce(x, axes_from(1, x.ndim()), false) : x);
  };
  return {of_samples(values * weights), of_samples(weights)};
}

/// Returns the weights of a call: the given weights times the mask, whose axes are the first axes of the
/// weights.
Tensor weights_of(const Tensor& sample_weight, const Tensor& mask) {
  if (!mask.defined()) return sample_weight;
  const Tensor kept = K::as_dtype(mask, K::floatx());
  if (!sample_weight.defined()) return kept;
  const SameRank both = to_same_rank(K::as_dtype(sample_weight, K::floatx()), kept);
  const int rank = std::max(both.x.ndim(), both.y.ndim());
  const Tensor seen = with_rank(both.y, rank);
  return K::where(seen, with_rank(both.x, rank) * seen, 0);
}

struct SumMetric final : MetricWith<MetricOptions> {
  explicit SumMetric(const MetricOptions& o) : MetricWith("Sum", o) {}
  void update_state(const Tensor&, const Tensor& values, const Tensor& sample_weight) override {
    total_ += weighted_sum(values, sample_weight).total;
  }
  Tensor result() const override { return number_result(total_); }
  void reset_state() override { total_ = 0; }
  void state(Archive& state) override { state("total", total_); }

 private:
  double total_ = 0;
};

void update(MetricImpl& metric, const Tensor& y_true, const Tensor& y_pred,
            const MetricCallOptions& options) {
  const NoGrad off;
  const Tensor mask = options.mask.defined() ? options.mask : mask_of(y_pred);
  const Tensor weights = weights_of(options.sample_weight, mask);
  metric.update_state(unmasked_samples(full_precision(y_true), mask, 0),
                      unmasked_samples(full_precision(y_pred), mask, 1), weights);
}

}  // namespace

Tensor weights_like(const std::string& metric, const Shape& shape, const Tensor& sample_weight) {
  if (!sample_weight.defined()) return Tensor();
  Tensor weights = sample_weight;
  if (weights.ndim() == shape.rank() + 1 && weights.shape().back() == 1) weights = K::squeeze(weights, -1);
  weights = with_rank(weights, shape.rank());
  bool fits = weights.ndim() == shape.rank();
  for (int axis = 0; fits && axis < shape.rank(); ++axis)
    fits = weights.shape()[axis] == shape[axis] || weights.shape()[axis] == 1;
  if (!fits)
    fail("[", metric,
         "] sample_weight and mask must have the shape of the values, or their first axes: received ",
         sample_weight.shape(), " for values=", shape);
  return K::broadcast_to(K::as_dtype(weights, "float64"), shape);
}

Weighted weighted_mean(const Tensor& values, const Tensor& sample_weight) {
  return weighted(values, sample_weight, K::mean);
}

Weighted weighted_sum(const Tensor& values, const Tensor& sample_weight) {
  return weighted(values, sample_weight, K::sum);
}

Tensor number_result(double value) {
  Tensor result = Tensor::empty({}, K::floatx());
  dispatch_floating(result.dtype(), [&]<class T>() { *result.pointer<T>() = static_cast<T>(value); });
  return result;
}
Tensor numbers_result(const std::vector<double>& values) {
  return K::constant(values, {.dtype = K::floatx()});
}

MetricImpl::MetricImpl(std::string class_name, std::string name)
    : class_name_(std::move(class_name)), name_(std::move(name)) {
  if (name_.empty()) name_ = to_snake_case(class_name_);
}

void MeanMetric::update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
  // A function of the user may subtract integer targets from predictions.
  const bool cast = class_name() == "function" && y_true.defined() && y_pred.dtype().is_floating();
  const Weighted batch =
      weighted_mean(f_(cast ? K::as_dtype(y_true, y_pred.dtype()) : y_true, y_pred), sample_weight);
  total_ += batch.total;
  count_ += batch.weight;
}

Tensor MeanMetric::result() const { return number_result(mean()); }

void MeanMetric::state(Archive& state) {
  state("total", total_);
  state("count", count_);
}

Metric::Metric(const std::string& name)
    : Handle(name == "accuracy" || name == "acc"
                 ? accuracy_by_shape(name)
                 : made(Config{{"class_name", name}, {"config", Config{{"name", name}}}})) {}

namespace {

/// Returns the name of the function in a config; empty for a config of an object.
std::string function_in(const Value& value) {
  if (!value.is_config() || value.config().get("class_name") != Value("function")) return {};
  const Value name = value.config().get("config");
  return name.is_string() ? name.string() : "";
}

/// Returns the mean of the values of a loss as a metric, as in Keras.
Metric mean_of_loss(const std::string& name) {
  const Loss loss(name);
  return Metric(name, [loss](const Tensor& y_true, const Tensor& y_pred) {
    return loss.impl().call(y_true, y_pred).values;
  });
}

}  // namespace

Metric::Metric(const Value& value) {
  if (const std::string name = function_in(value); !name.empty() && !means(name))
    *this = is_registered(LossImpl::kind, name) ? mean_of_loss(name) : Metric(made(value));
  else *this = value.is_string() ? Metric(value.string()) : Metric(made(value));
}

Metric::Metric(const std::string& name, Function f)
    : Handle(std::make_shared<MeanMetric>("function", name, Config{{"name", name}}, std::move(f))) {}

/// Returns false for "cosine_similarity": the metric is the negative of the loss.
bool Metric::means(const std::string& function) {
  return function != "cosine_similarity" && is_registered(MetricImpl::kind, function);
}

Metric::Metric(const Loss& loss) {
  const std::string class_name = loss.class_name();
  if (!is_registered(MetricImpl::kind, class_name)) {
    *this = Metric(loss.name(), Function([loss](const Tensor& y_true, const Tensor& y_pred) {
                     return loss.impl().call(y_true, y_pred).values;
                   }));
    return;
  }
  const Config defaults = Loss(class_name).get_config();
  Config config;  // a metric has not all options of the loss
  for (const auto& [option, value] : loss.get_config())
    if (option != "reduction" && value != defaults.get(option)) config.set(option, value);
  *this = Metric(Value(Config{{"class_name", class_name}, {"config", config}}));
}

void Metric::update_state(const Tensor& y_true, const Tensor& y_pred,
                          const MetricCallOptions& options) const {
  update(impl(), y_true, y_pred, options);
}

Mean::Mean(const MetricOptions& options)
    : Metric(mean_metric("Mean", options,
                         [](const Tensor&, const Tensor& values, const MetricOptions&) { return values; })) {}

void Mean::update_state(const Tensor& values, const MetricCallOptions& options) const {
  update(impl(), Tensor(), values, options);
}

Sum::Sum(const MetricOptions& options) : Metric(std::make_shared<SumMetric>(options)) {}

void Sum::update_state(const Tensor& values, const MetricCallOptions& options) const {
  update(impl(), Tensor(), values, options);
}

void add_mean_metrics(ClassRegistry& registry) {
  registry.add<Mean, MetricOptions>("Mean");
  registry.add<Sum, MetricOptions>("Sum");
}

}  // namespace ktape::nn
