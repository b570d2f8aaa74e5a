#pragma once
#include <ktape/nn/core/config.hpp>

#include <initializer_list>

/// Configs as Keras reads them. Internal: sources only.
namespace ktape::nn {

/// Returns a {class_name, config} without the arguments of these names, which Keras's class does not have.
inline Value without_arguments(const Value& object, std::initializer_list<const char*> names) {
  Config value = object.config(), config = value.at("config").config();
  for (const char* name : names) config.erase(name);
  value.set("config", config);
  return value;
}

}  // namespace ktape::nn
