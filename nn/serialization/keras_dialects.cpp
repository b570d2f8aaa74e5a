#include <ktape/nn/models/node_config.hpp>
#include <ktape/nn/serialization/internal/keras_masks.hpp>
#include <ktape/nn/serialization/keras_dialects.hpp>
#include <ktape/nn/serialization/keras_objects.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace ktape::nn::saving {
namespace {

/// Returns Keras2 for a value with parts that only Keras 2 writes: `batch_input_shape`, a Policy, calls as
/// lists, or a Sequential whose config is a list.
Dialect dialect_of(const Value& value) {
  const auto of_keras2 = [](const Value& item) { return dialect_of(item) == Dialect::Keras2; };
  if (value.is_list())
    return std::any_of(value.list().begin(), value.list().end(), of_keras2) ? Dialect::Keras2
                                                                            : Dialect::Keras3;
  if (!value.is_config()) return Dialect::Keras3;
  const Config& config = value.config();
  if (config.contains("batch_input_shape") || config.get("class_name") == Value("Policy"))
    return Dialect::Keras2;
  if (config.get("class_name") == Value("Sequential") && config.get("config").is_list())
    return Dialect::Keras2;
  const Value nodes = config.get("inbound_nodes");
  if (nodes.is_list() && !nodes.list().empty() && nodes.list()[0].is_list()) return Dialect::Keras2;
  for (const auto& [name, item] : config)
    if (of_keras2(item)) return Dialect::Keras2;
  return Dialect::Keras3;
}

// --- Sequential --------------------------------------------------------------------------------------------

/// Returns the input shape from the config of a layer or model; null if the config has no shape.
Value input_shape_of(const Config& layer);

Value input_shape_of_graph(const Config& model) {
  const Value::List& inputs = model.at("config").config().at("input_layers").list("input_layers");
  if (inputs.size() != 1) return {};
  for (const Value& layer : model.at("config").config().at("layers").list("layers"))
    if (Value(name_of(layer.config())) == inputs[0].list().at(0)) return input_shape_of(layer.config());
  return {};
}

Value input_shape_of(const Config& layer) {
  if (is_graph(layer)) return input_shape_of_graph(layer);
  const Config& config = layer.at("config").config();
  if (!is_sequence(layer)) return config.get("batch_shape");
  const Value::List& layers = config.at("layers").list("layers");
  return layers.empty() ? Value() : input_shape_of(layers[0].config());
}

Config input_layer(const std::string& name, const Value& shape, const Value& dtype) {
  Config config{{"name", name}, {"batch_shape", shape}};
  if (!dtype.is_null()) config.set("dtype", dtype);
  return object_of("InputLayer", config);
}

/// Returns the InputLayer before the first layer of a Sequential, if the config of the Sequential or of its
/// first layer has the shape.
std::optional<Config> missing_input(const Config& sequence, const Value& first,
                                    const Config& canonical_first) {
  if (canonical_first.at("class_name") == Value("InputLayer")) return {};
  const Config& config = canonical_first.at("config").config();
  Value shape = input_shape_of(canonical_first);
  const Value given = first.config().get("config");
  if (given.is_config() && given.config().contains("batch_input_shape"))
    shape = given.config().at("batch_input_shape");
  else if (sequence.get("build_input_shape").is_list()) shape = sequence.at("build_input_shape");
  if (shape.is_null()) return {};
  return input_layer(name_of(canonical_first) + "_input", shape, config.get("dtype"));
}

/// Brings the policy of a model to the canonical form: none for float32.
void keep_policy(const std::string& model, Config& config) {
  const Value policy = dtype_of(model, config.get("dtype"));
  for (const char* name : {"build_input_shape", "dtype"}) config.erase(name);
  if (!policy.is_null() && policy != Value("float32")) config.set("dtype", policy);
}

Config canonical_sequence(const Config& model, Dialect dialect) {
  const Value given = model.at("config");
  Config config = given.is_list() ? Config{{"layers", given}} : given.config();
  Value::List layers;
  for (const Value& layer : config.at("layers").list("[Sequential] layers")) {
    const Config canonical = canonical_layer_or_model(layer.config("[Sequential] a layer"), dialect);
    if (layers.empty())
      if (const auto input = missing_input(config, layer, canonical)) layers.push_back(*input);
    layers.push_back(canonical);
  }
  config.set("layers", layers);
  keep_policy(name_of(model), config);
  return described_as(model, "Sequential", config);
}

// --- Functional --------------------------------------------------------------------------------------------

/// A converter of the calls of a model to the canonical form.
class Graph {
 public:
  Graph(const Config& config, Dialect dialect) : config_(config), dialect_(dialect) {
    for (const Value& layer : config.at("layers").list("[Functional] layers")) {
      const Config& described = layer.config("[Functional] a layer");
      layers_.emplace(name_of(described), Layer{.is_functional = is_graph(described),
                                                .is_model = is_graph(described) || is_sequence(described)});
    }
    for (const Value& layer : config.at("layers").list()) find_first_calls(layer.config());
    for (const char* ends : {"input_layers", "output_layers"}) see(config.at(ends));
  }

