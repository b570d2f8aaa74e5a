#pragma once
#include <ktape/nn/core/config.hpp>

#include <optional>
#include <string>
#include <vector>

/// The objects of a Keras config one by one: what `keras_dialects` is made of. Internal: sources only.
namespace ktape::nn::saving {

/// Whose spelling a config has where the two differ in meaning.
enum class Dialect { Keras2, Keras3 };

/// The value without Keras's wrappers around tuples, shapes and arrays.
Value unwrapped(const Value& value);

/// The kind of objects that the argument of a layer holds, as the registry calls it: "initializer",
/// "regularizer", "constraint", "activation", "layer", or "" for a plain value.
std::string kind_of_argument(const std::string& argument);

/// The name under which the registry knows a class: the registered name, the class's name, or that without
/// its package; the last one where none is known.
std::string known_class(const std::string& kind, const Config& object);

/// The dtype of a dtype or of a policy; null for a default. Throws ValueError, naming the layer, for a policy
/// of several dtypes, and for one that the library does not have.
Value dtype_of(const std::string& layer, const Value& dtype);

/// The argument of a layer that holds an object, in the canonical form.
Value canonical_object(const std::string& kind, const Value& object, Dialect dialect);

/// The {class_name, config} of a layer that is no model, in the canonical form, from an unwrapped one.
Config canonical_layer(const Config& layer, Dialect dialect);

/// The same of any layer or model.
Config canonical_layer_or_model(const Config& layer, Dialect dialect);

/// The layer {class_name, config, inbound_nodes} that computes what an operation among the layers does, from
/// its canonical nodes; nothing for what is a layer already. Throws ValueError, naming the operation, where
/// no layer computes the same.
std::optional<Config> layer_of_operation(const Config& layer, const Value::List& nodes);

/// Returns the config of a layer or model in which the layers Operation are operations, as Keras 3 writes
/// them.
Config with_keras3_operations(const Config& layer);

/// Whether the layer is a model, as far as its config goes.
bool is_graph(const Config& layer);
bool is_sequence(const Config& layer);

/// An argument that others do not have. With one of the values it changes nothing; without any it never does.
struct Absent {
  const char* argument;
  std::vector<const char*> layers;  ///< all, when empty
  std::vector<Value> harmless = {};
};

/// Takes the arguments that change nothing out of the config of a layer.
void drop_absent(const std::vector<Absent>& absent, const std::string& layer, Config& config);

/// Gives an argument another name.
void rename(Config& config, const char* old_name, const char* name);

/// The config of an object; an empty one where there is none.
Config config_of_object(const Config& object);

/// The class of an object.
const std::string& class_of(const Config& object);

/// Whether the value is a {class_name, config}.
bool is_object(const Value& value);

/// The name of a layer, for messages.
std::string name_of(const Config& layer);

inline Config object_of(const std::string& class_name, const Config& config) {
  return {{"class_name", class_name}, {"config", config}};
}

/// The layer of another class and config, with what else the config of a layer has.
Config described_as(const Config& given, const std::string& class_name, const Config& config);

/// A tensor in the arguments of a call.
Value tensor_at(const std::string& layer, std::int64_t call, std::int64_t output);
/// Its [layer, call, output]; null for what is no tensor.
Value history_of(const Value& tensor);
bool is_tensor(const Value& value);

}  // namespace ktape::nn::saving
