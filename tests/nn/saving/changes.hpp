#pragma once
#include <ktape/ops/schema/config.hpp>

#include <functional>

/// Helpers for tests of readers of values from other programs.

/// Calls f with the value, changed in one of its places, for all places and several changes.
inline void each_change(const ktape::nn::Value& value,
                        const std::function<void(const ktape::nn::Value&)>& f) {
  using ktape::nn::Config, ktape::nn::Value;
  for (const Value& other :
       {Value(), Value(-1), Value(0), Value(std::int64_t{1} << 40), Value(0.5), Value("in"), Value(true),
        Value(Value::List{}), Value(Value::List{-1, 0}), Value(Config())})
    f(other);
  if (value.is_config())
    for (const auto& [name, inner] : value.config()) {
      Config changed = value.config();
      each_change(inner, [&, name = name](const Value& other) {
        changed.set(name, other);
        f(changed);
      });
      changed.erase(name);
      f(changed);
    }
  if (value.is_list())
    for (std::size_t i = 0; i < value.list().size(); ++i)
      each_change(value.list()[i], [&](const Value& other) {
        Value::List changed = value.list();
        changed[i] = other;
        f(changed);
      });
}
