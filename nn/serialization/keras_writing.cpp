#include <ktape/nn/models/operation_config.hpp>
#include <ktape/nn/serialization/keras_dialects.hpp>
#include <ktape/nn/serialization/keras_objects.hpp>

#include <algorithm>
#include <map>
#include <set>

/// Conversion from the canonical form to the forms that Keras 2 and TensorFlow.js read.
namespace ktape::nn::saving {
namespace {

// --- Layers ------------------------------------------------------------------------------------------------

/// Returns the arguments that Keras 2 got late or never. A seed counts as harmless: another seed only gives
/// other random numbers of equal distribution.
const std::vector<Absent>& absent_in_keras2() {
  static const std::vector<const char*> global{"GlobalMaxPooling1D",     "GlobalMaxPooling2D",
                                               "GlobalMaxPooling3D",     "GlobalAveragePooling1D",
                                               "GlobalAveragePooling2D", "GlobalAveragePooling3D"};
  static const std::vector<const char*> random{"RandomFlip", "RandomRotation", "RandomTranslation",
                                               "RandomZoom", "RandomContrast", "RandomBrightness",
                                               "RandomCrop", "Resizing",       "CenterCrop"};
  static const std::vector<const char*> seedless{"SimpleRNN",
                                                 "LSTM",
                                                 "GRU",
                                                 "SimpleRNNCell",
                                                 "LSTMCell",
                                                 "GRUCell",
                                                 "ConvLSTM1D",
                                                 "ConvLSTM2D",
                                                 "ConvLSTM3D",
                                                 "Attention",
                                                 "AdditiveAttention",
                                                 "MultiHeadAttention",
                                                 "SpatialDropout1D",
                                                 "SpatialDropout2D",
                                                 "SpatialDropout3D"};
  static const std::vector<const char*> noise{"GaussianNoise", "GaussianDropout", "AlphaDropout"};
  static const std::vector<Absent> all{
      {"seed", seedless},
      {"seed", noise, {Value()}},
      {"zero_output_for_mask", {}, {false}},
      {"keepdims", global, {false}},
      {"groups", {"Conv1D", "Conv2D", "Conv3D"}, {1}},
      {"data_format", random, {Value(), "", "channels_last"}},
      {"data_format", {"SpatialDropout1D", "ZeroPadding1D", "Cropping1D"}, {Value(), "", "channels_last"}},
      {"sliding_window", {"MultiHeadAttention"}, {Value()}},
      {"use_gate", {"MultiHeadAttention"}, {false}},
      {"value_range", {"RandomContrast"}},
      {"pad_to_aspect_ratio", {"Resizing"}, {false}},
      {"antialias", {"Resizing"}, {false}},
      {"fill_mode", {"Resizing"}, {"constant"}},
      {"fill_value", {"Resizing"}, {0}}};
  return all;
}

/// Returns the layer that Keras 2 uses for an activation with options; any other activation unchanged.
Value as_layer(const Value& activation) {
  static const std::map<std::string, std::string> layers{
      {"leaky_relu", "LeakyReLU"}, {"relu", "ReLU"}, {"elu", "ELU"}, {"softmax", "Softmax"}};
  if (!is_object(activation)) return activation;
  const Config& object = activation.config();
  const auto layer = layers.find(class_of(object));
  return layer == layers.end() ? activation : Value(object_of(layer->second, config_of_object(object)));
}

/// Replaces each object in the arguments of a layer by f(kind, object).
template <class F>
void for_each_object(Config& config, const F& f) {
  for (const std::string& argument : config.names()) {
    const std::string kind = kind_of_argument(argument);
    const Value& value = config.at(argument);
    if (kind.empty() || value.is_null()) continue;
    if (!value.is_list()) {
      config.set(argument, f(kind, value));
      continue;
    }
    Value::List list;
    for (const Value& item : value.list()) list.push_back(f(kind, item));
    config.set(argument, list);
  }
}

Config keras2_layer(const Config& layer);

Value keras2_object(const std::string& kind, const Value& object) {
  if (kind == "layer" && is_object(object)) return keras2_layer(object.config());
  if (kind != "activation")
    return is_object(object) ? Value(object_of(class_of(object.config()), config_of_object(object.config())))
                             : object;
  if (object == Value("silu")) return "swish";
  // TensorFlow.js looks at the class name alone and ignores the slope, so the name must differ from Keras 2's
  // function.
  if (object == Value("hard_sigmoid")) return object_of("ktape>hard_sigmoid", {{"slope", 1 / 6.}});
  if (object == Value(object_of("hard_sigmoid", {{"slope", 0.2}}))) return "hard_sigmoid";
  const Value layer = as_layer(object);
  return layer == object || !is_object(layer) ? layer : Value(keras2_layer(layer.config()));
}

/// Returns a dtype policy as Keras 2 has it. Throws ValueError for a map of policies.
Value keras2_policy(const Config& policy, const std::string& layer) {
  if (class_of(policy) == "DTypePolicyMap")
    fail("[save] Keras 2 has no DTypePolicyMap: received a ", layer, " with a map; save the model as .keras");
  return object_of("Policy", {{"name", config_of_object(policy).at("name")}});
}

/// Brings the dtype policy of a layer or a model to Keras 2's form.
void rewrite_policy(const std::string& layer, Config& config) {
  if (is_object(config.get("dtype"))) config.set("dtype", keras2_policy(config.at("dtype").config(), layer));
}

Config keras2_arguments(const std::string& layer, Config config) {
  for_each_object(config, keras2_object);
  if (layer == "InputLayer") rename(config, "batch_shape", "batch_input_shape");
  rewrite_policy(layer, config);
  if (layer == "LeakyReLU") rename(config, "negative_slope", "alpha");
  drop_absent(absent_in_keras2(), layer, config);
  return config;
}

// --- Models ------------------------------------------------------------------------------------------------

/// A converter of the calls of a model to Keras 2's form.
class Keras2Graph {
 public:
  explicit Keras2Graph(const Config& config) : config_(config) {
    for (const Value& layer : config.at("layers").list()) {
      const Config& described = layer.config();
      const Value inner = config_of_object(described).get("layers");
      // A model with a known input is built, and building counts as the model's first call.
      const bool built = inner.is_list() && !inner.list().empty() &&
                         inner.list()[0].config().at("class_name") == Value("InputLayer");
      first_call_[name_of(described)] = is_graph(described) || built ? 1 : 0;
      functional_[name_of(described)] = is_graph(described);
    }
  }

