#include <ktape/autograd/base/structure_version.hpp>
#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/nn/core/full_precision.hpp>
#include <ktape/nn/layers/base/call_reports.hpp>
#include <ktape/nn/metrics/reduction.hpp>
#include <ktape/nn/optimizers/loss_scale_optimizer.hpp>
#include <ktape/nn/optimizers/process_group.hpp>
#include <ktape/nn/training/batch_source.hpp>
#include <ktape/nn/training/trainer.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/fusion/fusion_scope.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include <algorithm>
#include <utility>

namespace ktape::nn {
namespace K = backend;

// --- The options of compile -------------------------------------------------------------------------------

namespace {

/// Returns the layers in a model, at any depth, without repetitions.
std::vector<Layer> layers_in(const ModelImpl& model) {
  std::vector<Layer> layers = model.sublayers();
  for (std::size_t i = 0; i < layers.size(); ++i)
    for (const Layer& layer : layers[i].impl().sublayers())
      if (std::none_of(layers.begin(), layers.end(), [&](const Layer& known) { return known.is(layer); }))
        layers.push_back(layer);
  return layers;
}

/// Returns the number of outputs that the options of `compile` are for: one, unless they have lists of several; 0
/// if they name outputs, which only a batch can tell.
std::size_t outputs_in(const CompileOptions& options) {
  using Form = PerOutput<Loss>;
  const bool by_name = options.loss.form() == Form::ByName ||
                       options.loss_weights.form() == PerOutput<double>::ByName ||
                       !options.metrics.by_name().empty() || !options.weighted_metrics.by_name().empty();
  if (by_name) return 0;
  return std::max({std::size_t{1}, options.loss.values().size(), options.loss_weights.values().size(),
                   options.metrics.by_output().size(), options.weighted_metrics.by_output().size()});
}

}  // namespace

void Trainer::compile(const CompileOptions& options) {
  if (!options.optimizer.defined()) fail("[compile] the optimizer must be given: received None");
  if (ProcessGroup* process_group = options.optimizer.impl().process_group()) expect_same(*process_group);
  const CompileOptions before = std::exchange(options_, options);
  try {
    outputs_.clear();
    const std::vector<std::string> names = model_.output_names();
    const std::size_t count = names.empty() ? outputs_in(options) : names.size();
    if (count > 0) make_outputs(count);
  } catch (...) {
    options_ = before;
    outputs_.clear();
    throw;
  }
  const bool has_scale = options.optimizer.class_name() == "LossScaleOptimizer";
  if (options.auto_scale_loss && !has_scale && computes_mixed_float16())
    options_.optimizer = LossScaleOptimizer(options.optimizer, {.name = "loss_scale_optimizer"});
  optimizer_ = options_.optimizer;
  fuses_ops_ = options.jit_compile.wanted() && compiles_graphs();
  compiled_trainable_.clear();
  trainable_at_compile_ = model_.trainable();
  for (const Layer& layer : layers_in(model_)) compiled_trainable_.emplace_back(layer, layer.trainable());
  warned_of_.clear();
  version_.reset();
  refresh();
  reset();
}

/// Returns whether the model or a layer in the model computes in float16 with float32 weights.
bool Trainer::computes_mixed_float16() const {
  const auto mixed = [](const LayerImpl& layer) {
    return layer.compute_dtype() == DType::Float16 && layer.variable_dtype() == DType::Float32;
  };
  const std::vector<Layer> layers = layers_in(model_);
  return mixed(model_) ||
         std::any_of(layers.begin(), layers.end(), [&](const Layer& layer) { return mixed(layer.impl()); });
}

/// Returns the weights that the model would train if it and its layers were as trainable as at `compile`.
std::vector<Variable> Trainer::weights_to_train() {
  std::vector<std::pair<LayerImpl*, bool>> changed;
  const auto set = [&](LayerImpl& layer, bool trainable) {
    if (layer.trainable_ != trainable)
      changed.emplace_back(&layer, std::exchange(layer.trainable_, trainable));
  };
  set(model_, trainable_at_compile_);
  for (const auto& [layer, trainable] : compiled_trainable_) set(layer.impl(), trainable);
  std::vector<Variable> weights = model_.trainable_weights();
  for (const auto& [layer, trainable] : changed) layer->trainable_ = trainable;
  return weights;
}

std::string Trainer::warning() {
  std::string changed;
  const auto note = [&](const LayerImpl& layer, bool trainable) {
    if (layer.trainable() != trainable) changed += (changed.empty() ? "'" : ", '") + layer.name() + '\'';
  };
  note(model_, trainable_at_compile_);
  for (const auto& [layer, trainable] : compiled_trainable_) note(layer.impl(), trainable);
  if (changed != std::exchange(warned_of_, changed) && !changed.empty())
    return "[fit] trainable has changed since compile was called, and the change counts when compile is "
           "called "
           "again: received " +
           changed;
  if (model_.built() && weights_to_train().empty())
    return "[fit] the model '" + model_.name() + "' has no weights to train";
  return "";
}

void Trainer::check_names(const std::vector<std::string>& names) const {
  const auto check = [&](const char* argument, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail("[compile] ", argument, " must name outputs of '", model_.name(), "': received '", name, "'",
           suggestion(name, names));
  };
  if (options_.loss.form() == PerOutput<Loss>::ByName)
    for (const auto& [name, loss] : options_.loss.values()) check("loss", name);
  if (options_.loss_weights.form() == PerOutput<double>::ByName)
    for (const auto& [name, weight] : options_.loss_weights.values()) check("loss_weights", name);
  for (const auto& [name, metrics] : options_.metrics.by_name()) check("metrics", name);
  for (const auto& [name, metrics] : options_.weighted_metrics.by_name()) check("weighted_metrics", name);
}

namespace {

[[noreturn]] void fail_for_count(const char* argument, std::size_t outputs, std::size_t given) {
  fail("[compile] ", argument, " must have one entry for each of the ", outputs, " outputs: received ",
       given);
}

/// Returns the value of an argument of `compile` for output number i; `otherwise` if the argument has no
/// value for this output.
template <class T>
T value_for(const char* argument, const PerOutput<T>& values, const std::vector<std::string>& names,
            std::size_t i, const T& otherwise) {
  const auto& given = values.values();
  switch (values.form()) {
    case PerOutput<T>::Empty:
      return otherwise;
    case PerOutput<T>::One:
      return given[0].second;
    case PerOutput<T>::List:
      if (given.size() != names.size()) fail_for_count(argument, names.size(), given.size());
      return given[i].second;
    case PerOutput<T>::ByName:
      for (const auto& [name, value] : given)
        if (name == names[i]) return value;
  }
  return otherwise;
}

/// Returns a copy of a metric with a separate state: made from the config or, for a metric that is a
/// function, from the function.
Metric another(const Metric& metric) {
  const auto* function = dynamic_cast<const MeanMetric*>(metric.shared().get());
  if (function && metric.class_name() == "function") return Metric(std::make_shared<MeanMetric>(*function));
  return Metric(metric.to_value());
}

/// Returns the metrics for output number i. A metric that is given for all outputs is copied for each output,
/// because a metric accumulates values.
MetricList metrics_for(const char* argument, const OutputMetrics& metrics,
                       const std::vector<std::string>& names, std::size_t i) {
  MetricList list = metrics.all();
  if (i > 0)
    for (Metric& metric : list) metric = another(metric);
  const std::vector<MetricList>& lists = metrics.by_output();
  if (!lists.empty()) {
    if (lists.size() != names.size()) fail_for_count(argument, names.size(), lists.size());
    list = lists[i];
  }
  for (const auto& [output, named] : metrics.by_name())
    if (output == names[i]) list.insert(list.end(), named.begin(), named.end());
  return list;
}

}  // namespace

void Trainer::make_outputs(std::size_t count) {
  std::vector<std::string> names = model_.output_names();
  for (std::size_t i = names.size(); i < count; ++i) names.push_back("output_" + std::to_string(i + 1));
  check_names(names);
  std::vector<Output> outputs(count);
  for (std::size_t i = 0; i < count; ++i) {
    outputs[i].name = names[i];
    outputs[i].loss = value_for("loss", options_.loss, names, i, Loss());
    outputs[i].weight = value_for("loss_weights", options_.loss_weights, names, i, 1.0);
    outputs[i].metrics = metrics_for("metrics", options_.metrics, names, i);
    outputs[i].weighted_metrics = metrics_for("weighted_metrics", options_.weighted_metrics, names, i);
  }
  outputs_ = std::move(outputs);
}

// --- A step -----------------------------------------------------------------------------------------------

void Trainer::find_layers() {
  if (layers_known_) return;
  const std::uint64_t version = structure_version();
  std::vector<Layer> layers = layers_in(model_);
  const auto is_same = [](const Layer& a, const Layer& b) { return a.is(b); };
  layers_known_ = version_ == version &&
                  std::equal(layers.begin(), layers.end(), layers_.begin(), layers_.end(), is_same);
  if (layers_known_) return;
  layers_ = std::move(layers);
  regularized_.clear();
  each_layer([&](LayerImpl& layer) {
    for (const auto& weight : layer.regularized_weights())
      regularized_.emplace_back(weight.variable, weight.regularizer);
  });
  trainable_.reset();
  version_ = version;
  layers_known_ = true;
}

bool Trainer::has_loss(std::size_t output) const {
  if (!outputs_.empty()) return loss_of(output).defined();
  const auto& given = options_.loss.values();
  if (options_.loss.form() == PerOutput<Loss>::One) return given[0].second.defined();
  return output < given.size() && given[output].second.defined();
}

std::size_t Trainer::output_count() const {
  if (!outputs_.empty()) return outputs_.size();
  return options_.loss.form() == PerOutput<Loss>::Empty ? 0 : options_.loss.values().size();
}

/// Returns the targets of an output. The targets of a batch are one tensor for each output, or one for each
/// output with a loss. If no output has a loss, because the model's own `train_step` computes the loss, the targets belong
/// to the first outputs.
const Tensor* Trainer::targets_of(const Batch& batch, std::size_t at) const {
  const bool has_losses = std::any_of(outputs_.begin(), outputs_.end(),
                                      [](const Output& output) { return output.loss.defined(); });
  if (batch.y.size() >= outputs_.size() || (!has_losses && at < batch.y.size()))
    return batch.y[at].defined() ? &batch.y[at] : nullptr;
  std::size_t place = 0;
  for (std::size_t i = 0; i < at; ++i) place += outputs_[i].loss.defined();
  return outputs_[at].loss.defined() && place < batch.y.size() ? &batch.y[place] : nullptr;
}

Tensor Trainer::weight_of(const Batch& batch, std::size_t at) {
  if (batch.sample_weight.empty()) return Tensor();
  return batch.sample_weight[batch.sample_weight.size() == 1 ? 0 : at];
}

/// Rethrows the current error with the shapes of targets and predictions added.
void Trainer::rethrow_of(const std::string& what, const std::string& output, const Tensor& y_true,
                         const Tensor& y_pred) const {
  std::ostringstream where;
  where << " (in the " << what << " of the output '" << output << "' of '" << model_.name()
        << "', with targets of shape " << y_true.shape() << " and dtype " << y_true.dtype()
        << " for predictions of shape " << y_pred.shape() << " and dtype " << y_pred.dtype() << ')';
  try {
    throw;
  } catch (const TypeError& error) {
    fail<TypeError>(error.what(), where.str());
  } catch (const ValueError& error) {
    fail(error.what(), where.str());
  }
}

Tensor Trainer::loss(const Batch& batch, const std::vector<Tensor>& y_pred) {
  if (outputs_.size() != y_pred.size()) make_outputs(y_pred.size());
  if (batch.y.size() > outputs_.size())
    fail("[", model_.name(), "] there must be targets for each of the ", outputs_.size(),
         " outputs, and no more: received ", batch.y.size());
  if (batch.sample_weight.size() > 1 && batch.sample_weight.size() != outputs_.size())
    fail("[", model_.name(), "] sample_weight must be one tensor, or one for each of the ", outputs_.size(),
         " outputs: received ", batch.sample_weight.size());
  find_layers();
  Tensor total;
  const auto add = [&](const Tensor& loss) { total = total.defined() ? total + loss : loss; };
  for (std::size_t i = 0; i < y_pred.size(); ++i) {
    Output& output = outputs_[i];
    if (!output.loss.defined()) continue;
    const Tensor* y_true = targets_of(batch, i);
    if (!y_true)
      fail("[", model_.name(), "] there must be targets for the output '", output.name, "': received ",
           batch.y.size(), " for all outputs");
    try {
      output.last_loss =
          output.loss(*y_true, y_pred[i], {.sample_weight = weight_of(batch, i), .mask = mask_of(y_pred[i])});
    } catch (const Error&) {
      rethrow_of("loss", output.name, *y_true, y_pred[i]);
    }
    add(output.weight == 1 ? output.last_loss : output.last_loss * output.weight);
  }
  for (const auto& [weight, regularizer] : regularized_) add(regularizer(weight));
  if (CallReports::any())
    each_layer([&](LayerImpl& layer) {
      for (const Tensor& loss : CallReports::of(layer).losses)
        add(loss.ndim() == 0 ? full_precision(loss) : K::sum(full_precision(loss)));
    });
  if (!total.defined() && !compiled()) model_.optimizer();
  if (!total.defined())
    fail("[", model_.name(),
         "] there must be a loss to minimize: received none from compile and none from add_loss");
  return total;
}

Logs Trainer::train(const Batch& batch) {
  FusionScope fused(fuses_ops_);
  Logs logs = model_.train_step(batch);
  fused.finish();
  return logs;
}

void Trainer::minimize(const Tensor& loss) {
  if (!trainable_) trainable_ = weights_to_train();
  if (!trainable_->empty()) optimizer_.minimize(loss, *trainable_);
}

// --- Logs -------------------------------------------------------------------------------------------------

void Trainer::measure(const Batch& batch, const std::vector<Tensor>& y_pred, const Tensor& loss) {
  const NoGrad off;
  if (outputs_.size() != y_pred.size()) make_outputs(y_pred.size());
  const double samples = samples_of(batch);
  mean_loss_.add(loss.item<double>(), samples);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Output& output = outputs_[i];
    const Tensor last = std::exchange(output.last_loss, Tensor());
    if (outputs_.size() > 1 && last.defined()) output.mean_loss.add(last.item<double>(), samples);
    const Tensor* y_true = targets_of(batch, i);
    if (!y_true) continue;
    const auto update = [&](const Metric& metric, const MetricCallOptions& options) {
      try {
        metric.update_state(*y_true, y_pred[i], options);
      } catch (const Error&) {
        rethrow_of("metric '" + metric.name() + '\'', output.name, *y_true, y_pred[i]);
      }
    };
    for (const Metric& metric : output.metrics) update(metric, {});
    for (const Metric& metric : output.weighted_metrics)
      update(metric, {.sample_weight = weight_of(batch, i)});
  }
  if (CallReports::any())
    each_layer([&](LayerImpl& layer) {
      for (const auto& [name, value] : CallReports::of(layer).metrics) add_reported(name, value, samples);
      CallReports::forget(layer);
    });
}

