#include <ktape/nn/core/names.hpp>
#include <ktape/nn/serialization/keras_dialects.hpp>
#include <ktape/nn/serialization/keras_objects.hpp>

/// Compile configs in the forms of the versions of Keras.
namespace ktape::nn::saving {
namespace {

// --- Optimizers --------------------------------------------------------------------------------------------

/// Returns a schedule for the learning rate decay of Keras 2.2: rate / (1 + decay * step).
Config decaying(const Value& rate, const Value& decay) {
  return object_of("InverseTimeDecay",
                   {{"initial_learning_rate", rate}, {"decay_steps", 1}, {"decay_rate", decay}});
}

Config canonical_schedule(const Config& schedule) {
  return object_of(known_class("schedule", schedule), config_of_object(schedule));
}

/// Renames the arguments of an optimizer of TensorFlow.js from camel case to Keras's names. Returns Keras's
/// name of the class.
std::string from_tfjs(const std::string& name, Config& config) {
  for (const std::string& argument : config.names())
    if (const std::string snake = to_snake_case(argument); snake != argument)
      rename(config, argument.c_str(), snake.c_str());
  rename(config, "beta1", "beta_1");
  rename(config, "beta2", "beta_2");
  rename(config, "use_nesterov", "nesterov");
  if (name == "RMSProp") rename(config, "decay", "rho");
  return name == "Momentum" ? "SGD" : name == "RMSProp" ? "RMSprop" : name;
}

Config canonical_optimizer(const Config& optimizer);

/// Returns the canonical form of a LossScaleOptimizer. A scale that does not change is an option of the inner
/// optimizer.
Config canonical_loss_scale(const Config& config) {
  const Value given =
      config.contains("inner_optimizer") ? config.at("inner_optimizer") : config.at("optimizer");
  const Config inner = canonical_optimizer(given.config("[LossScaleOptimizer] inner_optimizer"));
  Config own = config;
  for (const char* name : {"optimizer", "inner_optimizer", "dynamic", "loss_scale", "learning_rate"})
    own.erase(name);
  if (config.get("dynamic", true) == Value(false)) {
    Config arguments = config_of_object(inner);
    arguments.set("loss_scale_factor", config.get("initial_scale", 1));
    return object_of(class_of(inner), arguments);
  }
  own.set("inner_optimizer", inner);
  return object_of("LossScaleOptimizer", own);
}

Config canonical_optimizer(const Config& optimizer) {
  Config config = config_of_object(optimizer);
  const std::string class_name = known_class("optimizer", optimizer);
  if (class_name == "LossScaleOptimizer" || class_name == "LossScaleOptimizerV3")
    return canonical_loss_scale(config);
  const std::string name = from_tfjs(class_name, config);
  rename(config, "lr", "learning_rate");
  const Value decay = config.get("decay", 0);
  if (is_object(config.get("learning_rate")))
    config.set("learning_rate", canonical_schedule(config.at("learning_rate").config()));
  // Nadam's decay is the decay of its momentum, which Keras 3 fixed at the default.
  else if (name != "Nadam" && decay.is_number() && decay.number() != 0)
    config.set("learning_rate", decaying(config.at("learning_rate"), decay));
  if (config.get("epsilon", 1e-7).is_null()) config.set("epsilon", 1e-7);  // null: K.epsilon() in Keras 2.2
  if (config.get("weight_decay") == Value(false)) config.set("weight_decay", Value());
  for (const char* how_it_runs :
       {"decay", "schedule_decay", "jit_compile", "is_legacy_optimizer", "use_locking"})
    config.erase(how_it_runs);
  return object_of(name, config);
}

// --- Losses and metrics ------------------------------------------------------------------------------------

std::string canonical_name(const std::string& name) {
  return name == "cosine_proximity" || name == "cosine" ? "cosine_similarity" : name;
}

/// Replaces a wrapper around a function by an object with the function's name as its class and the wrapper's
/// config.
Config without_wrapper(const std::string& class_name, Config config) {
  Value function = config.get("fn");
  config.erase("fn");
  const bool wrapper = class_name == "MeanMetricWrapper" || class_name == "LossFunctionWrapper";
  if (is_object(function)) function = function.config().get("config");
  return object_of(wrapper && function.is_string() ? canonical_name(function.string()) : class_name, config);
}

Value canonical_measure(const std::string& kind, const Value& value) {
  if (value.is_string()) return canonical_name(value.string());
  if (value.is_list()) {
    Value::List list;
    for (const Value& item : value.list()) list.push_back(canonical_measure(kind, item));
    return list;
  }
  if (!value.is_config()) return value;
  if (!is_object(value)) {
    Config by_output;
    for (const auto& [name, item] : value.config()) by_output.set(name, canonical_measure(kind, item));
    return by_output;
  }
  const Config& object = value.config();
  if (class_of(object) == "function")
    return Config{{"class_name", "function"}, {"config", object.get("config")}};
  Config config = config_of_object(object);
  if (config.get("from_sorted_ids") == Value(false)) config.erase("from_sorted_ids");
  if (config.get("reduction") == Value("auto")) config.set("reduction", "sum_over_batch_size");
  return without_wrapper(known_class(kind, object), config);
}

/// Removes arguments that optimizers got in Keras 2.11 and later, if these arguments have no effect.
void drop_late_arguments(Config& config) {
  const std::vector<std::pair<const char*, Value>> neutral{
      {"weight_decay", {}}, {"clipnorm", {}},          {"global_clipnorm", {}},
      {"clipvalue", {}},    {"loss_scale_factor", {}}, {"gradient_accumulation_steps", {}}};
  for (const auto& [name, value] : neutral)
    if (config.contains(name) && config.at(name) == value) config.erase(name);
  if (config.get("use_ema", false) == Value(false))
    for (const char* name : {"use_ema", "ema_momentum", "ema_overwrite_frequency"}) config.erase(name);
}

Config keras2_optimizer(const Config& optimizer) {
  Config arguments = config_of_object(optimizer);
  if (class_of(optimizer) == "LossScaleOptimizer") {
    arguments.erase("name");
    arguments.set("inner_optimizer", keras2_optimizer(arguments.at("inner_optimizer").config()));
    arguments.set("dynamic", true);
    return object_of("LossScaleOptimizerV3", arguments);
  }
  drop_late_arguments(arguments);
  return object_of(class_of(optimizer), arguments);
}

/// Returns the metrics of Keras 2 in the form of Keras 3. In Keras 2, a list without inner lists holds for
/// each output; Keras 3 writes such metrics as a list whose only entry is that list.
Value for_all_outputs(const Value& metrics) {
  if (!metrics.is_list() || metrics.list().empty()) return metrics;
  for (const Value& metric : metrics.list())
    if (metric.is_list()) return metrics;
  return Value::List{metrics};
}

}  // namespace

Value canonical_compile(const Value& given) {
  const Value compile = unwrapped(given);
  if (compile.is_null()) return {};
  const Config& config = compile.config("[compile_from_config] a compile config");
  if (config.empty()) return {};  // a model that was not compiled
  Value optimizer = config.get("optimizer_config", config.get("optimizer"));
  if (optimizer.is_null()) optimizer = "rmsprop";  // the default of compile
  if (is_object(optimizer)) optimizer = canonical_optimizer(optimizer.config());
  const auto metrics_in = [&](const char* argument) {
    const Value metrics = canonical_measure("metric", config.get(argument));
    return config.contains("optimizer_config") ? for_all_outputs(metrics) : metrics;
  };
  Config canonical{{"optimizer", optimizer},
                   {"loss", canonical_measure("loss", config.get("loss"))},
                   {"loss_weights", config.get("loss_weights")},
                   {"metrics", metrics_in("metrics")},
                   {"weighted_metrics", metrics_in("weighted_metrics")}};
  if (config.contains("auto_scale_loss")) canonical.set("auto_scale_loss", config.at("auto_scale_loss"));
  return canonical;
}

Value keras2_compile(const Value& compile) {
  const Value canonical = canonical_compile(compile);
  if (canonical.is_null()) return {};
  Config config = canonical.config();
  const Value optimizer = config.at("optimizer");
  config.erase("optimizer");
  if (!is_object(optimizer)) {
    config.set("optimizer_config", object_of(optimizer.string("[compile] optimizer"), {}));
    return config;
  }
  config.erase("auto_scale_loss");
  config.set("optimizer_config", keras2_optimizer(optimizer.config()));
  return config;
}

}  // namespace ktape::nn::saving