  Config written() const {
    Value::List layers;
    for (const Value& layer : config_.at("layers").list()) {
      const bool is_operation = class_of(layer.config()) == operation_class;
      const Config given = is_operation ? keras2_operation(layer.config()) : layer.config();
      Config member =
          is_operation ? object_of(class_of(given), config_of_object(given)) : keras2_layer(given);
      Value::List nodes;
      for (const Value& node : given.at("inbound_nodes").list())
        nodes.push_back(is_operation ? operation_call(node) : call(given, node));
      member.set("name", name_of(given));
      member.set("inbound_nodes", nodes);
      layers.push_back(member);
    }
    Config config = config_;
    rewrite_policy("Functional", config);
    config.set("layers", layers);
    for (const char* name : {"input_layers", "output_layers"}) config.set(name, ends(config_.at(name)));
    return config;
  }

 private:
  Value::List listed(const Value& tensor) const {
    Value::List at = history_of(tensor).list();
    at[1] = at[1].integer() + first_call(at[0].string());
    return at;
  }

  std::int64_t first_call(const std::string& layer) const {
    const auto found = first_call_.find(layer);
    if (found == first_call_.end())
      fail("[save] a call must be of a layer of the model: received '", layer, "'");
    return found->second;
  }

  /// Returns the first argument of a call, a tensor or nested lists of tensors, in Keras 2's form.
  Value first(const Config& layer, const Value& argument, const Config& others) const {
    if (is_tensor(argument)) {
      Value::List tensor = listed(argument);
      tensor.push_back(others);
      return tensor;
    }
    if (!argument.is_list()) return Value::List{"_CONSTANT_VALUE", -1, argument, others};
    Value::List list;
    for (const Value& item : argument.list()) list.push_back(first(layer, item, others));
    return list;
  }

  /// Returns an argument after the first in Keras 2's form, with tensors as lists.
  Value other(const Value& argument) const {
    if (is_tensor(argument)) return listed(argument);
    if (!argument.is_list()) return argument;
    Value::List list;
    for (const Value& item : argument.list()) list.push_back(other(item));
    return list;
  }