void Trainer::add_reported(const std::string& name, const Tensor& value, double samples) {
  for (auto& [known, mean] : reported_)
    if (known == name) return mean.add(K::mean(value).item<double>(), samples);
  reported_.emplace_back(name, RunningMean()).second.add(K::mean(value).item<double>(), samples);
}

namespace {

/// Returns the name, followed by a number if the logs contain the name: the first number that gives a new
/// name.
std::string unused(const std::string& name, const Logs& logs) {
  if (!logs.contains(name)) return name;
  int number = 1;
  while (logs.contains(name + '_' + std::to_string(number))) ++number;
  return name + '_' + std::to_string(number);
}

/// Adds the result of a metric to the logs. A result of several numbers, such as an F1Score for each class,
/// is added as "name_0", "name_1", ...
void report_metric(const std::string& name, const Metric& metric, Logs& logs) {
  const Tensor result = metric.result();
  if (result.size() == 1) return logs.set(unused(name, logs), result.item<double>());
  const Tensor numbers = K::as_dtype(result, DType::Float64);
  for (std::int64_t i = 0; i < numbers.size(); ++i)
    logs.set(unused(name + '_' + std::to_string(i), logs), numbers.pointer<double>()[i]);
}

}  // namespace

Logs Trainer::results() const {
  Logs logs{{"loss", mean_loss_.value()}};
  const bool several = outputs_.size() > 1;
  if (several)
    for (const Output& output : outputs_)
      if (output.loss.defined()) logs.set(output.name + "_loss", output.mean_loss.value());
  for (const Output& output : outputs_) {
    const std::string prefix = several ? output.name + '_' : "";
    for (const Metric& metric : output.metrics) report_metric(prefix + metric.name(), metric, logs);
    for (const Metric& metric : output.weighted_metrics) {
      const bool taken = logs.contains(prefix + metric.name());
      report_metric(prefix + (taken ? "weighted_" : "") + metric.name(), metric, logs);
    }
  }
  for (const auto& [name, mean] : reported_) logs.set(name, mean.value());
  return logs;
}

