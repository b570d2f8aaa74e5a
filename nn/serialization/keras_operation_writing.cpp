#include <ktape/nn/serialization/keras_objects.hpp>

#include <cctype>

/// Writing of Operation layers as operations of keras.ops, the form of Keras 3.
namespace ktape::nn::saving {
namespace {

/// Returns the key of a get_item in the form of Keras 3.
Value keras3_key(const Value::List& key) {
  Value::List items;
  for (const Value& entry : key)
    items.push_back(entry == Value("...") ? Value(object_of("__ellipsis__", Config()))
                    : entry.is_config()   ? Value(object_of("__slice__", entry.config()))
                                          : entry);
  return Config{{"class_name", "__tuple__"}, {"items", items}};
}

/// Returns the class name of an operation of keras.ops: "NotEqual" for "not_equal".
std::string operation_class(const std::string& function) {
  std::string name;
  bool upper = true;
  for (const char c : function) {
    if (c != '_') name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return name;
}

/// Returns a layer Operation of a model as an operation of Keras 3, with its nodes.
Config keras3_operation(const Config& layer) {
  const Config config = config_of_object(layer);
  const std::string& function = config.at("function").string();
  const Config& options = config.at("options").config();
  Config own{{"name", config.get("name")}};
  if (function != "get_item")
    for (const auto& [name, value] : options)
      if (name != "keepdims" || function == "any" || function == "all") own.set(name, value);
  Value::List nodes;
  for (const Value& node : layer.at("inbound_nodes").list()) {
    const Value& given = node.config().at("args").list()[0];
    const Value::List inputs = given.is_list() ? given.list() : Value::List{given};
    Value::List arguments;
    std::size_t used = 0;
    for (const Value& operand : config.at("operands").list())
      arguments.push_back(operand.is_null() && used < inputs.size() ? inputs[used++] : operand);
    if (function == "get_item") arguments.push_back(keras3_key(options.at("key").list()));
    nodes.push_back(Config{{"args", arguments}, {"kwargs", Config()}});
  }
  const std::string name = operation_class(function);
  Config written = layer;
  written.update({{"module", function == "cast" ? "keras.src.ops.core" : "keras.src.ops.numpy"},
                  {"class_name", name},
                  {"registered_name", name},
                  {"config", own},
                  {"inbound_nodes", nodes}});
  return written;
}

}  // namespace

Config with_keras3_operations(const Config& layer) {
  if (layer.get("class_name") == Value("Operation") && layer.contains("inbound_nodes"))
    return keras3_operation(layer);
  const Config config = config_of_object(layer);
  if (!config.get("layers").is_list()) return layer;
  Value::List layers;
  for (const Value& member : config.at("layers").list())
    layers.push_back(member.is_config() ? Value(with_keras3_operations(member.config())) : member);
  Config inner = config, written = layer;
  inner.set("layers", layers);
  written.set("config", inner);
  return written;
}

}  // namespace ktape::nn::saving
