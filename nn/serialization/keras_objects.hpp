#pragma once
#include <ktape/ops/schema/config.hpp>

#include <optional>
#include <string>
#include <vector>

/// Conversions of single objects in a Keras config, which `keras_dialects` uses. Internal: sources only.
namespace ktape::nn::saving {

/// The version of Keras that wrote a config, where the versions give a name different meanings.
enum class Dialect { Keras2, Keras3 };

/// Returns the value without Keras's wrappers around tuples, shapes and arrays.
Value unwrapped(const Value& value);

/// Returns the kind of objects that the argument of a layer holds, as the registry calls it: "initializer",
/// "regularizer", "constraint", "activation", "layer", or "" for a plain value.
std::string kind_of_argument(const std::string& argument);

/// Returns the name under which the registry knows a class: the registered name, the class's name, or the
/// class's name without its package. Returns the last of these names if the registry knows none.
std::string known_class(const std::string& kind, const Config& object);

/// Returns the form that a layer's config has for a dtype or a dtype policy (`DTypePolicy::to_value`); null for
/// the default. Throws ValueError, naming the layer, for a policy or a dtype that the library lacks.
Value dtype_of(const std::string& layer, const Value& dtype);

/// Returns the argument of a layer that holds an object, in the canonical form.
Value canonical_object(const std::string& kind, const Value& object, Dialect dialect);

/// Returns the canonical form of an unwrapped {class_name, config} of a layer that is not a model.
Config canonical_layer(const Config& layer, Dialect dialect);

/// Returns the canonical form of the config of any layer or model.
Config canonical_layer_or_model(const Config& layer, Dialect dialect);

/// Returns the canonical form of an operation among the layers of a model: {class_name: "Operation", config:
/// {name, function, ...}, inbound_nodes}, in which a call has all arguments in `kwargs`. The operation has
/// nodes with canonical tensors. Returns nothing for a layer that is not an operation. Throws ValueError,
/// naming the operation, if the library lacks the operation.
std::optional<Config> canonical_operation(const Config& layer, const Value::List& nodes);

/// The version of Keras whose configs the library writes.
inline constexpr const char* keras3_version = "3.8.0";

/// Returns the config of a layer or model with its operations as Keras 3 writes them. Operations that Keras
/// lacks keep the canonical form.
Config with_keras3_operations(const Config& layer);

/// Returns an operation as Keras 2 writes functions of TensorFlow (TFOpLambda and SlicingOpLambda), with
/// nodes in the canonical form. An operation that TensorFlow lacks keeps the canonical form.
Config keras2_operation(const Config& layer);

/// Returns true if the config of a layer describes a graph of layers.
bool is_graph(const Config& layer);
bool is_sequence(const Config& layer);

/// An argument that the library or Keras 2 lacks. The argument changes nothing if its value is one of the
/// `harmless` values; an argument without `harmless` values never changes anything.
struct Absent {
  const char* argument;
  std::vector<const char*> layers;  ///< the classes with the argument; empty for all
  std::vector<Value> harmless = {};
};

/// Returns whether a layer has the argument of an entry, whatever its value.
bool concerns(const Absent& absent, const std::string& layer);

/// Removes the arguments that change nothing from the config of a layer.
void drop_absent(const std::vector<Absent>& absent, const std::string& layer, Config& config);

/// Renames an argument.
void rename(Config& config, const char* old_name, const char* name);

/// Returns the config of an object; an empty config if the object has none.
Config config_of_object(const Config& object);

/// Returns the class of an object.
const std::string& class_of(const Config& object);

/// Returns whether the value is a {class_name, config}.
bool is_object(const Value& value);

/// Returns the name of a layer, for messages.
std::string name_of(const Config& layer);

inline Config object_of(const std::string& class_name, const Config& config) {
  return {{"class_name", class_name}, {"config", config}};
}

/// Returns a layer with a new class and config, and the `shared_object_id` and `build_config` of the given
/// layer.
Config described_as(const Config& given, const std::string& class_name, const Config& config);

/// Returns the canonical form of a tensor in the arguments of a call.
Value tensor_at(const std::string& layer, std::int64_t call, std::int64_t output);
/// Returns the [layer, call, output] of a tensor in a config, or null for a value that is no tensor.
Value history_of(const Value& tensor);
bool is_tensor(const Value& value);

}  // namespace ktape::nn::saving
