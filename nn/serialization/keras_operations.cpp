#include <ktape/nn/models/operation_config.hpp>
#include <ktape/nn/serialization/internal/tensorflow_functions.hpp>
#include <ktape/nn/serialization/keras_objects.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

/// Reading of operations among the layers of a model. Keras writes a function that was called on a tensor of
/// the model as a node.
namespace ktape::nn::saving {
namespace {

[[noreturn]] void refuse(const Config& layer, const std::string& function, const std::string& why) {
  fail("[", name_of(layer), "] an operation must be one that the library has, too: received function=\"",
       function, "\"; ", why);
}

/// Returns the canonical form: all arguments of each call by name, attributes of the object in its config.
Config canonical_operation(const Config& layer, const Operation& operation, const Config& attributes,
                           const std::vector<Config>& calls) {
  Config config{{"name", name_of(layer)}, {"function", operation.name}};
  config.update(attributes);
  Value::List nodes;
  for (const Config& call : calls) nodes.push_back(Config{{"args", Value::List()}, {"kwargs", call}});
  return {{"class_name", operation_class},
          {"config", config},
          {"name", name_of(layer)},
          {"inbound_nodes", nodes}};
}

/// Returns the index of a GetItem in the canonical form: a list of integers, nulls, "..." and {start, stop,
/// step}.
Value canonical_key(const Config& layer, const Value& given) {
  Value::List key;
  for (const Value& entry : given.is_list() ? given.list() : Value::List{given}) {
    const bool object = entry.is_config() && is_object(entry);
    if (entry.is_null() || entry.is_integer()) {
      key.push_back(entry);
    } else if (entry == Value("__ellipsis__") || entry == Value("...") ||
               (object && class_of(entry.config()) == "__ellipsis__")) {
      key.push_back("...");
    } else if (!entry.is_config() || (object && class_of(entry.config()) != "__slice__")) {
      refuse(layer, "GetItem", "its key has " + to_json(entry));
    } else {
      const Config slice = object ? config_of_object(entry.config()) : entry.config();
      key.push_back(
          Config{{"start", slice.get("start")}, {"stop", slice.get("stop")}, {"step", slice.get("step")}});
    }
  }
  return key;
}

void canonicalize_key(const Config& layer, const Operation& operation, Config& call) {
  if (std::string(operation.name) == "GetItem" && call.contains("key"))
    call.set("key", canonical_key(layer, call.at("key")));
}

// --- Keras 3 ----------------------------------------------------------------------------------------------

/// Returns the arguments of a call by name: the arguments without a name are the first parameters.
Config by_name(const Config& layer, const Operation& operation, const Value& node) {
  const Value::List& args = node.config().at("args").list();
  Config call;
  std::size_t next = 0;
  for (const Operation::Parameter& parameter : operation.parameters()) {
    if (next == args.size()) break;
    if (parameter.spreads) {
      const bool one_list = args.size() == next + 1 && args[next].is_list();
      call.set(parameter.name,
               one_list ? args[next]
                        : Value(Value::List(args.begin() + static_cast<std::ptrdiff_t>(next), args.end())));
      next = args.size();
    } else {
      call.set(parameter.name, args[next++]);
    }
  }
  if (next < args.size()) refuse(layer, operation.name, "it takes " + std::to_string(next) + " arguments");
  call.update(node.config().get("kwargs", Config()).config());
  canonicalize_key(layer, operation, call);
  return call;
}

/// Reads an operation of Keras 3: a class with its options in the config.
Config of_class(const Config& layer, const Value::List& nodes) {
  const std::string& name = layer.at("class_name").string();
  const Operation* const operation = find_operation(name);
  if (!operation || !operation->in_keras()) refuse(layer, name, "none of its operations does that");
  Config attributes = layer.get("config", Config()).config();
  attributes.erase("name");
  std::vector<Config> calls;
  for (const Value& node : nodes) calls.push_back(by_name(layer, *operation, node));
  return canonical_operation(layer, *operation, attributes, calls);
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

// --- TensorFlow's functions -------------------------------------------------------------------------------

bool changes_nothing(const Value& value) {
  return value.is_null() || value == Value(false) || value == Value(0) || value == Value(0.0);
}

/// Arguments of a function of TensorFlow: without names, and by name.
struct GivenArguments {
  Value::List operands;
  Config named;
  bool lenient =
      false;  ///< whether names that the function lacks are left out, as attributes of graph nodes are
};

std::string without_underscores(std::string name) {
  std::erase(name, '_');
  return name;
}

class TensorflowCall {
 public:
  TensorflowCall(const Config& layer, const TensorflowFunction& function, const GivenArguments& given)
      : layer_(layer), function_(function), given_(given), arguments_(function.parsed()) {}

  Config by_name() {
    if (given_.operands.size() > arguments_.size())
      refuse(layer_, function_.name, "it takes " + std::to_string(arguments_.size()) + " arguments");
    for (std::size_t i = 0; i < given_.operands.size(); ++i) take(arguments_[i], given_.operands[i]);
    for (const auto& [name, value] : given_.named) take_named(name, value);
    for (const auto& argument : arguments_)
      if (!argument.otherwise.is_null() && call_.get(argument.ours).is_null())
        call_.set(argument.ours, argument.otherwise);
    if (function_.from_tensorflow) function_.from_tensorflow(call_);
    return call_;
  }

 private:
  void take_named(const std::string& name, const Value& value) {
    for (const auto& argument : arguments_)
      if (without_underscores(argument.name) == without_underscores(name)) return take(argument, value);
    if (name == "name" || value.is_null() || given_.lenient) return;
    refuse(layer_, function_.name, "it has the argument " + name + '=' + to_json(value));
  }

  void take(const TensorflowFunction::Argument& argument, const Value& value) {
    if (argument.ours == "-") return;
    if (argument.ours == "!") {
      if (!changes_nothing(value))
        refuse(layer_, function_.name, "it has " + argument.name + '=' + to_json(value));
    } else if (!value.is_null()) {
      call_.set(argument.ours, value);
    }
  }

  const Config& layer_;
  const TensorflowFunction& function_;
  const GivenArguments& given_;
  std::vector<TensorflowFunction::Argument> arguments_;
  Config call_;
};

Config of_tensorflow(const Config& layer, const std::string& name, const std::vector<GivenArguments>& calls) {
  const TensorflowFunction* const function = find_tensorflow_function(name);
  const Operation* const operation = function ? find_operation(function->operation) : nullptr;
  if (!operation) refuse(layer, name, "none of its operations does that");
  std::vector<Config> named;
  for (const GivenArguments& given : calls) {
    named.push_back(TensorflowCall(layer, *function, given).by_name());
    canonicalize_key(layer, *operation, named.back());
  }
  return canonical_operation(layer, *operation, {}, named);
}

/// Reads an operation of TF-Keras 2.4 and later: {function: "math.multiply"}, with all operands but the first
/// by name.
Config of_lambda(const Config& layer, const Value::List& nodes) {
  const Config& config = layer.at("config").config();
  std::vector<GivenArguments> calls;
  for (const Value& node : nodes)
    calls.push_back({node.config().at("args").list(), node.config().at("kwargs").config()});
  return of_tensorflow(layer, config.get("function", "slice").string("[TFOpLambda] function"), calls);
}

/// Returns the operands of a node of TensorFlow, with the constants at their places.
Value::List operands_of_node(const Config& layer, const std::string& op, const Value& node) {
  const Value::List& args = node.config().at("args").list();
  if (args.empty()) refuse(layer, op, "it has no operands");
  Value::List operands = is_tensor(args[0]) ? args : args[0].list("operands");
  const Config constants =
      layer.at("config").config().get("constants", Config()).config("[TensorFlowOpLayer] constants");
  for (std::size_t i = 0, left = constants.size(); left > 0; ++i) {
    const std::string place = std::to_string(i);
    if (constants.contains(place)) {
      operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(i), constants.at(place));
      --left;
    } else if (i >= operands.size()) {
      refuse(layer, op, "its constants have no such places");
    }
  }
  return operands;
}

/// Reads an operation of TF-Keras 2.0 to 2.3: a node of TensorFlow.
Config of_graph(const Config& layer, const Value::List& nodes) {
  const Config& definition =
      layer.at("config").config().at("node_def").config("[TensorFlowOpLayer] node_def");
  const std::string op = definition.at("op").string("[TensorFlowOpLayer] op");
  Config attributes;
  const Value attributes_of_node = definition.get("attr", Config());
  for (const auto& [name, attribute] : attributes_of_node.config("[TensorFlowOpLayer] attr"))
    if (attribute.is_config() && attribute.config().size() == 1)
      attributes.set(name, attribute.config().begin()->second);
  if (op == "Cast") {
    static const std::map<std::string, std::string> dtypes{
        {"DT_FLOAT", "float32"},     {"DT_DOUBLE", "float64"}, {"DT_HALF", "float16"},
        {"DT_BFLOAT16", "bfloat16"}, {"DT_INT32", "int32"},    {"DT_INT64", "int64"},
        {"DT_UINT8", "uint8"},       {"DT_BOOL", "bool"}};
    const auto dtype = dtypes.find(attributes.get("DstT", "").string("[TensorFlowOpLayer] DstT"));
    if (dtype == dtypes.end()) refuse(layer, op, "its dtype is " + to_json(attributes.get("DstT")));
    attributes.set("dtype", dtype->second);
  }
  std::vector<GivenArguments> calls;
  for (const Value& node : nodes) {
    GivenArguments given{operands_of_node(layer, op, node), attributes, true};
    if (op == "ConcatV2" && !given.operands.empty()) {  // the axis follows the tensors
      given.named.set("axis", given.operands.back());
      given.operands.pop_back();
    }
    if (op == "ConcatV2" || op == "Pack") given.operands = {Value(given.operands)};
    calls.push_back(given);
  }
  return of_tensorflow(layer, op, calls);
}

/// Returns an operation in the canonical form, or in the library's own form in a file of Keras 2, where the
/// first argument has no name.
Config of_canonical(const Config& layer, const Value::List& nodes) {
  const std::string name = config_of_object(layer).get("function", "").string("[Operation] function");
  const Operation* const operation = find_operation(name);
  if (!operation) refuse(layer, name, "none of its operations does that");
  std::vector<Config> calls;
  for (const Value& node : nodes) calls.push_back(by_name(layer, *operation, node));
  Config attributes = config_of_object(layer);
  for (const char* own : {"name", "function"}) attributes.erase(own);
  return canonical_operation(layer, *operation, attributes, calls);
}

}  // namespace

std::optional<Config> canonical_operation(const Config& layer, const Value::List& nodes) {
  const std::string& name = layer.at("class_name").string("class_name");
  if (name == "TFOpLambda" || name == "SlicingOpLambda") return of_lambda(layer, nodes);
  if (name == "TensorFlowOpLayer") return of_graph(layer, nodes);
  if (name == operation_class) return of_canonical(layer, nodes);
  if (is_operation(layer, nodes)) return of_class(layer, nodes);
  return {};
}

}  // namespace ktape::nn::saving
