#include <ktape/nn/serialization/internal/keras_masks.hpp>
#include <ktape/nn/serialization/keras_objects.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace ktape::nn::saving {
namespace {

/// A mask: tensor != value or, with `any`, whether any element along the last axis differs from the value.
struct Mask {
  Value tensor;  ///< [layer, call, output]
  Value value;
  bool any = false;

  friend bool operator==(const Mask&, const Mask&) = default;
};

/// Returns the value of a constant, also where a config {class_name, config} holds the value.
Value constant_of(const Value& operand) {
  const Value plain = unwrapped(operand);
  return plain.is_number() ? plain : Value();
}

class MaskedGraph {
 public:
  explicit MaskedGraph(const Config& model) : model_(model) {
    for (const Value& layer : model.at("layers").list("[Functional] layers"))
      layers_.emplace(name_of(layer.config("[Functional] a layer")), layer.config());
  }

  Config without_automatic_masks() const {
    Value::List layers;
    for (const Value& layer : model_.at("layers").list()) layers.push_back(without_masks(layer.config()));
    Config config = model_;
    config.set("layers", without_unused(layers));
    return config;
  }

 private:
  /// Returns the layer and the call that made a tensor; null for an unknown layer or call.
  std::pair<const Config*, Value> maker(const Value& history) const {
    const Value::List& parts = history.list();
    const auto layer = layers_.find(parts[0].string("keras_history"));
    if (layer == layers_.end()) return {nullptr, {}};
    const Value nodes = layer->second.get("inbound_nodes");
    const std::int64_t call = parts[1].integer("keras_history");
    const bool there = nodes.is_list() && call >= 0 && call < static_cast<std::int64_t>(nodes.list().size());
    return {&layer->second, there ? nodes.list()[static_cast<std::size_t>(call)] : Value()};
  }

  static const Value::List& arguments_of(const Value& node) {
    return node.config("[Functional] a call").at("args").list("[Functional] args");
  }

  /// Returns the mask that operations compute; nothing for other tensors.
  std::optional<Mask> computed(const Value& history) const {
    const auto [layer, node] = maker(history);
    if (!layer || node.is_null()) return {};
    const Value::List& arguments = arguments_of(node);
    if (class_of(*layer) == "NotEqual" && arguments.size() == 2 && is_tensor(arguments[0])) {
      const Value value = constant_of(arguments[1]);
      if (value.is_null()) return {};
      return Mask{history_of(arguments[0]), value};
    }
    if (class_of(*layer) != "Any" || arguments.empty() || !is_tensor(arguments[0])) return {};
    const Value axis = unwrapped(config_of_object(*layer).get("axis"));
    const bool last = axis == Value(-1) || axis == Value(Value::List{-1});
    // Only a NotEqual is followed, because a hostile file may contain an Any whose argument is the Any
    // itself.
    const Config* const compared = maker(history_of(arguments[0])).first;
    if (!last || !compared || class_of(*compared) != "NotEqual") return {};
    std::optional<Mask> mask = computed(history_of(arguments[0]));
    if (!mask) return {};
    mask->any = true;
    return mask;
  }

  /// Returns whether a layer gives its output the mask of its input, in Keras and in the library.
  static bool passes_masks(const Config& layer) {
    static const std::set<std::string> classes{"Activation",
                                               "ActivityRegularization",
                                               "AlphaDropout",
                                               "BatchNormalization",
                                               "Dense",
                                               "Dropout",
                                               "ELU",
                                               "GaussianDropout",
                                               "GaussianNoise",
                                               "Identity",
                                               "LayerNormalization",
                                               "LeakyReLU",
                                               "PReLU",
                                               "ReLU",
                                               "Softmax",
                                               "SpatialDropout1D",
                                               "TimeDistributed",
                                               "UnitNormalization"};
    static const std::set<std::string> recurrent{"Bidirectional", "GRU", "LSTM", "RNN", "SimpleRNN"};
    return classes.contains(class_of(layer)) || recurrent.contains(class_of(layer));
  }

  /// Returns the mask that layers have attached to a tensor; nothing if no mask is known.
  std::optional<Mask> carried(Value history) const {
    for (std::size_t steps = 0; steps <= layers_.size(); ++steps) {
      const auto [layer, node] = maker(history);
      if (!layer || node.is_null()) return {};
      const Value::List& arguments = arguments_of(node);
      if (arguments.empty() || !is_tensor(arguments[0])) return {};
      const Value input = history_of(arguments[0]);
      const Config config = config_of_object(*layer);
      if (class_of(*layer) == "Embedding" && config.get("mask_zero") == Value(true)) return Mask{input, 0};
      if (class_of(*layer) == "Masking") return Mask{input, config.get("mask_value", 0.0), true};
      if (!passes_masks(*layer)) return {};
      history = input;
    }
    return {};
  }

  Config without_masks(const Config& layer) const {
    const Value nodes = layer.get("inbound_nodes");
    if (!nodes.is_list()) return layer;
    Value::List kept;
    for (const Value& node : nodes.list()) kept.push_back(without_mask(node));
    Config without = layer;
    without.set("inbound_nodes", kept);
    return without;
  }

  Value without_mask(const Value& node) const {
    if (!node.is_config() || !node.config().contains("args")) return node;
    const Value::List& arguments = arguments_of(node);
    Config named = node.config().get("kwargs", Config()).config("[Functional] kwargs");
    const Value mask = named.get("mask");
    if (!is_tensor(mask) || arguments.empty() || !is_tensor(arguments[0])) return node;
    const std::optional<Mask> given = computed(history_of(mask));
    if (!given || given != carried(history_of(arguments[0]))) return node;
    named.erase("mask");
    Config without = node.config();
    without.set("kwargs", named);
    return without;
  }

  /// Adds the names of the layers that made the tensors inside a value.
  static void collect_used(const Value& value, std::set<std::string>& used) {
    if (is_tensor(value)) used.insert(history_of(value).list()[0].string("keras_history"));
    else if (value.is_list())
      for (const Value& item : value.list()) collect_used(item, used);
    else if (value.is_config())
      for (const auto& [name, item] : value.config()) collect_used(item, used);
  }

  /// Adds the names of the layers that made the outputs of a model.
  static void collect_ends(const Value& ends, std::set<std::string>& used) {
    if (ends.is_string()) used.insert(ends.string());
    if (ends.is_list())
      for (const Value& item : ends.list()) collect_ends(item, used);
    if (ends.is_config())
      for (const auto& [name, item] : ends.config()) collect_ends(item, used);
  }

  /// Returns the layers without mask operations whose results are unused.
  Value::List without_unused(Value::List layers) const {
    for (std::size_t before = layers.size() + 1; layers.size() < before;) {
      before = layers.size();
      std::set<std::string> used;
      collect_ends(model_.at("output_layers"), used);
      for (const Value& layer : layers) collect_used(layer.config().get("inbound_nodes"), used);
      std::erase_if(layers, [&](const Value& layer) {
        const std::string& name = class_of(layer.config());
        return (name == "NotEqual" || name == "Any") && !used.contains(name_of(layer.config()));
      });
    }
    return layers;
  }

  const Config& model_;
  std::map<std::string, Config> layers_;
};

}  // namespace

Config without_automatic_masks(const Config& model) { return MaskedGraph(model).without_automatic_masks(); }

}  // namespace ktape::nn::saving
