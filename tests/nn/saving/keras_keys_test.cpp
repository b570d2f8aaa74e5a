#include <cstdio>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "../layers/conformance/table.hpp"
#include "keras_configs.hpp"

/// The table keras_keys.json has every key that a release of Keras from 2.2.4 to 3.15 writes into the config of a class,
/// with its default; keras_keys.py makes the table of Keras's sources.

using namespace keras_configs;

namespace {

const Config& keras_keys() {
  static const Value value = [] {
    std::ifstream file("tests/nn/saving/keras_keys.json");
    std::stringstream text;
    text << file.rdbuf();
    return from_json(text.str());
  }();
  return value.config();
}

/// Values of arguments that have no default in Keras, and of those whose default says nothing about their type.
const Config& samples() {
  static const Value value = from_json(R"({
      "units": 2, "filters": 2, "kernel_size": 1, "rate": 0.5, "stddev": 0.1, "input_dim": 4, "output_dim": 2, "n": 2,
      "target_shape": [2], "dims": [1], "axes": 1, "activation": "relu", "num_heads": 2, "key_dim": 2, "head_dim": 2,
      "num_query_heads": 2, "num_key_value_heads": 1, "equation": "ab,bc->ac", "output_shape": 2, "scale": 2.0,
      "layer": {"class_name": "LSTM", "config": {"units": 2}}, "cell": {"class_name": "LSTMCell", "config": {"units": 2}},
      "cells": [{"class_name": "LSTMCell", "config": {"units": 2}}], "num_bins": 3, "bin_boundaries": [0.0, 1.0],
      "height": 4, "width": 4, "factor": 0.1, "height_factor": 0.1, "width_factor": 0.1, "num_tokens": 4,
      "min_value": 0.0, "max_value": 1.0, "batch_shape": [null, 3], "batch_input_shape": [null, 3], "value": 0.5,
      "num_classes": 2, "target_class_ids": [0], "recall": 0.5, "precision": 0.5, "specificity": 0.5, "sensitivity": 0.5,
      "k": 2, "learning_rate": 0.1, "lr": 0.1, "initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.5,
      "boundaries": [1, 2], "values": [0.1, 0.2, 0.3], "factor_l2": 0.1, "dtype": "float32", "name": "sample",
      "class_id": 1, "delta": 1.0, "frame_length": 4, "frame_step": 2, "fft_length": 4, "mask_value": 0.0,
      "inner_optimizer": {"class_name": "SGD", "config": {}}})");
  return value.config();
}

/// Arguments without which a layer cannot be made, though Keras has defaults for them.
Config needed_by(const std::string& layer) {
  if (layer == "InputLayer") return {{"batch_shape", samples().at("batch_shape")}};
  if (layer == "Discretization") return {{"num_bins", 3}};
  if (layer == "CategoryEncoding") return {{"num_tokens", 4}};
  return {};
}

/// Returns a config of the class: its required arguments, and the key with its default.
Config config_with(const std::string& name, const Config& keys, const std::string& key, const Value& given) {
  Config config = needed_by(name);
  for (const auto& [name, entry] : keys)
    if (entry.list()[0] == Value("required") && samples().contains(name))
      config.set(name, samples().at(name));
  const Value value = given == Value("required") ? samples().get(key) : given;
  if (!config.contains(key) || !value.is_null()) config.set(key, value);
  return config;
}

