#pragma once
#include <ktape/ktape.hpp>
#include <ktape/nn/serialization/keras_dialects.hpp>

#include "../../json_file.hpp"
#include "../../ops/check.hpp"

/// For tests of the configs that versions of Keras wrote.
namespace keras_configs {

using ktape::nn::Config, ktape::nn::from_json, ktape::nn::Value;
using ktape::nn::saving::canonical;

template <class Error, class F>
void check_throws(const F& f, const char* text) {
  CHECK_THROWS_WITH_AS(f(), doctest::Contains(text), Error);
}

/// Returns the config of the layer of that name in a canonical model.
inline const Config& layer_in(const Value& model, const std::string& name) {
  for (const Value& layer : model.config().at("config").config().at("layers").list())
    if (layer.config().at("config").config().get("name") == Value(name)) return layer.config();
  throw std::runtime_error("no layer " + name);
}
inline const Config& arguments(const Value& model, const std::string& name) {
  return layer_in(model, name).at("config").config();
}
inline Value calls(const Value& model, const std::string& name) {
  return layer_in(model, name).at("inbound_nodes");
}

/// Returns the canonical form of a layer alone.
inline Config canonical_layer(const std::string& json) { return canonical(from_json(json)).config(); }
inline Config canonical_arguments(const std::string& json) {
  return canonical_layer(json).at("config").config();
}

/// Returns a graph of the layers x -> ... -> last, in Keras 2's form.
inline Value graph(const std::string& layers, const std::string& last) {
  return from_json(R"({"class_name": "Model", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "name": "x", "inbound_nodes": [],
       "config": {"batch_input_shape": [null, 8, 8, 3], "dtype": "float32", "sparse": false, "name": "x"}}, )" +
                   layers + R"(], "input_layers": [["x", 0, 0]], "output_layers": [[")" + last +
                   R"(", 0, 0]]}})");
}

/// Returns a Sequential in the canonical form.
inline Value expected_sequence() { return json_file("nn/serialization/sequence_canonical.json"); }

}  // namespace keras_configs
