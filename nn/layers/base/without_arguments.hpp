#pragma once
#include <ktape/ops/schema/config.hpp>

#include <initializer_list>

/// Removes arguments that Keras does not know from configs. Internal: sources only.
namespace ktape::nn {

/// Returns a {class_name, config} without the named arguments, which the Keras class does not have.
inline Value without_arguments(const Value& object, std::initializer_list<const char*> names) {
  Config value = object.config(), config = value.at("config").config();
  for (const char* name : names) config.erase(name);
  value.set("config", config);
  return value;
}

}  // namespace ktape::nn
