#include <ktape/autograd/base/log.hpp>
#include <ktape/nn/core/class_registry.hpp>
#include <ktape/nn/layers/base/shared_layers.hpp>
#include <ktape/nn/optimizers/loss_scale_optimizer.hpp>
#include <ktape/nn/serialization/keras_dialects.hpp>
#include <ktape/nn/serialization/keras_objects.hpp>
#include <ktape/nn/serialization/model_config.hpp>
#include <ktape/nn/training/trainer.hpp>

#include <algorithm>
#include <optional>

namespace ktape::nn {

// --- Architectures ----------------------------------------------------------------------------------------

Value model_config(const Model& model) {
  const SharedLayers shared(model);
  return model.to_value();
}

namespace {

/// Builds a model of a user's class as the saved model was built: by a call on tensors with the shapes in
/// `build_config`.
void build_from(const Model& model, const Value& build_config) {
  if (build_config.is_null() || model.built()) return;
  const std::string what = '[' + model.name() + "] build_config";
  const Value shape = build_config.config(what).get("input_shape");
  if (shape.is_null()) return;
  std::vector<Shape> shapes;
  const Value::List& list = shape.list(what);
  const bool several = !list.empty() && list[0].is_list();
  if (several)
    for (const Value& one : list) shapes.push_back(one.shape(what));
  else shapes.push_back(shape.shape(what));
  model.compute_output_shapes(shapes);
}

}  // namespace

Model model_from_config(const Value& value) {
  const SharedLayers shared;
  const Model model(Layer::from_value(saving::canonical(value)));
  if (value.is_config()) build_from(model, value.config().get("build_config"));
  return model;
}

std::string Model::to_json(int indent) const {
  return nn::to_json(saving::with_keras3_operations(model_config(*this).config()), indent);
}

// --- How a model was compiled -----------------------------------------------------------------------------

namespace {

/// Returns the config of an object. A function is written by its name alone, as in Keras.
template <class H>
Value described(const H& object) {
  if (!object.defined()) return {};
  if (object.class_name() != "function") return with_module(H::Impl::kind, object.to_value());
  const Value name = object.get_config().get("name", "function");
  const char* const module = is_registered(LossImpl::kind, name.string()) ? "keras.losses" : "builtins";
  return Config{{"module", module}, {"class_name", "function"}, {"config", name}, {"registered_name", name}};
}

Value described(const Optimizer& optimizer) {
  Config value = with_module(OptimizerImpl::kind, optimizer.to_value()).config();
  Config config = value.at("config").config();
  if (const Optimizer inner = without_loss_scale(optimizer); !inner.is(optimizer)) {
    config.set("inner_optimizer", described(inner));
    value.set("config", config);
    return value;
  }
  const Schedule& schedule = optimizer.impl().options().learning_rate.schedule();
  if (schedule.defined()) config.set("learning_rate", described(schedule));
  value.set("config", config);
  return value;
}

double described(double number) { return number; }

template <class T>
Value described(const PerOutput<T>& values) {
  if (values.form() == PerOutput<T>::Empty) return {};
  if (values.form() == PerOutput<T>::One) return described(values.values()[0].second);
  Value::List list;
  Config by_name;
  for (const auto& [name, value] : values.values()) {
    list.push_back(described(value));
    by_name.set(name, list.back());
  }
  return values.form() == PerOutput<T>::List ? Value(list) : Value(by_name);
}

Value described(const MetricList& metrics) {
  Value::List list;
  for (const Metric& metric : metrics) list.push_back(described(metric));
  return list;
}

/// Returns a list of metrics or a config by output name; for several outputs a list with the metrics of each
/// output, because Keras reads the entries of a list as the entries of the outputs.
Value described(const OutputMetrics& metrics, const std::vector<std::string>& outputs) {
  if (metrics.empty()) return {};
  Config by_name;
  for (const auto& [name, list] : metrics.by_name()) by_name.set(name, described(list));
  Value::List lists;
  for (const MetricList& list : metrics.by_output()) lists.push_back(described(list));
  if (!lists.empty()) return lists;
  if (outputs.size() < 2) return by_name.empty() ? described(metrics.all()) : Value(by_name);
  for (const std::string& output : outputs) lists.push_back(by_name.get(output, described(metrics.all())));
  return lists;
}

}  // namespace

Value compile_config(const Model& model) {
  const Trainer& trainer = model.impl().trainer();
  if (!trainer.compiled()) return {};
  const CompileOptions& options = trainer.options();
  const std::vector<std::string> outputs = model.impl().output_names();
  Config config{{"optimizer", described(trainer.optimizer())},
                {"loss", described(options.loss)},
                {"loss_weights", described(options.loss_weights)},
                {"metrics", described(options.metrics, outputs)},
                {"weighted_metrics", described(options.weighted_metrics, outputs)}};
  if (!options.auto_scale_loss) config.set("auto_scale_loss", false);
  return config;
}

namespace {

/// Returns the name of a function that is not registered; an empty string for any other value.
std::string unknown_function(const char* kind, const Value& value) {
  if (!value.is_config() || value.config().get("class_name") != Value("function")) return "";
  const std::string what = '[' + std::string(kind) + "] the name of a function";
  const std::string name = value.config().get("config").string(what);
  return is_registered(kind, name) ? "" : name;
}

/// Returns a function that throws when called, in place of a function of another program.
auto missing(const char* kind, const std::string& name) {
  return [kind, name](const Tensor&, const Tensor&) -> Tensor {
    fail("[", kind,
         "] a function must be registered before its model is loaded, or compile be called again: received '",
         name, "', a function of the program that saved the model");
  };
}

Loss loss_from(const Value& value) {
  const std::string unknown = unknown_function(LossImpl::kind, value);
  return unknown.empty() ? Loss(value) : Loss(missing(LossImpl::kind, unknown));
}

Metric metric_from(const Value& value) {
  const std::string unknown = unknown_function(MetricImpl::kind, value);
  const bool known = unknown.empty() || is_registered(LossImpl::kind, unknown);  // a loss is a metric, too
  return known ? Metric(value) : Metric(unknown, missing(MetricImpl::kind, unknown));
}

bool is_object(const Value& value) { return value.is_config() && value.config().contains("class_name"); }

/// Calls `make` on one value, on each value of a list, or on each value of a config of names.
template <class T, class Make>
PerOutput<T> per_output(const Value& value, Make make) {
  if (value.is_null()) return {};
  if (value.is_list()) {
    std::vector<T> list;
    for (const Value& one : value.list()) list.push_back(make(one));
    return PerOutput<T>(list);
  }
  if (!value.is_config() || is_object(value)) return PerOutput<T>(make(value));
  std::vector<typename PerOutput<T>::Named> by_name;
  for (const auto& [name, one] : value.config()) by_name.emplace_back(name, make(one));
  return PerOutput<T>(by_name);
}

MetricList metric_list(const Value& value) {
  MetricList metrics;
  if (!value.is_list() && !value.is_null()) metrics.push_back(metric_from(value));
  if (value.is_list())
    for (const Value& one : value.list())
      if (!one.is_null()) metrics.push_back(metric_from(one));
  return metrics;
}

/// Returns the metrics that hold for all outputs: a list of metrics, or a list whose only entry is a list of
/// metrics. Returns nothing for metrics that differ by output: a config, or a list with an entry for each
/// output.
std::optional<MetricList> common_metrics(const Value& value, std::size_t outputs) {
  if (value.is_config() && !is_object(value)) return {};
  if (!value.is_list()) return metric_list(value);
  const Value::List& list = value.list();
  if (list.size() == 1 && list[0].is_list()) return metric_list(list[0]);
  const bool nested = std::any_of(list.begin(), list.end(), [](const Value& one) { return one.is_list(); });
  const bool by_output = outputs > 1 && (nested || list.size() == outputs);
  return by_output ? std::nullopt : std::optional(metric_list(value));
}

OutputMetrics output_metrics(const char* argument, const Value& value,
                             const std::vector<std::string>& outputs) {
  if (const auto common = common_metrics(value, outputs.size())) return *common;
  std::vector<OutputMetrics::Named> named;
  if (value.is_config())
    for (const auto& [name, metrics] : value.config()) named.emplace_back(name, metric_list(metrics));
  else if (value.list().size() != outputs.size())
    fail("[compile] ", argument, " must have one entry for each of the ", outputs.size(),
         " outputs: received ", value.list().size());
  else
    for (std::size_t i = 0; i < outputs.size(); ++i)
      named.emplace_back(outputs[i], metric_list(value.list()[i]));
  return OutputMetrics(std::move(named));
}

}  // namespace

void compile_from_config(const Model& model, const Value& value) {
  const Config& config = value.config('[' + model.name() + "] compile_config");
  const std::vector<std::string> outputs = model.impl().output_names();
  model.compile(
      {.optimizer = Optimizer(config.at("optimizer")),
       .loss = per_output<Loss>(config.get("loss"),
                                [](const Value& one) { return one.is_null() ? Loss() : loss_from(one); }),
       .loss_weights = per_output<double>(
           config.get("loss_weights"), [](const Value& one) { return one.number("[compile] loss_weights"); }),
       .metrics = output_metrics("metrics", config.get("metrics"), outputs),
       .weighted_metrics = output_metrics("weighted_metrics", config.get("weighted_metrics"), outputs),
       .auto_scale_loss = config.get("auto_scale_loss", true).boolean("[compile] auto_scale_loss")});
}

}  // namespace ktape::nn
