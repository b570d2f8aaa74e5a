#include <ktape/nn/models/operation_config.hpp>
#include <ktape/nn/serialization/internal/tensorflow_functions.hpp>
#include <ktape/nn/serialization/keras_objects.hpp>

#include <algorithm>

/// Writing of operations in the forms of Keras 3 and Keras 2.
namespace ktape::nn::saving {
namespace {

const Operation& operation_of(const Config& layer) {
  return *find_operation(config_of_object(layer).at("function").string());
}

/// Returns all arguments of a call, from the config of the operation and from the call.
Config arguments_of(const Config& layer, const Value& node) {
  Config arguments = config_of_object(layer);
  for (const char* own : {"name", "function"}) arguments.erase(own);
  arguments.update(node.config().at("kwargs").config());
  return arguments;
}

bool holds_tensor(const Value& value) {
  if (value.is_list()) return std::any_of(value.list().begin(), value.list().end(), holds_tensor);
  return is_tensor(value) || is_constant(value);
}

// --- Keras 3 ----------------------------------------------------------------------------------------------

/// Returns the key of a GetItem in the form of Keras 3, which writes tuples as lists.
Value keras3_key(const Value& key) {
  Value::List items;
  for (const Value& entry : key.is_list() ? key.list() : Value::List{key})
    items.push_back(entry == Value("...") ? Value(object_of("__ellipsis__", Config()))
                    : entry.is_config()   ? Value(object_of("__slice__", entry.config()))
                                          : entry);
  return key.is_list() ? Value(items) : items[0];
}

/// Returns the shape of a Reshape in the form of Keras 3: an extent that follows from the others is -1.
Value with_minus_one(const Value& shape) {
  if (!shape.is_list()) return shape;
  Value::List extents = shape.list();
  for (Value& extent : extents)
    if (extent.is_null()) extent = -1;
  return Value(extents);
}

/// Returns the key of a GetItem for the elements of a Slice, or null if the start is no list of numbers.
Value key_of_slice(const Value& start, const Value& shape) {
  if (!start.is_list() || start.list().size() != shape.list().size()) return {};
  Value::List key;
  for (std::size_t i = 0; i < shape.list().size(); ++i) {
    const Value &first = start.list()[i], &extent = shape.list()[i];
    if (!first.is_integer()) return {};
    const Value stop = extent.is_null() ? extent : Value(first.integer() + extent.integer());
    key.push_back(Config{{"start", first}, {"stop", stop}, {"step", Value()}});
  }
  return Value(key);
}

/// Returns a Slice that ends where the tensor ends as a GetItem: the extents of Keras's Slice are numbers.
Config without_open_extent(Config layer) {
  const Config given = config_of_object(layer);
  const Value shape = given.get("shape");
  const auto is_open = [](const Value& extent) { return extent.is_null(); };
  if (given.at("function") != Value("Slice") || !shape.is_list() ||
      std::none_of(shape.list().begin(), shape.list().end(), is_open))
    return layer;
  Value::List nodes;
  for (const Value& node : layer.at("inbound_nodes").list()) {
    const Config& call = node.config().at("kwargs").config();
    const Value key = key_of_slice(call.at("start_indices"), shape);
    if (key.is_null()) return layer;
    nodes.push_back(
        Config{{"args", Value(Value::List{})}, {"kwargs", Config{{"x", call.at("inputs")}, {"key", key}}}});
  }
  layer.set("config", Config{{"name", given.get("name")}, {"function", "GetItem"}});
  layer.set("inbound_nodes", nodes);
  return layer;
}

/// Returns a Clip with one bound as a Maximum or Minimum: Keras's Clip needs both bounds.
Config without_open_bound(Config layer) {
  const Config given = config_of_object(layer);
  const bool has_min = !given.get("x_min").is_null(), has_max = !given.get("x_max").is_null();
  if (given.at("function") != Value("Clip") || has_min == has_max) return layer;
  layer.set("config", Config{{"name", given.get("name")}, {"function", has_min ? "Maximum" : "Minimum"}});
  Value::List nodes;
  for (const Value& node : layer.at("inbound_nodes").list()) {
    const Value x = node.config().at("kwargs").config().at("x");
    nodes.push_back(Config{{"args", Value(Value::List{})},
                           {"kwargs", Config{{"x1", x}, {"x2", given.at(has_min ? "x_min" : "x_max")}}}});
  }
  layer.set("inbound_nodes", nodes);
  return layer;
}

/// Returns whether Keras 3 can make the operation: the arguments of its constructor are no tensors.
bool in_keras3(const Config& layer, const Operation& operation) {
  if (!operation.in_keras()) return false;
  for (const Value& node : layer.at("inbound_nodes").list()) {
    const Config arguments = arguments_of(layer, node);
    for (const Operation::Parameter& parameter : operation.parameters())
      if (!parameter.in_call && holds_tensor(arguments.get(parameter.name))) return false;
  }
  return true;
}

/// Returns an operation of Keras 3, with its nodes.
Config keras3_operation(const Config& given) {
  const Config layer = without_open_extent(without_open_bound(given));
  const Operation& operation = operation_of(layer);
  if (!in_keras3(layer, operation)) return layer;
  Config config;
  // Before Keras 3.11, constructors with arguments of their own took no name.
  if (operation.parameters().back().in_call) config.set("name", config_of_object(layer).get("name"));
  Value::List nodes;
  for (const Value& node : layer.at("inbound_nodes").list()) {
    const Config arguments = arguments_of(layer, node);
    const bool is_index = std::string(operation.name) == "GetItem";
    Config named;
    Value::List args;
    for (const Operation::Parameter& parameter : operation.parameters()) {
      const Value value = arguments.get(parameter.name, parameter.otherwise);
      const bool is_default =
          !parameter.required && value == parameter.otherwise;  // older versions may lack it
      if (parameter.name == "newshape") config.set(parameter.name, with_minus_one(value));
      else if (!parameter.in_call && !is_default) config.set(parameter.name, value);
      else if (!parameter.in_call) continue;
      else if (parameter.spreads) args = value.list();
      else if (parameter.is_rest) named = value.config();
      else args.push_back(is_index && parameter.name == "key" ? keras3_key(value) : value);
    }
    nodes.push_back(Config{{"args", args}, {"kwargs", named}});
  }
  Config written = layer;
  written.update({{"module", std::string("keras.src.ops.") + operation.module},
                  {"class_name", operation.name},
                  {"registered_name", operation.name},
                  {"config", config},
                  {"inbound_nodes", nodes}});
  return written;
}

// --- Keras 2 ----------------------------------------------------------------------------------------------

/// Returns a constant without its dtype, if float32.
Value plain_constant(const Value& value) {
  if (value.is_list()) {
    Value::List list;
    for (const Value& item : value.list()) list.push_back(plain_constant(item));
    return list;
  }
  if (!is_constant(value)) return value;
  const Config config = config_of_object(value.config());
  return config.get("dtype") == Value("float32") && !config.at("value").is_string() ? config.at("value")
                                                                                    : value;
}

/// Returns a call with TensorFlow's names: the first argument without a name.
Value tensorflow_call(const TensorflowFunction& function, Config arguments) {
  if (function.to_tensorflow) function.to_tensorflow(arguments);
  Value::List args;
  Config named;
  for (const TensorflowFunction::Argument& argument : function.parsed()) {
    if (argument.ours == "-" || argument.ours == "!") continue;
    const Value value = plain_constant(arguments.get(argument.ours));
    if (args.empty()) args.push_back(value);
    else named.set(argument.name, value);
  }
  return Config{{"args", args}, {"kwargs", named}};
}

/// Returns the function of TensorFlow for an operation, if all its arguments are arguments of the function.
const TensorflowFunction* function_for(const Config& layer, const Operation& operation) {
  const TensorflowFunction* const function = tensorflow_function_of(operation.name);
  if (!function) return nullptr;
  const auto known = function->parsed();
  for (const Value& node : layer.at("inbound_nodes").list())
    for (const auto& given : arguments_of(layer, node)) {
      const auto& parameters = operation.parameters();
      const auto parameter = std::find_if(parameters.begin(), parameters.end(),
                                          [&](const auto& one) { return one.name == given.first; });
      const bool is_default =
          parameter != parameters.end() && !parameter->required && parameter->otherwise == given.second;
      const bool named = std::any_of(known.begin(), known.end(),
                                     [&](const auto& argument) { return argument.ours == given.first; });
      if (!named && !is_default) return nullptr;
    }
  return function;
}

}  // namespace

Config keras2_operation(const Config& layer) {
  const Operation& operation = operation_of(layer);
  const TensorflowFunction* const function = function_for(layer, operation);
  const Value name = config_of_object(layer).get("name");
  Value::List nodes;
  for (const Value& node : layer.at("inbound_nodes").list()) {
    Config arguments = arguments_of(layer, node);
    if (function) {
      nodes.push_back(tensorflow_call(*function, arguments));
      continue;
    }
    const std::string first = operation.parameters()[0].name;
    const Value::List args{arguments.get(first)};
    arguments.erase(first);
    nodes.push_back(Config{{"args", args}, {"kwargs", arguments}});
  }
  const bool slices = std::string(operation.name) == "GetItem";
  Config written = layer;
  written.set("class_name", slices ? "SlicingOpLambda" : function ? "TFOpLambda" : operation_class);
  written.set(
      "config",
      function
          ? Config{{"name", name}, {"trainable", true}, {"dtype", "float32"}, {"function", function->name}}
          : Config{{"name", name}, {"function", operation.name}});
  written.set("inbound_nodes", nodes);
  return written;
}

namespace {

/// Returns a value of a config with the operations of the models in the value, at any depth.
Value with_operations(const Value& value) {
  if (value.is_list()) {
    Value::List list;
    for (const Value& item : value.list()) list.push_back(with_operations(item));
    return list;
  }
  return value.is_config() && is_object(value) ? Value(with_keras3_operations(value.config())) : value;
}

}  // namespace

Config with_keras3_operations(const Config& layer) {
  if (layer.get("class_name") == Value(operation_class) && layer.contains("inbound_nodes"))
    return keras3_operation(layer);
  if (!layer.get("config").is_config()) return layer;
  Config config, written = layer;
  for (const auto& [name, value] : layer.at("config").config()) config.set(name, with_operations(value));
  written.set("config", config);
  return written;
}

}  // namespace ktape::nn::saving
