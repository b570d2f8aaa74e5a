#pragma once
#include <ktape/nn/core/dtype_policy.hpp>

#include <string>
#include <vector>

/// The mixed policies with which tests run.
inline const std::vector<std::string> mixed_policies{"mixed_float16", "mixed_bfloat16"};

/// Returns the compute dtype of a policy.
inline ktape::DType computed_in(const std::string& policy) {
  return ktape::nn::DTypePolicy(policy).compute_dtype();
}

/// A scope in which new layers have a policy.
struct PolicyScope {
  explicit PolicyScope(const ktape::nn::DTypePolicy& policy) { ktape::nn::set_dtype_policy(policy); }
  ~PolicyScope() { ktape::nn::set_dtype_policy(ktape::None); }
  PolicyScope(const PolicyScope&) = delete;
  PolicyScope& operator=(const PolicyScope&) = delete;
};

/// Returns the config of a layer with a dtype for the layer and for the layers inside.
inline ktape::nn::Config with_dtype(ktape::nn::Config config, const ktape::nn::Value& dtype) {
  using ktape::nn::Config, ktape::nn::Value;
  const auto changed = [&](const Value& layer) -> Value {
    if (!layer.is_config()) return layer;
    Config whole = layer.config();
    whole.set("config", with_dtype(whole.at("config").config(), dtype));
    return whole;
  };
  for (const char* inner : {"cell", "cells", "layer", "backward_layer"}) {
    if (!config.contains(inner)) continue;
    Value::List several;
    if (config.at(inner).is_list())
      for (const Value& one : config.at(inner).list()) several.push_back(changed(one));
    config.set(inner, config.at(inner).is_list() ? Value(several) : changed(config.at(inner)));
  }
  config.set("dtype", dtype);
  return config;
}