  Config canonical() const {
    Value::List layers;
    for (const Value& layer : config_.at("layers").list()) layers.push_back(canonical_member(layer.config()));
    Config config = config_;
    config.set("layers", layers);
    config.set("input_layers", ends(config_.at("input_layers")));
    config.set("output_layers", ends(config_.at("output_layers")));
    keep_policy(config_.get("name", "Functional").string("[Functional] name"), config);
    return config;
  }

 private:
  struct Layer {
    bool is_functional = false, is_model = false;
    std::size_t calls = 0;
    std::int64_t least = INT64_MAX, most = -1;  ///< the range of the calls that lists name
  };

  static bool is_history(const Value& value) {
    return value.is_list() && (value.list().size() == 3 || value.list().size() == 4) &&
           value.list()[0].is_string() && value.list()[1].is_integer();
  }
  /// Returns true for a tensor of Keras 2: a list that begins with [layer, call, output] and names a layer of
  /// the model.
  bool is_listed_tensor(const Value& value) const {
    return is_history(value) && layers_.contains(value.list()[0].string());
  }

  void find_first_calls(const Config& layer) {
    const Value nodes = layer.get("inbound_nodes");
    if (!nodes.is_list()) return;
    layers_.at(name_of(layer)).calls = nodes.list().size();
    for (const Value& node : nodes.list())
      if (dialect_ == Dialect::Keras2) see(node);
  }

  /// Records the call numbers in all of Keras 2's tensors inside a value.
  void see(const Value& value) {
    if (is_listed_tensor(value)) {
      Layer& layer = layers_.at(value.list()[0].string());
      layer.least = std::min(layer.least, value.list()[1].integer());
      layer.most = std::max(layer.most, value.list()[1].integer());
    }
    if (value.is_list())
      for (const Value& item : value.list()) see(item);
    if (value.is_config())
      for (const auto& [name, item] : value.config()) see(item);
  }

  /// Returns the number of the first call of a layer. In Keras 2 building a model counts as the model's first
  /// call, so that the calls in a graph count from 1. A Sequential may have been built or not: the call
  /// numbers show which.
  std::int64_t first_call(const Layer& layer) const {
    if (dialect_ == Dialect::Keras3 || !layer.is_model || layer.least == 0) return 0;
    return layer.is_functional || layer.most >= static_cast<std::int64_t>(layer.calls) ? 1 : 0;
  }

  Value tensor(const Value& listed) const {
    const Value::List& parts = listed.list();
    const std::string& name = parts[0].string();
    if (name == "_CONSTANT_VALUE") return parts[2];
    const auto layer = layers_.find(name);
    if (layer == layers_.end())
      fail("[Functional] a call must be of a layer of the model: received ", listed);
    return tensor_at(name, parts[1].integer() - first_call(layer->second),
                     parts[2].integer("[Functional] output"));
  }

  /// Returns the first argument of a call of Keras 2: a tensor, a list of tensors, lists of lists, or tensors
  /// by name.
  Value first_argument(const Value& node) const {
    if (is_history(node)) return tensor(node);
    Value::List list;
    if (node.is_config()) {
      std::map<std::string, Value> sorted;
      for (const auto& [name, item] : node.config()) sorted.emplace(name, item);
      for (const auto& [name, item] : sorted) list.push_back(first_argument(item));
      return list;
    }
    for (const Value& item : node.list("[Functional] a call")) list.push_back(first_argument(item));
    return list;
  }

  /// Returns the arguments after the tensors of a call of Keras 2; all tensors of a call carry equal
  /// arguments.
  static Config other_arguments(const Value& node) {
    if (is_history(node)) {
      const Value::List& parts = node.list();
      return parts.size() > 3 && parts[3].is_config() ? parts[3].config() : Config();
    }
    if (node.is_config())
      return node.config().empty() ? Config() : other_arguments(node.config().begin()->second);
    return node.list().empty() ? Config() : other_arguments(node.list()[0]);
  }

  /// Returns an argument after the first, with tensors in the canonical form. A list in the argument may be a
  /// tensor.
  Value with_tensors(const Value& value) const {
    if (is_listed_tensor(value)) return tensor(value);
    if (!value.is_list()) return value;
    Value::List list;
    for (const Value& item : value.list()) list.push_back(with_tensors(item));
    return list;
  }