std::vector<Metric> Trainer::compiled_metrics() const {
  std::vector<Metric> metrics;
  for (const Output& output : outputs_)
    for (const MetricList* list : {&output.metrics, &output.weighted_metrics})
      metrics.insert(metrics.end(), list->begin(), list->end());
  return metrics;
}

std::vector<Metric> Trainer::own_metrics() const {
  const std::vector<Metric> compiled = compiled_metrics();
  std::vector<Metric> own = model_.metrics();
  std::erase_if(own, [&](const Metric& metric) {
    return std::any_of(compiled.begin(), compiled.end(),
                       [&](const Metric& other) { return other.is(metric); });
  });
  return own;
}

std::vector<Metric> Trainer::metrics() const {
  std::vector<Metric> all = own_metrics();
  const std::vector<Metric> compiled = compiled_metrics();
  all.insert(all.end(), compiled.begin(), compiled.end());
  return all;
}

std::vector<std::string> Trainer::metrics_names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : results()) names.push_back(name);
  return names;
}

void Trainer::reset() {
  for (const Metric& metric : metrics()) metric.reset_state();
  mean_loss_.reset();
  reported_.clear();
  for (Output& output : outputs_) output.mean_loss.reset();
}

// --- The model's steps ------------------------------------------------------------------------------------