/// Returns the error that the config of a class causes; empty where there is none.
std::string error_of(const std::string& kind, const std::string& name, const Config& config) {
  const Value object = Config{{"class_name", name}, {"config", config}};
  try {
    if (kind == "layer") {
      nn::Layer::from_value(canonical(object));
    } else if (kind == "loss" || kind == "metric" || kind == "optimizer") {
      Config compile{{"optimizer", kind == "optimizer" ? object : Value("sgd")}};
      if (kind != "optimizer") compile.set(kind == "loss" ? "loss" : "metrics", object);
      const Config made = nn::saving::canonical_compile(compile).config();
      if (kind == "loss") nn::Loss(made.at("loss"));
      if (kind == "metric") nn::Metric(made.at("metrics"));
      if (kind == "optimizer") nn::Optimizer(made.at("optimizer"));
    } else {
      const Config dense{{"units", 2}, {"kernel_" + kind, object}};
      nn::Layer::from_value(canonical(Config{{"class_name", "Dense"}, {"config", dense}}));
    }
  } catch (const ktape::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the keys that releases of Keras write are known") {
  for (const auto& [given_kind, classes] : keras_keys())
    for (const auto& [given_name, keys] : classes.config()) {
      const auto& kind = given_kind;
      const auto& name = given_name;
      if (!nn::is_registered(kind, name)) continue;
      for (const auto& [given_key, given_entry] : keys.config()) {
        const auto& entry = given_entry;
        const auto& key = given_key;
        const std::string error =
            error_of(kind, name, config_with(name, keys.config(), key, entry.list()[0]));
        CHECK_MESSAGE(error.empty(), kind, ' ', name, ", ", key, " of Keras ", entry.list()[1].string(), ": ",
                      error);
      }
    }
}

namespace {

/// Returns a release as a number that can be compared: 315 for "3.15".
int number_of(const std::string& release) {
  int major = 0, minor = 0;
  std::sscanf(release.c_str(), "%d.%d", &major, &minor);
  return 100 * major + minor;
}

/// Arguments of constructors, of a class or of its bases, that get_config of Keras does not list.
const std::set<std::string> taken{"CategoryEncoding.sparse",
                                  "ELU.alpha",
                                  "Embedding.input_length",
                                  "SimpleRNN.seed",
                                  "IntegerLookup.has_input_vocabulary",
                                  "StringLookup.has_input_vocabulary",
                                  "TextVectorization.has_input_vocabulary",
                                  "AlphaDropout.noise_shape",
                                  "AdditiveAttention.seed",
                                  "Attention.seed",
                                  "RandomBrightness.data_format",
                                  "RandomContrast.data_format",
                                  "Conv3DTranspose.dilation_rate",
                                  "RNN.activity_regularizer",
                                  "SpatialDropout2D.data_format",
                                  "SpatialDropout3D.data_format"};

/// A dialect in which layers are written.
struct Dialect {
  const char* name;
  int oldest, newest;  ///< the releases that read it, as numbers
  std::function<Value(const nn::Layer&)> write;
};

/// Checks the keys that a layer writes: `keys` are Keras's, with the releases that have them.
void check_written(const Dialect& dialect, const std::string& name, const Config& keys) {
  const auto known = [&](const std::string& key) {
    if (!keys.contains(key)) return false;
    const Value::List& entry = keys.at(key).list();
    return number_of(entry[1].string()) <= dialect.newest && number_of(entry[2].string()) >= dialect.oldest;
  };
  if (!nn::is_registered("layer", name) || !(known("dtype") || known("trainable"))) return;
  const Config config = keys.contains("target_shape") ? Config{{"target_shape", Value::List{2, -1}}}
                                                      : config_with(name, keys, "name", name);
  const nn::Layer layer = nn::Layer::from_value(canonical(Config{{"class_name", name}, {"config", config}}));
  const Value written = dialect.write(layer);
  for (const auto& [key, value] : written.config().at("config").config()) {
    const std::string what =
        std::string(dialect.name) + ": " + name + " writes " + key + ": " + nn::to_json(value);
    if (key == "target_shape") CHECK(value == Value(Value::List{2, -1}));
    const bool empty = value.is_list() && value.list().empty();
    CHECK_MESSAGE((!empty || key == "shared_axes"), what, ", which Keras does not take for None");
    if (key != "name" && !taken.contains(name + "." + key)) CHECK_MESSAGE(known(key), what);
  }
}

}  // namespace

TEST_CASE("the keys that are written are those of the dialect's releases") {
  const std::vector<Dialect> dialects = {
      {"Keras 3", 300, 308, [](const nn::Layer& layer) { return layer.to_value(); }},
      {"Keras 2", 211, 215, [](const nn::Layer& layer) { return nn::saving::keras2(layer.to_value()); }}};
  for (const Dialect& dialect : dialects)
    for (const auto& [name, entry] : keras_keys().at("layer").config())
      check_written(dialect, name, entry.config());
}

TEST_CASE("what layers write for Keras 2.15 has keys of Keras 2.15, or is refused by the name of the class") {
  std::set<std::string> refused;
  for (const Row& row : table()) {
    CAPTURE(row.name);
    const nn::Layer layer = row.make();
    const Value written = nn::saving::keras2(layer.to_value());
    const std::string name = written.config().at("class_name").string();
    if (name == "LayerScale")
      continue;  // a class of keras.applications, which Keras finds among custom objects
    const Value entry = keras_keys().at("layer").config().get(name);
    const auto known = [&](const std::string& key) {
      const Value range = entry.is_null() ? entry : entry.config().get(key);
      return !range.is_null() && number_of(range.list()[1].string()) <= 215 &&
             number_of(range.list()[2].string()) >= 215;
    };
    if (!known("dtype") && !known("trainable")) {
      refused.insert(name);
      CHECK_THROWS_WITH_AS(nn::saving::expect_keras2(written), doctest::Contains(name.c_str()),
                           ktape::ValueError);
      continue;
    }
    CHECK_NOTHROW(nn::saving::expect_keras2(written));
    for (const auto& entry : written.config().at("config").config())
      if (const std::string& key = entry.first; key != "name" && !taken.contains(name + "." + key))
        CHECK_MESSAGE(known(key), name, " writes ", key, ": ", nn::to_json(entry.second));
  }
  CHECK(refused == std::set<std::string>{"GroupQueryAttention", "RMSNormalization"});
}