  /// Returns a call in Keras 2's form: only the first argument is positional, all others have names.
  Value call(const Config& layer, const Value& node) const {
    Value::List arguments = node.config().at("args").list();
    Config others;
    for (const auto& [name, value] : node.config().at("kwargs").config()) others.set(name, other(value));
    if (class_of(layer) == "MultiHeadAttention") {
      const char* names[] = {"query", "value", "key"};
      for (; arguments.size() > 1 && arguments.size() <= 3; arguments.pop_back())
        others.set(names[arguments.size() - 1], other(arguments.back()));
    }
    // The states of a recurrent layer are listed after the layer's input.
    const Value states = node.config().at("kwargs").config().get("initial_state");
    if (arguments.size() == 1 && !arguments[0].is_list() && !states.is_null()) {
      Value::List all{arguments[0]};
      for (const Value& state : states.is_list() ? states.list() : Value::List{states}) all.push_back(state);
      arguments[0] = all;
      others.erase("initial_state");
    }
    if (arguments.size() != 1)
      fail("[", name_of(layer),
           "] a call must have one argument without a name, or a list of tensors, to be "
           "written as Keras 2 does: received ",
           arguments.size());
    const Value tensors = first(layer, arguments[0], others);
    return arguments[0].is_list() ? tensors : Value(Value::List{tensors});
  }

  /// Returns the call of an operation, which is a tensor or lists of tensors, without a list around it.
  Value operation_call(const Value& node) const {
    Config others;
    for (const auto& [name, value] : node.config().at("kwargs").config()) others.set(name, other(value));
    return first(Config(), node.config().at("args").list()[0], others);
  }

  Value ends(const Value& canonical) const {
    Value::List list;
    if (!canonical.list().empty() && canonical.list()[0].is_string()) return ends(Value::List{canonical});
    for (const Value& end : canonical.list()) {
      Value::List at = end.list();
      const std::string& layer = at[0].string();
      if (!functional_.at(layer)) at[1] = at[1].integer() + first_call(layer);
      list.push_back(at);
    }
    return list;
  }

  const Config& config_;
  std::map<std::string, std::int64_t> first_call_;
  std::map<std::string, bool> functional_;
};

Config keras2_sequence(Config config) {
  Value::List layers;
  for (const Value& item : config.at("layers").list()) layers.push_back(keras2_layer(item.config()));
  config.set("layers", layers);
  rewrite_policy("Sequential", config);
  if (config.get("dtype") == Value("float32")) config.erase("dtype");  // Keras 2 writes none
  return config;
}

Config keras2_layer(const Config& layer) {
  const std::string& name = class_of(layer);
  Config written = object_of(name, is_graph(layer)      ? Keras2Graph(config_of_object(layer)).written()
                                   : is_sequence(layer) ? keras2_sequence(config_of_object(layer))
                                                        : keras2_arguments(name, config_of_object(layer)));
  if (layer.contains("shared_object_id")) written.set("shared_object_id", layer.at("shared_object_id"));
  return written;
}

/// Returns the classes that Keras 2.15 does not have.
const std::set<std::string>& later_classes() {
  static const std::set<std::string> names{"RMSNormalization",
                                           "GroupQueryAttention",
                                           "GroupedQueryAttention",
                                           "CTC",
                                           "CategoricalGeneralizedCrossEntropy",
                                           "Circle",
                                           "Dice",
                                           "Tversky",
                                           "ConcordanceCorrelation",
                                           "PearsonCorrelation",
                                           "Lamb",
                                           "Muon",
                                           "ScheduleFreeAdamW",
                                           "MultiOptimizer",
                                           operation_class};
  return names;
}

void expect_keras2_object(const std::string& name, const Config& config) {
  const std::string shown = config.get("name").is_string() ? config.at("name").string() : name;
  if (later_classes().contains(name))
    fail("[save] Keras 2.15 must have the class: received keras_version=2, '", shown, "' of the class ",
         name);
  for (const Absent& absent : absent_in_keras2())
    if (config.contains(absent.argument) && concerns(absent, name))
      fail("[save] Keras 2.15 must have the argument: received keras_version=2, ", absent.argument, '=',
           to_json(config.at(absent.argument)), " of '", shown, "', a ", name);
}

}  // namespace

void expect_keras2(const Value& written) {
  if (written.is_list())
    for (const Value& item : written.list()) expect_keras2(item);
  if (!written.is_config()) return;
  if (is_object(written))
    expect_keras2_object(class_of(written.config()), config_of_object(written.config()));
  for (const auto& [name, value] : written.config()) expect_keras2(value);
}

Value keras2(const Value& architecture) { return keras2_layer(canonical(architecture).config()); }

}  // namespace ktape::nn::saving
