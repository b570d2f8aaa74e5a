#include <ktape/nn/core/dtype_policy.hpp>
#include <ktape/nn/core/registry.hpp>
#include <ktape/nn/serialization/keras_objects.hpp>

#include <algorithm>
#include <map>

namespace ktape::nn::saving {
const std::string& class_of(const Config& object) { return object.at("class_name").string("class_name"); }

Config config_of_object(const Config& object) {
  const Value config = object.get("config");
  return config.is_null() ? Config() : config.config('[' + class_of(object) + "] config");
}

bool is_object(const Value& value) { return value.is_config() && value.config().contains("class_name"); }

void rename(Config& config, const char* old_name, const char* name) {
  if (!config.contains(old_name)) return;
  if (!config.contains(name)) config.set(name, config.at(old_name));
  config.erase(old_name);
}

Config described_as(const Config& given, const std::string& class_name, const Config& config) {
  Config layer = object_of(class_name, config);
  for (const char* name : {"shared_object_id", "build_config"})
    if (given.contains(name)) layer.set(name, given.at(name));
  return layer;
}

std::string name_of(const Config& layer) {
  const Value config = layer.get("config");
  Value name = layer.get("name");
  if (!name.is_string() && config.is_config()) name = config.config().get("name");
  return name.is_string() ? name.string() : class_of(layer);
}

bool is_graph(const Config& layer) {
  const Value config = layer.get("config");
  return config.is_config() && config.config().contains("layers") && config.config().contains("input_layers");
}

bool is_sequence(const Config& layer) {
  const Value config = layer.get("config");
  return config.is_list() || (class_of(layer) == "Sequential" && config.is_config());
}

// --- Values ------------------------------------------------------------------------------------------------

namespace {

/// Returns the content of a wrapper; nothing for a config that is not a wrapper.
std::optional<Value> inside(const Config& config) {
  if (config.get("type") == Value("ndarray") && config.contains("value")) return config.at("value");
  const Value name = config.get("class_name");
  if (name == Value("__tuple__") || name == Value("TensorShape")) return config.get("items");
  const bool array = name == Value("__numpy__") || name == Value("__tensor__");
  if (array && config.get("config").is_config()) return config.at("config").config().get("value");
  return {};
}

}  // namespace

namespace {

bool is_array(const Config& config) {
  return config.get("class_name") == Value("__numpy__") || config.get("class_name") == Value("__tensor__");
}

/// Unwraps a value. Arrays in the calls of layers stay: operations need the dtypes.
Value unwrapped_in(const Value& value, bool in_call) {
  if (value.is_list()) {
    Value::List list;
    for (const Value& item : value.list()) list.push_back(unwrapped_in(item, in_call));
    return list;
  }
  if (!value.is_config() || (in_call && is_array(value.config()))) return value;
  if (const std::optional<Value> inner = inside(value.config())) return unwrapped_in(*inner, in_call);
  Config config;
  for (const auto& [name, item] : value.config())
    config.set(name, unwrapped_in(item, in_call || name == "inbound_nodes"));
  return config;
}

}  // namespace

Value unwrapped(const Value& value) { return unwrapped_in(value, false); }

Value tensor_at(const std::string& layer, std::int64_t call, std::int64_t output) {
  const Value::List history{layer, call, output};
  return object_of("__keras_tensor__", {{"keras_history", history}});
}

bool is_tensor(const Value& value) {
  return is_object(value) && value.config().at("class_name") == Value("__keras_tensor__");
}

Value history_of(const Value& tensor) {
  if (!is_tensor(tensor)) return {};
  const Value history = config_of_object(tensor.config()).at("keras_history");
  if (history.list("keras_history").size() != 3)
    fail("[model_from_config] keras_history must be [layer, call, output]: received keras_history=", history);
  return history;
}

Value dtype_of(const std::string& layer, const Value& dtype) {
  if (dtype.is_null()) return {};
  Value policy = dtype;
  if (is_object(dtype)) {
    const Value config = dtype.config().get("config");
    const bool is_map = dtype.config().at("class_name") == Value("DTypePolicyMap") && config.is_config();
    if (!is_map) policy = config_of_object(dtype.config()).get("name");
  }
  if (!policy.is_string() && !policy.is_config())
    fail("[", layer, "] dtype must be a dtype or the policy of one: received dtype=", dtype);
  if (policy == Value("_infer") || policy == Value("infer")) return {};
  if (policy == Value("string")) return policy;
  try {
    return DTypePolicy(policy).to_value();
  } catch (const Error& error) {
    fail("[", layer, "] dtype must be one of the library: ", error.what());
  }
}

// --- Objects in the arguments of layers --------------------------------------------------------------------

std::string kind_of_argument(const std::string& argument) {
  for (const char* kind : {"initializer", "regularizer", "constraint", "activation"})
    if (argument == kind || argument.ends_with('_' + std::string(kind))) return kind;
  for (const char* layer : {"layer", "backward_layer", "cell", "cells"})
    if (argument == layer) return "layer";
  return "";
}

std::string known_class(const std::string& kind, const Config& object) {
  const std::string& name = class_of(object);
  const Value registered = object.get("registered_name");
  if (registered.is_string() && is_registered(kind, registered.string())) return registered.string();
  return is_registered(kind, name) ? name : name.substr(name.rfind('>') + 1);
}

namespace {

/// Returns the name of an initializer without the version that TensorFlow appends.
std::string without_version(const std::string& name) {
  const bool versioned = name.ends_with("V1") || name.ends_with("V2");
  return versioned && !is_registered("initializer", name) ? name.substr(0, name.size() - 2) : name;
}

Config canonical_initializer(const std::string& name, Config config) {
  config.erase("dtype");
  if (config.get("distribution") == Value("normal")) config.set("distribution", "truncated_normal");
  // A config is the state of a generator, which is not a seed.
  if (config.get("seed").is_config()) config.set("seed", Value());
  return object_of(without_version(name), config);
}

/// Returns the canonical form of an activation, or of a layer that stands for an activation.
Value canonical_activation(std::string name, Config config, Dialect dialect) {
  if (name == "softmax_v2") name = "softmax";
  if (name == "hard_sigmoid" && dialect == Dialect::Keras2 && config.empty()) config = {{"slope", 0.2}};
  if (name == "hard_sigmoid" && config.get("slope") == Value(1 / 6.)) config = {};
  if (name == "LeakyReLU") rename(config, "alpha", "negative_slope");
  for (const char* argument : {"name", "trainable", "dtype", "build_config"}) config.erase(argument);
  return config.empty() ? Value(name) : Value(object_of(name, config));
}

}  // namespace

Value canonical_object(const std::string& kind, const Value& given, Dialect dialect) {
  if (given.is_list()) {
    Value::List list;
    for (const Value& item : given.list()) list.push_back(canonical_object(kind, item, dialect));
    return list;
  }
  Value object = given;
  if (is_object(object) && class_of(object.config()) == "function") object = object.config().get("config");
  if (object.is_string() && kind == "activation") return canonical_activation(object.string(), {}, dialect);
  if (!is_object(object)) return object;
  const Config& config = object.config();
  if (kind == "layer") return canonical_layer_or_model(config, dialect);
  const std::string name = known_class(kind, config);
  if (kind == "initializer") return canonical_initializer(name, config_of_object(config));
  if (kind == "activation") return canonical_activation(name, config_of_object(config), dialect);
  return object_of(name, config_of_object(config));
}

// --- Layers ------------------------------------------------------------------------------------------------

bool concerns(const Absent& absent, const std::string& layer) {
  return absent.layers.empty() || std::any_of(absent.layers.begin(), absent.layers.end(),
                                              [&](const char* name) { return layer == name; });
}

namespace {

using Names = std::vector<const char*>;

bool holds(const Absent& absent, const std::string& layer, const Value& value) {
  const auto is_value = [&](const Value& harmless) { return value == harmless; };
  return concerns(absent, layer) &&
         (absent.harmless.empty() || std::any_of(absent.harmless.begin(), absent.harmless.end(), is_value));
}

}  // namespace

void drop_absent(const std::vector<Absent>& all, const std::string& layer, Config& config) {
  for (const Absent& absent : all)
    if (config.contains(absent.argument) && holds(absent, layer, config.at(absent.argument)))
      config.erase(absent.argument);
}

namespace {

/// Returns the current names of layers, by the names in older versions of Keras.
const std::map<std::string, std::string>& old_names() {
  static const std::map<std::string, std::string> names{{"BatchNormalizationV1", "BatchNormalization"},
                                                        {"BatchNormalizationV2", "BatchNormalization"},
                                                        {"SyncBatchNormalization", "BatchNormalization"},
                                                        {"CuDNNLSTM", "LSTM"},
                                                        {"CuDNNGRU", "GRU"},
                                                        {"UnifiedLSTM", "LSTM"},
                                                        {"UnifiedGRU", "GRU"},
                                                        {"ThresholdedReLU", "ReLU"},
                                                        {"Model", "Functional"}};
  return names;
}

/// Returns the arguments that the layers of the library lack.
const std::vector<Absent>& absent_arguments() {
  static const Names recurrent{"RNN",        "SimpleRNN",  "LSTM",       "GRU",
                               "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "Bidirectional"};
  static const Names cells{"SimpleRNN", "LSTM", "GRU", "SimpleRNNCell", "LSTMCell", "GRUCell"};
  static const Names attention{"MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention"};
  static const Names one_group{"Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose", "DepthwiseConv1D",
                               "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D"};
  static const Names channelwise{"DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D"};
  static const Names low_rank{"Dense", "EinsumDense", "Embedding", "Conv1D", "Conv2D", "Conv3D"};
  static const Names spatial{"SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"};
  static const std::vector<Absent> all{{"build_config", {}},
                                       {"autocast", {}},
                                       {"dynamic", {}},
                                       {"value_range", {"RandomRotation"}},
                                       {"quantization_config", {}, {Value()}},
                                       {"lora_rank", low_rank},  // the file has the merged kernel
                                       {"lora_alpha", low_rank},
                                       {"implementation", cells},
                                       {"use_cudnn", recurrent},
                                       {"time_major", recurrent, {false}},
                                       {"unroll", {"LSTMCell", "GRUCell", "SimpleRNNCell"}},
                                       {"num_constants", {"RNN", "Bidirectional"}, {Value(), 0}},
                                       {"reverse_state_order", {"StackedRNNCells"}, {false}},
                                       {"fused", {"BatchNormalization"}},
                                       {"renorm", {"BatchNormalization"}, {false}},
                                       {"renorm_clipping", {"BatchNormalization"}, {Value(), Config()}},
                                       {"renorm_momentum", {"BatchNormalization"}},
                                       {"virtual_batch_size", {"BatchNormalization"}, {Value()}},
                                       {"adjustment", {"BatchNormalization"}, {Value()}},
                                       {"synchronized", {"BatchNormalization"}},
                                       {"rms_scaling", {"LayerNormalization"}, {false}},
                                       {"groups", one_group, {1}},
                                       {"filters", {"DepthwiseConv1D", "DepthwiseConv2D"}, {Value()}},
                                       {"kernel_initializer", channelwise},
                                       {"kernel_regularizer", channelwise},
                                       {"kernel_constraint", channelwise},
                                       {"noise_shape", spatial, {Value()}},
                                       {"causal", {"Attention", "AdditiveAttention"}, {false}},
                                       {"score_mode", {"AdditiveAttention"}},
                                       {"flash_attention", attention},
                                       {"query_shape", attention},
                                       {"key_shape", attention},
                                       {"value_shape", attention},
                                       {"ragged", {"InputLayer"}, {false}},
                                       {"optional", {"InputLayer"}, {false}},
                                       {"type_spec", {"InputLayer"}, {Value()}}};
  return all;
}

/// Converts the config of an InputLayer of Keras 2.
void canonical_input(const std::string& name, Config& config) {
  rename(config, "batch_input_shape", "batch_shape");
  if (config.get("ragged") == Value(true))
    fail("[", name, "] ragged must be false, as the library has no ragged tensors: received ragged=true");
}

/// Adds the arguments that the configs of Keras 2's recurrent layers and of the layers for cuDNN lack.
void complete_recurrent(const std::string& old_name, const std::string& layer, Config& config,
                        Dialect dialect) {
  if (old_name.starts_with("CuDNN")) {
    config.set("activation", "tanh");
    config.set("recurrent_activation", "sigmoid");
    if (layer == "GRU") config.set("reset_after", true);
  }
  const bool is_gru = layer == "GRU" || layer == "GRUCell";
  if (is_gru && dialect == Dialect::Keras2 && !config.contains("reset_after"))
    config.set("reset_after", false);
  if (config.contains("unit_forget_bias") && config.at("unit_forget_bias").is_null())
    config.set("unit_forget_bias", false);  // TensorFlow.js writes null for false
}

/// Returns the arguments of a layer of Keras, under their names of today.
Config canonical_arguments(const std::string& old_name, const std::string& layer, Config config,
                           Dialect dialect) {
  const std::string name = name_of(object_of(old_name, config));
  if (layer == "InputLayer") canonical_input(name, config);
  if (layer == "LeakyReLU") rename(config, "alpha", "negative_slope");
  if (old_name == "ThresholdedReLU") rename(config, "theta", "threshold");
  complete_recurrent(old_name, layer, config, dialect);
  const Value axis = config.get("axis");
  if (axis.is_list() && axis.list().size() == 1) config.set("axis", axis.list()[0]);
  drop_absent(absent_arguments(), layer, config);
  if (config.get("time_major") == Value(true))
    fail("[", name, "] time_major must be false: received time_major=true; the batch must be the first axis");
  return config;
}

}  // namespace

namespace {

/// Returns the arguments of a layer. TensorFlow.js writes the arguments of the cell into the config of RNN, too.
Config arguments_of(const std::string& layer, const Config& given) {
  Config config = config_of_object(given);
  const Value cell = config.get("cell");
  if (layer != "RNN" || !is_object(cell)) return config;
  for (const auto& [argument, value] : config_of_object(cell.config()))
    if (argument != "name" && argument != "trainable" && argument != "dtype" &&
        argument != "batch_input_shape")
      config.erase(argument);
  return config;
}

}  // namespace

Config canonical_layer(const Config& given, Dialect dialect) {
  const std::string name = known_class("layer", given);
  const auto renamed = old_names().find(name);
  // With nn/distributed, SyncBatchNormalization is a class; without, BatchNormalization takes its place.
  const bool synchronized = name == "SyncBatchNormalization" && is_registered("layer", name);
  const std::string layer = renamed == old_names().end() || synchronized ? name : renamed->second;
  Config config;
  for (const auto& [argument, value] : arguments_of(layer, given)) {
    const std::string kind = kind_of_argument(argument);
    config.set(argument, kind.empty() ? value : canonical_object(kind, value, dialect));
  }
  if (given.get("name").is_string()) config.set("name", given.at("name"));
  const Value dtype = dtype_of(name_of(given), config.get("dtype"));
  dtype.is_null() ? config.erase("dtype") : config.set("dtype", dtype);
  config = canonical_arguments(name, layer, config, dialect);
  if (layer != "InputLayer") config.erase("batch_input_shape");
  return described_as(given, layer, config);
}

}  // namespace ktape::nn::saving