Trainer& ModelImpl::trainer() { return *trainer_; }

const Optimizer& ModelImpl::optimizer() const {
  if (!trainer_->compiled())
    fail("[", name(), "] the model must be compiled before it is trained: call compile()");
  return trainer_->optimizer();
}

void ModelImpl::compile(const CompileOptions& options) {
  const ModelUse::Run run(*this, "compile", ModelUse::Kind::Training);
  trainer().compile(options);
}

std::vector<Metric> ModelImpl::metrics() const { return trainer_->compiled_metrics(); }

Tensor ModelImpl::compute_loss(const Batch& batch, const std::vector<Tensor>& y_pred) {
  return trainer().loss(batch, y_pred);
}

Logs ModelImpl::compute_metrics(const Batch& batch, const std::vector<Tensor>& y_pred, const Tensor& loss) {
  trainer().measure(batch, y_pred, loss);
  return trainer().results();
}

void ModelImpl::reset_metrics() { trainer().reset(); }

Logs ModelImpl::train_step(const Batch& batch) {
  batch.expect_fits();
  const std::vector<Tensor> y_pred = apply(batch.x);
  const Tensor loss = compute_loss(batch, y_pred);
  const Logs logs =
      compute_metrics(batch, y_pred, loss);  // throws for metrics that do not fit before a weight changes
  trainer().minimize(loss);
  return logs;
}

Logs ModelImpl::test_step(const Batch& batch) {
  batch.expect_fits();
  const std::vector<Tensor> y_pred = apply(batch.x);
  return compute_metrics(batch, y_pred, compute_loss(batch, y_pred));
}

std::vector<Tensor> ModelImpl::predict_step(const Batch& batch) {
  batch.expect_fits();
  return apply(batch.x);
}

}  // namespace ktape::nn
