#include <ktape/nn/layers/core/operation.hpp>
#include <ktape/nn/serialization/keras_objects.hpp>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <optional>

/// Reading of operations among the layers of a model as layers. Keras writes a function that was called on a
/// tensor of the model as a node.
namespace ktape::nn::saving {
namespace {

/// An operation in a form for all dialects: multiply(x, 2), mean(x, axis=1).
struct Operation {
  std::string layer;     ///< the name of the operation's layer
  std::string function;  ///< the function as spelled in the file
  std::string key;       ///< the function without case, underscores and module
  Value::List operands;  ///< tensors, lists of tensors, and constants
  Config arguments;
  bool of_keras3 = false;

  [[noreturn]] void refuse(const std::string& why) const {
    fail("[", layer, "] an operation must be one that a layer computes, too: received function=\"", function,
         "\"; ", why);
  }
  Value argument(std::initializer_list<const char*> names, const Value& otherwise = {}) const {
    for (const char* name : names)
      if (arguments.contains(name)) return arguments.at(name);
    return otherwise;
  }
  const Value& operand(std::size_t i) const {
    if (i >= operands.size()) refuse("it has " + std::to_string(operands.size()) + " operands");
    return operands[i];
  }
};

std::string key_of(const std::string& function) {
  std::string key;
  for (const char c : function.substr(function.rfind('.') + 1))
    if (c != '_') key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return key;
}

// --- The three ways to write an operation ------------------------------------------------------------------

Operation named(const Config& layer, const std::string& function) {
  return {name_of(layer), function, key_of(function), {}, {}};
}

const Config& only_call(const Operation& operation, const Value::List& nodes) {
  if (nodes.size() != 1) operation.refuse("it is called " + std::to_string(nodes.size()) + " times");
  return nodes[0].config();
}

/// Reads an operation of TF-Keras 2.4 and later: {function: "math.multiply"}, with all operands but the first
/// by name.
Operation of_lambda(const Config& layer, const Value::List& nodes) {
  const Config& config = layer.at("config").config();
  Operation operation = named(layer, config.get("function", "slice").string("[TFOpLambda] function"));
  const Config& call = only_call(operation, nodes);
  operation.operands = call.at("args").list();
  operation.arguments = call.at("kwargs").config();
  if (operation.arguments.contains("y")) operation.operands.push_back(operation.arguments.at("y"));
  return operation;
}

/// Reads an operation of TF-Keras 2.0 to 2.3: a node of TensorFlow, and the constants by their places among
/// the operands.
Operation of_graph(const Config& layer, const Value::List& nodes) {
  const Config& config = layer.at("config").config();
  const Config& node = config.at("node_def").config("[TensorFlowOpLayer] node_def");
  Operation operation = named(layer, node.at("op").string("[TensorFlowOpLayer] op"));
  operation.operands = only_call(operation, nodes).at("args").list();
  if (!is_tensor(operation.operand(0)))
    operation.operands = Value::List(operation.operand(0).list("operands"));
  const Config constants = config.get("constants", Config()).config("[TensorFlowOpLayer] constants");
  for (std::size_t i = 0, left = constants.size(); left > 0; ++i) {
    const std::string place = std::to_string(i);
    if (constants.contains(place)) {
      operation.operands.insert(operation.operands.begin() + static_cast<std::ptrdiff_t>(i),
                                constants.at(place));
      --left;
    } else if (i >= operation.operands.size()) {
      operation.refuse("its constants have no such places");
    }
  }
  const Value attributes = node.get("attr", Config());
  for (const auto& [name, attribute] : attributes.config())
    if (attribute.is_config() && attribute.config().size() == 1)
      operation.arguments.set(name, attribute.config().begin()->second);
  return operation;
}

/// Reads an operation of Keras 3: a class with its options in the config.
Operation of_class(const Config& layer, const Value::List& nodes) {
  Operation operation = named(layer, layer.at("class_name").string());
  operation.of_keras3 = true;
  const Config& call = only_call(operation, nodes);
  operation.operands = call.at("args").list();
  operation.arguments = layer.get("config", Config()).config();
  operation.arguments.update(call.at("kwargs").config());
  if (operation.arguments.contains("x2")) operation.operands.push_back(operation.arguments.at("x2"));
  return operation;
}

/// Returns true if a class of Keras 3 is an operation. Add, Subtract, Multiply, Maximum and Minimum are also
/// the names of layers, which take a list.
bool is_operation(const Config& layer, const Value::List& nodes) {
  const Value module = layer.get("module");
  if (module.is_string() && module.string().find(".ops.") != std::string::npos) return true;
  for (const char* name : {"Add", "Subtract", "Multiply", "Maximum", "Minimum"})
    if (layer.at("class_name") == Value(name) && nodes.size() == 1)
      return nodes[0].config().at("args").list().size() == 2;
  return false;
}

// --- Layers for operations ---------------------------------------------------------------------------------

Value known_of(const Value& tensor, const char* what) {
  return is_tensor(tensor) ? tensor.config().at("config").config().get(what) : Value();
}
/// Returns the shape of a tensor; null if the file has no shape.
Value shape_of(const Value& tensor) { return known_of(tensor, "shape"); }

Config layer_on(const Operation& operation, const std::string& class_name, const Config& config,
                const Value& inputs) {
  Config named = config;
  named.set("name", operation.layer);
  const Config node{{"args", Value::List{inputs}}, {"kwargs", Config()}};
  return {{"class_name", class_name},
          {"config", named},
          {"name", operation.layer},
          {"inbound_nodes", Value::List{node}}};
}

Value each(const Value& constant, const std::function<double(double)>& f) {
  if (!constant.is_list()) return f(constant.number("a constant"));
  Value::List list;
  for (const Value& item : constant.list()) list.push_back(each(item, f));
  return list;
}

double negated(double x) { return -x; }
double inverse(double x) { return 1 / x; }

/// Returns the layer that computes x * scale + offset.
Config rescaling(const Operation& operation, const Value& x, const Value& scale, const Value& offset) {
  const Value dtype = known_of(x, "dtype");
  if (dtype.is_string() && !dtype.string().starts_with("float")) operation.refuse("the tensor has integers");
  return layer_on(operation, "Rescaling", {{"scale", scale}, {"offset", offset}}, x);
}

Config with_constant(const Operation& operation, const std::string& layer, const Value& a, const Value& b) {
  const bool in_front = is_tensor(b);
  const Value& x = in_front ? b : a;
  const Value& constant = in_front ? a : b;
  if (layer == "Add") return rescaling(operation, x, 1.0, constant);
  if (layer == "Multiply") return rescaling(operation, x, constant, 0.0);
  if (layer == "Subtract" && in_front) return rescaling(operation, x, -1.0, constant);
  if (layer == "Subtract") return rescaling(operation, x, 1.0, each(constant, negated));
  if (layer == "Divide" && !in_front) return rescaling(operation, x, each(constant, inverse), 0.0);
  operation.refuse("a constant is among its operands");
}

Config merging(const Operation& operation, const std::string& layer) {
  const Value &a = operation.operand(0), &b = operation.operand(1);
  if (!is_tensor(a) && !is_tensor(b)) operation.refuse("none of its operands is a tensor");
  if (!is_tensor(a) || !is_tensor(b)) return with_constant(operation, layer, a, b);
  if (layer == "Divide") operation.refuse("no layer divides tensors");
  const Value first = shape_of(a), second = shape_of(b);
  if (first.is_list() && second.is_list() && first.list().size() != second.list().size())
    operation.refuse("its tensors have different ranks, which layers align otherwise");
  return layer_on(operation, layer, {}, Value::List{a, b});
}

/// Returns the layer that computes the mean or maximum over the axes between the batch axis and the channels
/// axis.
Config pooling(const Operation& operation, const std::string& what) {
  const Value& x = operation.operand(0);
  Value given = operation.argument({"axis"});
  if (operation.operands.size() > 1) given = operation.operand(1);
  if (given.is_null()) operation.refuse("it reduces the batch axis");
  std::vector<std::int64_t> axes;
  for (const Value& axis : given.is_list() ? given.list() : Value::List{given}) {
    const Value shape = shape_of(x);
    const std::int64_t rank = shape.is_list() ? static_cast<std::int64_t>(shape.list().size()) : 0;
    axes.push_back(axis.integer("axis") < 0 ? axis.integer() + rank : axis.integer());
  }
  std::sort(axes.begin(), axes.end());
  const auto count = static_cast<std::int64_t>(axes.size());
  const std::int64_t first = axes.empty() ? 0 : axes[0];
  for (std::int64_t i = 0; i < count; ++i)
    if (axes[static_cast<std::size_t>(i)] != first + i) operation.refuse("its axes are not in a row");
  if (count < 1 || count > 3 || first < 1 || first > 2) operation.refuse("its axes are not the spatial ones");
  const char* format = first == 1 ? "channels_last" : "channels_first";
  if (!operation.argument({"initial"}).is_null()) operation.refuse("it begins with an initial value");
  const Value keep = operation.argument({"keepdims", "keep_dims"}, false);
  return layer_on(operation, "Global" + what + "Pooling" + std::to_string(count) + 'D',
                  {{"data_format", format}, {"keepdims", keep}}, x);
}

/// Returns the number of elements along the axes after the batch axis; nothing if an extent is unknown.
std::optional<std::int64_t> elements(const Value& shape) {
  std::int64_t count = 1;
  for (std::size_t i = 1; shape.is_list() && i < shape.list().size(); ++i) {
    const Value& extent = shape.list()[i];
    if (!extent.is_integer() || extent.integer() < 0 || extent.integer() > INT32_MAX || count > INT32_MAX)
      return {};
    count *= extent.integer();
  }
  return shape.is_list() ? std::optional(count) : std::nullopt;
}

Config reshape(const Operation& operation) {
  const Value& x = operation.operand(0);
  const Value shape = operation.argument({"newshape", "shape"});
  const auto before = elements(shape_of(x)), after = elements(shape);
  const bool free_batch =
      shape.is_list() && !shape.list().empty() && (shape.list()[0].is_null() || shape.list()[0] == Value(-1));
  if (!free_batch || !before || before != after)
    operation.refuse("it is not known to leave the batch as it is");
  const Value::List without_batch(shape.list().begin() + 1, shape.list().end());
  return layer_on(operation, "Reshape", {{"target_shape", without_batch}}, x);
}

Config permute(const Operation& operation) {
  const Value axes = operation.argument({"perm", "axes"});
  if (!axes.is_list() || axes.list().empty() || axes.list()[0] != Value(0))
    operation.refuse("it moves the batch");
  const Value::List without_batch(axes.list().begin() + 1, axes.list().end());
  return layer_on(operation, "Permute", {{"dims", without_batch}}, operation.operand(0));
}

Config concatenate(const Operation& operation) {
  Value axis = operation.argument({"axis"});
  Value tensors = operation.operand(0);
  if (operation.key == "concatv2") {  // the axis is the argument after the tensors
    axis = operation.operands.back();
    tensors = Value::List(operation.operands.begin(), operation.operands.end() - 1);
  }
  for (const Value& tensor : tensors.list("[concat] tensors"))
    if (!is_tensor(tensor)) operation.refuse("a constant is among its operands");
  return layer_on(operation, "Concatenate", {{"axis", axis}}, tensors);
}

/// Returns the layer Activation with the function and its options; nothing if the operation is not an
/// activation.
std::optional<Config> activation(const Operation& operation) {
  const std::string& key = operation.key;
  Value function;
  for (const char* name : {"relu", "relu6", "elu", "selu", "sigmoid", "tanh", "softplus", "softsign", "silu"})
    if (key == name || (key == "swish" && name == std::string("silu"))) function = name;
  if (key == "gelu")
    function = object_of("gelu", {{"approximate", operation.argument({"approximate"}, operation.of_keras3)}});
  if (key == "leakyrelu")
    function =
        object_of("leaky_relu", {{"negative_slope", operation.argument({"negative_slope", "alpha"}, 0.2)}});
  if (const Value alpha = operation.argument({"alpha"}, 1.0); key == "elu" && alpha != Value(1.0))
    function = object_of("elu", {{"alpha", alpha}});
  if (key == "softmax") function = object_of("softmax", {{"axis", operation.argument({"axis"}, -1)}});
  if (function.is_null()) return {};
  return layer_on(operation, "Activation", {{"activation", function}}, operation.operand(0));
}

// --- The layer Operation ---------------------------------------------------------------------------------

/// Returns the name of the operation in keras.ops for a key, if the layer Operation computes the operation.
std::optional<std::string> operation_name(const std::string& key) {
  static const std::map<std::string, std::string> by_key{{"equal", "equal"},
                                                         {"notequal", "not_equal"},
                                                         {"greater", "greater"},
                                                         {"greaterequal", "greater_equal"},
                                                         {"less", "less"},
                                                         {"lessequal", "less_equal"},
                                                         {"logicaland", "logical_and"},
                                                         {"logicalor", "logical_or"},
                                                         {"logicalxor", "logical_xor"},
                                                         {"logicalnot", "logical_not"},
                                                         {"any", "any"},
                                                         {"reduceany", "any"},
                                                         {"all", "all"},
                                                         {"reduceall", "all"},
                                                         {"cast", "cast"},
                                                         {"expanddims", "expand_dims"},
                                                         {"squeeze", "squeeze"},
                                                         {"getitem", "get_item"}};
  const auto found = by_key.find(key);
  return found == by_key.end() ? std::nullopt : std::optional(found->second);
}

/// Returns an entry of a key of get_item in the form of the layer Operation.
Value key_entry(const Operation& operation, const Value& entry) {
  if (entry.is_null() || entry.is_integer()) return entry;
  if (entry == Value("__ellipsis__")) return "...";
  if (!entry.is_config()) operation.refuse("its key has " + to_json(entry));
  const bool object = is_object(entry);
  if (object && class_of(entry.config()) == "__ellipsis__") return "...";
  if (object && class_of(entry.config()) != "__slice__") operation.refuse("its key has " + to_json(entry));
  const Config slice = object ? config_of_object(entry.config()) : entry.config();
  return Config{{"start", slice.get("start")}, {"stop", slice.get("stop")}, {"step", slice.get("step")}};
}

Value key_of_item(const Operation& operation) {
  const Value given =
      operation.operands.size() > 1 ? operation.operand(1) : operation.argument({"key", "slice_spec"});
  Value::List key;
  for (const Value& entry : given.is_list() ? given.list() : Value::List{given})
    key.push_back(key_entry(operation, entry));
  return key;
}

/// Returns the layer Operation with the tensors among its first `count` operands as inputs.
Config operation_layer(const Operation& operation, const std::string& function) {
  const bool one = function == "any" || function == "all" || function == "cast" ||
                   function == "expand_dims" || function == "squeeze" || function == "get_item" ||
                   function == "logical_not";
  Value::List operands, inputs;
  for (std::size_t i = 0; i < (one ? 1U : 2U); ++i) {
    const Value& operand = operation.operand(i);
    if (is_tensor(operand)) inputs.push_back(operand);
    else if (!operand.is_number()) operation.refuse("an operand is " + to_json(operand));
    operands.push_back(is_tensor(operand) ? Value() : operand);
  }
  Config options;
  const Value second = one && operation.operands.size() > 1 ? operation.operand(1) : Value();
  if (function == "get_item") {
    options.set("key", key_of_item(operation));
  } else if (function == "cast") {
    options.set("dtype", operation.argument({"dtype"}, second));
  } else if (one && function != "logical_not") {
    options.set("axis", operation.argument({"axis", "axes"}, second));
    options.set("keepdims", operation.argument({"keepdims", "keep_dims"}, false));
  }
  return layer_on(operation, "Operation",
                  {{"function", function}, {"operands", operands}, {"options", options}},
                  inputs.size() == 1 ? inputs[0] : Value(inputs));
}

Config layer_of(const Operation& operation) {
  static const std::map<std::string, std::string> merged{
      {"add", "Add"},        {"addv2", "Add"},         {"sub", "Subtract"},      {"subtract", "Subtract"},
      {"mul", "Multiply"},   {"multiply", "Multiply"}, {"div", "Divide"},        {"realdiv", "Divide"},
      {"truediv", "Divide"}, {"divide", "Divide"},     {"truedivide", "Divide"}, {"maximum", "Maximum"},
      {"minimum", "Minimum"}};
  const std::string& key = operation.key;
  if (const auto layer = merged.find(key); layer != merged.end()) return merging(operation, layer->second);
  if (key == "concat" || key == "concatv2" || key == "concatenate") return concatenate(operation);
  if (key == "mean" || key == "reducemean") return pooling(operation, "Average");
  if (key == "max" || key == "reducemax") return pooling(operation, "Max");
  if (key == "reshape") return reshape(operation);
  if (key == "transpose") return permute(operation);
  if (key == "identity") return layer_on(operation, "Identity", {}, operation.operand(0));
  if (const auto function = activation(operation)) return *function;
  if (const auto function = operation_name(key)) return operation_layer(operation, *function);
  operation.refuse("none does");
}

}  // namespace

std::optional<Config> layer_of_operation(const Config& layer, const Value::List& nodes) {
  const std::string& name = layer.at("class_name").string("class_name");
  if (name == "TFOpLambda" || name == "SlicingOpLambda") return layer_of(of_lambda(layer, nodes));
  if (name == "TensorFlowOpLayer") return layer_of(of_graph(layer, nodes));
  if (is_operation(layer, nodes)) return layer_of(of_class(layer, nodes));
  return {};
}

}  // namespace ktape::nn::saving
