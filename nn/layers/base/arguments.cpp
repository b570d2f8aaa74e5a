#include <ktape/nn/core/names.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/base/shared_layers.hpp>
#include <ktape/ops/settings/config.hpp>

namespace ktape::nn {
namespace K = backend;

std::string automatic_name(const std::string& class_name) {
  const std::string name = to_snake_case(class_name);
  const int uid = K::get_uid(name);
  return uid == 1 ? name : name + '_' + std::to_string(uid - 1);
}

Config own_arguments(const Config& config) {
  Config own = config;
  for (const char* name : {"name", "trainable", "dtype", "batch_input_shape", "build_config", "autocast"})
    own.erase(name);
  return own;
}

std::optional<DTypePolicy> dtype_in(const Config& config, const std::string& what) {
  const Value dtype = config.get("dtype");
  // Keras 2 writes the dtype "string" for text layers, which is no dtype for weights.
  if (dtype.is_null() || dtype == Value("string")) return {};
  return dtype.is_config() ? DTypePolicy(dtype) : DTypePolicy(dtype.string(what + "dtype"));
}

LayerOptions layer_options(const std::string& class_name, const Config& config) {
  const std::string what = '[' + class_name + "] ";
  LayerOptions options;
  if (const Value name = config.get("name"); !name.is_null()) options.name = name.string(what + "name");
  if (const Value trainable = config.get("trainable"); !trainable.is_null())
    options.trainable = trainable.boolean(what + "trainable");
  options.dtype = dtype_in(config, what);
  if (const Value shape = config.get("batch_input_shape"); !shape.is_null())
    options.batch_input_shape = shape.shape(what + "batch_input_shape");
  return options;
}

Value described(const LayerImpl& layer, const Config& config) {
  for (const auto& [argument, value] : config)
    if (value.is_config() && value.config().get("class_name") == Value("function") &&
        !value.config().get("config").is_string())
      fail("[", layer.name(), "] a function has no config from which it could be made again: received ",
           argument, " of class ", layer.class_name(), "; write a class and register it");
  Config described{{"class_name", layer.class_name()}, {"config", config}};
  const Value number = SharedLayers::number_of(layer);
  if (!number.is_null()) described.set("shared_object_id", number);
  return with_module(LayerImpl::kind, described);
}

namespace {

Value without_input_shapes(const Value& value) {
  if (value.is_list()) {
    Value::List list;
    for (const Value& item : value.list()) list.push_back(without_input_shapes(item));
    return list;
  }
  if (!value.is_config()) return value;
  Config config;
  for (const auto& [name, item] : value.config())
    if (name != "batch_input_shape") config.set(name, without_input_shapes(item));
  return config;
}

}  // namespace

Value as_member(const Layer& layer) { return without_input_shapes(layer.to_value()); }

}  // namespace ktape::nn