  static Config without_nulls(const Config& arguments) {
    Config kept;
    for (const auto& [name, value] : arguments)
      if (!value.is_null()) kept.set(name, value);
    return kept;
  }

  /// Returns the default of `training` in the `call` of a class of Keras 3; null for None. Keras 3 records
  /// the default with each call, and lets the model's `training` argument replace the default.
  static Value default_training(const std::string& class_name) {
    static const std::set<std::string> inference{"AlphaDropout",
                                                 "Attention",
                                                 "AdditiveAttention",
                                                 "Bidirectional",
                                                 "ConvLSTM1D",
                                                 "ConvLSTM2D",
                                                 "ConvLSTM3D",
                                                 "Dropout",
                                                 "GRU",
                                                 "GRUCell",
                                                 "GaussianDropout",
                                                 "GaussianNoise",
                                                 "LSTM",
                                                 "LSTMCell",
                                                 "RNN",
                                                 "SimpleRNN",
                                                 "SimpleRNNCell",
                                                 "SpatialDropout1D",
                                                 "SpatialDropout2D",
                                                 "SpatialDropout3D",
                                                 "StackedRNNCells"};
    if (class_name.starts_with("Random")) return true;
    return inference.contains(class_name) ? Value(false) : Value();
  }

  Value canonical_node(const Config& layer, const Value& node) const {
    if (node.is_config() && node.config().contains("args")) {
      Config named = without_nulls(node.config().get("kwargs", Config()).config());
      const bool fixed = node.config().contains(fixed_training);
      if (!fixed && named.contains("training") && named.at("training") == default_training(class_of(layer)))
        named.erase("training");
      Config call{{"args", node.config().at("args").list("[Functional] args")}, {"kwargs", named}};
      if (fixed) call.set(fixed_training, true);
      return call;
    }
    Value first = first_argument(node);
    if (first.is_list() && first.list().size() == 1) first = Value(first.list()[0]);
    Config others;
    for (const auto& [name, value] : without_nulls(other_arguments(node)))
      others.set(name, with_tensors(value));
    return Config{{"args", Value::List{first}}, {"kwargs", others}};
  }

  Config canonical_member(const Config& layer) const {
    Value::List nodes;
    const Value given = layer.get("inbound_nodes");
    if (!given.is_null())
      for (const Value& node : given.list("[Functional] inbound_nodes"))
        nodes.push_back(canonical_node(layer, node));
    if (const auto operation = canonical_operation(layer, nodes)) return *operation;
    Config canonical = canonical_layer_or_model(layer, dialect_);
    canonical.set("name", name_of(layer));
    canonical.set("inbound_nodes", nodes);
    return canonical;
  }

  /// Returns a list of [layer, call, output] from the ends of a model: a single end, a list, or ends by name.
  /// The calls of a Functional count from 1.
  Value ends(const Value& given) const {
    Value::List list;
    if (is_history(given)) {
      Value::List at = history_of(tensor(given)).list();
      const bool from_one = dialect_ == Dialect::Keras2 && layers_.at(at[0].string()).is_functional;
      at[1] = at[1].integer() + from_one;
      list.push_back(at);
    } else if (given.is_config()) {
      std::map<std::string, Value> sorted;
      for (const auto& [name, item] : given.config()) sorted.emplace(name, item);
      for (const auto& [name, item] : sorted) append(list, ends(item));
    } else {
      for (const Value& item : given.list("[Functional] the ends of a model")) append(list, ends(item));
    }
    return list;
  }

  static void append(Value::List& list, const Value& more) {
    list.insert(list.end(), more.list().begin(), more.list().end());
  }

  const Config& config_;
  const Dialect dialect_;
  std::map<std::string, Layer> layers_;
};

}  // namespace

Config canonical_layer_or_model(const Config& layer, Dialect dialect) {
  if (is_sequence(layer)) return canonical_sequence(layer, dialect);
  if (!is_graph(layer)) return canonical_layer(layer, dialect);
  const std::string name = known_class("layer", layer);
  const Config given = layer.at("config").config();
  const Config masked = dialect == Dialect::Keras3 ? without_automatic_masks(given) : given;
  const Config config = Graph(masked, dialect).canonical();
  return described_as(layer, name == "Model" ? "Functional" : name, config);
}

Value canonical(const Value& architecture) {
  const Value plain = unwrapped(architecture);
  const Config& given = plain.config("[model_from_config] an architecture");
  if (!given.contains("class_name") && given.contains("model_config"))
    return canonical(given.at("model_config"));
  return canonical_layer_or_model(given, dialect_of(plain));
}

}  // namespace ktape::nn::saving
