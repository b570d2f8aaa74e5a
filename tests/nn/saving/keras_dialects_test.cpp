#include "../../ops/check.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/saving/keras_dialects.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor, ktape::TypeError, ktape::ValueError;
using nn::Config, nn::from_json, nn::Value;
using nn::saving::canonical, nn::saving::keras2;

namespace {

template <class Error, class F>
void check_throws(const F& f, const char* text) {
  CHECK_THROWS_WITH_AS(f(), doctest::Contains(text), Error);
}

/// The config of the layer of that name in a canonical model.
const Config& layer_in(const Value& model, const std::string& name) {
  for (const Value& layer : model.config().at("config").config().at("layers").list())
    if (layer.config().at("config").config().get("name") == Value(name)) return layer.config();
  throw std::runtime_error("no layer " + name);
}
const Config& arguments(const Value& model, const std::string& name) {
  return layer_in(model, name).at("config").config();
}
Value calls(const Value& model, const std::string& name) { return layer_in(model, name).at("inbound_nodes"); }

/// The canonical form of a layer alone.
Config canonical_layer(const std::string& json) { return canonical(from_json(json)).config(); }
Config canonical_arguments(const std::string& json) { return canonical_layer(json).at("config").config(); }

/// A graph of the layers x -> ... -> last, in Keras 2's form.
Value graph(const std::string& layers, const std::string& last) {
  return from_json(R"({"class_name": "Model", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "name": "x", "inbound_nodes": [],
       "config": {"batch_input_shape": [null, 8, 8, 3], "dtype": "float32", "sparse": false, "name": "x"}}, )" +
                   layers + R"(], "input_layers": [["x", 0, 0]], "output_layers": [[")" + last +
                   R"(", 0, 0]]}})");
}

const char* const expected_sequence = R"({"class_name": "Sequential", "config": {"name": "net", "layers": [
    {"class_name": "InputLayer", "config": {"name": "hidden_input", "batch_shape": [null, 4], "dtype": "float32"}},
    {"class_name": "Dense", "config": {"name": "hidden", "trainable": true, "dtype": "float32", "units": 8,
     "activation": "relu", "use_bias": true,
     "kernel_initializer": {"class_name": "GlorotUniform", "config": {"seed": null}},
     "bias_initializer": {"class_name": "Zeros", "config": {}}, "kernel_regularizer": null}},
    {"class_name": "Dropout", "config": {"name": "drop", "trainable": true, "dtype": "float32", "rate": 0.5,
     "noise_shape": null, "seed": null}}]}})";

}  // namespace

TEST_CASE("a Sequential is the same in the dialects of all versions") {
  const Value expected = from_json(expected_sequence);

  SUBCASE("Keras 2.2 and TensorFlow.js, with the input's shape in the first layer") {
    CHECK(canonical(from_json(R"({"class_name": "Sequential", "config": {"name": "net", "layers": [
        {"class_name": "Dense", "config": {"name": "hidden", "trainable": true, "batch_input_shape": [null, 4],
         "dtype": "float32", "units": 8, "activation": "relu", "use_bias": true,
         "kernel_initializer": {"class_name": "GlorotUniform", "config": {"seed": null}},
         "bias_initializer": {"class_name": "Zeros", "config": {}}, "kernel_regularizer": null}},
        {"class_name": "Dropout", "config": {"name": "drop", "trainable": true, "dtype": "float32", "rate": 0.5,
         "noise_shape": null, "seed": null}}]}})")) == expected);
  }

  SUBCASE("TF-Keras 2.15, with policies, modules and an InputLayer") {
    CHECK(canonical(from_json(R"({"class_name": "Sequential", "config": {"name": "net", "layers": [
        {"module": "keras.layers", "class_name": "InputLayer", "config": {"batch_input_shape": [null, 4],
         "dtype": "float32", "ragged": false, "name": "hidden_input"}, "registered_name": null},
        {"module": "keras.layers", "class_name": "Dense", "config": {"name": "hidden", "trainable": true,
         "dtype": {"class_name": "Policy", "config": {"name": "float32"}}, "batch_input_shape": [null, 4],
         "units": 8, "activation": "relu", "use_bias": true,
         "kernel_initializer": {"module": "keras.initializers", "class_name": "GlorotUniform",
                                "config": {"seed": null}, "registered_name": null},
         "bias_initializer": {"module": "keras.initializers", "class_name": "Zeros", "config": {},
                              "registered_name": null},
         "kernel_regularizer": null}, "registered_name": null},
        {"module": "keras.layers", "class_name": "Dropout", "config": {"name": "drop", "trainable": true,
         "dtype": "float32", "rate": 0.5, "noise_shape": null, "seed": null}, "registered_name": null}]}})")) ==
          expected);
  }

  SUBCASE("Keras 3") {
    CHECK(canonical(from_json(R"({"module": "keras", "class_name": "Sequential", "registered_name": null,
       "config": {"name": "net", "dtype": {"module": "keras", "class_name": "DTypePolicy",
         "config": {"name": "float32"}, "registered_name": null}, "build_input_shape": [null, 4], "layers": [
        {"module": "keras.layers", "class_name": "InputLayer", "config": {"batch_shape": [null, 4],
         "dtype": "float32", "ragged": false, "optional": false, "name": "hidden_input"}, "registered_name": null},
        {"module": "keras.layers", "class_name": "Dense", "config": {"name": "hidden", "trainable": true,
         "dtype": {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"},
                   "registered_name": null},
         "units": 8, "activation": {"module": "builtins", "class_name": "function", "config": "relu",
                                    "registered_name": "function"}, "use_bias": true,
         "kernel_initializer": {"module": "keras.initializers", "class_name": "GlorotUniform",
                                "config": {"seed": null}, "registered_name": null},
         "bias_initializer": {"module": "keras.initializers", "class_name": "Zeros", "config": {},
                              "registered_name": null},
         "kernel_regularizer": null, "quantization_config": null}, "registered_name": null},
        {"module": "keras.layers", "class_name": "Dropout", "config": {"name": "drop", "trainable": true,
         "dtype": "float32", "rate": 0.5, "noise_shape": null, "seed": null}, "registered_name": null}]}})")) ==
          expected);
  }

  SUBCASE("a file's metadata, and what is canonical already") {
    CHECK(canonical(Config{{"keras_version", "2.2.4"}, {"model_config", expected}}) == expected);
    CHECK(canonical(expected) == expected);
  }
}

TEST_CASE("a Sequential of Keras 2.2 may be a plain list, or learn its input from a model in it") {
  const Value list = canonical(from_json(R"({"class_name": "Sequential", "config": [
      {"class_name": "Flatten", "config": {"name": "f", "batch_input_shape": [2, 3, 5], "dtype": "float32"}}]})"));
  CHECK(list.config().at("config").config().at("layers").list().size() == 2);
  CHECK(arguments(list, "f_input").at("batch_shape") == from_json("[2, 3, 5]"));
  CHECK(!arguments(list, "f").contains("batch_input_shape"));

  const Value nested = canonical(
      Config{{"class_name", "Sequential"},
             {"config", Config{{"name", "outer"}, {"layers", Value::List{from_json(expected_sequence)}}}}});
  CHECK(arguments(nested, "net_input").at("batch_shape") == from_json("[null, 4]"));

  const Value deferred =
      canonical(from_json(R"({"class_name": "Sequential", "config": {"name": "late", "layers": [
      {"class_name": "Dense", "config": {"name": "d", "units": 1}}], "build_input_shape": [null, 7]}})"));
  CHECK(arguments(deferred, "d_input").at("batch_shape") == from_json("[null, 7]"));
}

TEST_CASE("a functional model of Keras 2: a block of MobileNetV2") {
  const Value model = canonical(graph(
      R"({"class_name": "Conv2D", "name": "expand", "inbound_nodes": [[["x", 0, 0, {}]]], "config": {"name": "expand",
          "trainable": true, "dtype": "float32", "filters": 6,
          "kernel_size": {"class_name": "__tuple__", "items": [1, 1]}, "strides": [1, 1], "padding": "same",
          "data_format": "channels_last", "dilation_rate": [1, 1], "groups": 1, "activation": "linear",
          "use_bias": false, "kernel_initializer": {"class_name": "VarianceScaling", "config": {"scale": 1.0,
          "mode": "fan_avg", "distribution": "normal", "seed": null}}, "bias_initializer": {"class_name": "ZerosV2",
          "config": {"dtype": "float32"}}, "kernel_regularizer": {"class_name": "L1L2", "config": {"l1": 0.0,
          "l2": 4e-05}}, "bias_regularizer": null, "activity_regularizer": null, "kernel_constraint": null,
          "bias_constraint": null}},
         {"class_name": "BatchNormalizationV1", "name": "norm", "inbound_nodes": [[["expand", 0, 0, {}]]],
          "config": {"name": "norm", "trainable": true, "dtype": "float32", "axis": [3], "momentum": 0.999,
          "epsilon": 0.001, "center": true, "scale": true, "fused": true, "renorm": false, "renorm_momentum": 0.99}},
         {"class_name": "ReLU", "name": "relu6", "inbound_nodes": [[["norm", 0, 0, {"training": null}]]],
          "config": {"name": "relu6", "trainable": true, "dtype": "float32",
          "max_value": {"type": "ndarray", "value": 6.0}, "negative_slope": 0.0, "threshold": 0.0}},
         {"class_name": "DepthwiseConv2D", "name": "depthwise", "inbound_nodes": [[["relu6", 0, 0, {}]]],
          "config": {"name": "depthwise", "trainable": true, "dtype": "float32", "kernel_size": [3, 3],
          "strides": [1, 1], "padding": "same", "data_format": "channels_last", "dilation_rate": [1, 1],
          "groups": 1, "activation": "linear", "use_bias": false, "depth_multiplier": 1,
          "depthwise_initializer": {"class_name": "GlorotUniform", "config": {"seed": null}},
          "kernel_initializer": {"class_name": "GlorotUniform", "config": {}}, "kernel_regularizer": null}},
         {"class_name": "Add", "name": "add", "config": {"name": "add", "trainable": true, "dtype": "float32"},
          "inbound_nodes": [[["depthwise", 0, 0, {}], ["relu6", 0, 0, {}]]]})",
      "add"));
  CHECK(model.config().at("class_name") == Value("Functional"));
  CHECK(arguments(model, "x").at("batch_shape") == from_json("[null, 8, 8, 3]"));
  CHECK(calls(model, "x") == Value(Value::List()));
  CHECK(arguments(model, "expand").at("kernel_size") == from_json("[1, 1]"));
  CHECK(
      arguments(model, "expand").at("kernel_initializer").config().at("config").config().at("distribution") ==
      Value("truncated_normal"));
  CHECK(layer_in(model, "norm").at("class_name") == Value("BatchNormalization"));
  CHECK(arguments(model, "norm").at("axis") == Value(3));
  CHECK(arguments(model, "relu6").at("max_value") == Value(6));
  CHECK(calls(model, "relu6") == from_json(R"([{"args": [{"class_name": "__keras_tensor__",
      "config": {"keras_history": ["norm", 0, 0]}}], "kwargs": {}}])"));
  CHECK(calls(model, "add") == from_json(R"([{"args": [[
      {"class_name": "__keras_tensor__", "config": {"keras_history": ["depthwise", 0, 0]}},
      {"class_name": "__keras_tensor__", "config": {"keras_history": ["relu6", 0, 0]}}]], "kwargs": {}}])"));
  for (const char* name : {"expand", "norm", "relu6", "depthwise", "add"})
    CHECK(nn::Layer::from_value(layer_in(model, name)).name() == name);
  CHECK(canonical(model) == model);
}

TEST_CASE("inputs and outputs may be one, a list, or have names") {
  const auto ends_of = [](const std::string& ends) {
    Config model = graph(R"({"class_name": "Identity", "name": "y", "config": {"name": "y"},
                             "inbound_nodes": [[["x", 0, 0, {}]]]})",
                         "y")
                       .config();
    Config config = model.at("config").config();
    config.set("output_layers", from_json(ends));
    model.set("config", config);
    return canonical(model).config().at("config").config().at("output_layers");
  };
  CHECK(ends_of(R"(["y", 0, 0])") == from_json(R"([["y", 0, 0]])"));
  CHECK(ends_of(R"([["y", 0, 0], ["x", 0, 0]])") == from_json(R"([["y", 0, 0], ["x", 0, 0]])"));
  CHECK(ends_of(R"({"b": ["y", 0, 0], "a": ["x", 0, 0]})") == from_json(R"([["x", 0, 0], ["y", 0, 0]])"));
}

TEST_CASE("the calls of models in models count from 0, but at the ends from 1, as Keras 3 has it") {
  const std::string inner =
      R"("config": {"name": "inner", "layers": [{"class_name": "InputLayer", "name": "i",
      "config": {"batch_input_shape": [null, 8, 8, 3], "name": "i"}, "inbound_nodes": []}],
      "input_layers": [["i", 0, 0]], "output_layers": [["i", 0, 0]]})";
  const std::string twice = R"("inbound_nodes": [[["x", 0, 0, {}]], [["inner", 1, 0, {}]]]})";
  Config functional =
      graph(R"({"class_name": "Functional", "name": "inner", )" + inner + ", " + twice, "inner").config();
  Config config = functional.at("config").config();
  config.set("output_layers", from_json(R"([["inner", 1, 0], ["inner", 2, 0]])"));
  functional.set("config", config);
  const Value read = canonical(functional);
  CHECK(nn::to_json(calls(read, "inner")).find(R"(["inner",0,0])") != std::string::npos);
  CHECK(read.config().at("config").config().at("output_layers") ==
        from_json(R"([["inner", 1, 0], ["inner", 2, 0]])"));
  CHECK(keras2(read).config().at("config").config().at("output_layers") ==
        from_json(R"([["inner", 1, 0], ["inner", 2, 0]])"));
  CHECK(canonical(keras2(read)) == read);

  // A Sequential counts from 0 at the ends, too; Keras 2 counted from 1 when it was built.
  const auto sequence_called = [&](const char* first) {
    return canonical(graph(R"({"class_name": "Sequential", "name": "s", "config": {"name": "s", "layers": [
        {"class_name": "Flatten", "config": {"name": "f", "batch_input_shape": [null, 8, 8, 3]}}]},
        "inbound_nodes": [[["x", 0, 0, {}]]]}, {"class_name": "Dense", "name": "d", "config": {"name": "d",
        "units": 2}, "inbound_nodes": [[["s", )" +
                               std::string(first) + R"(, 0, {}]]]})",
                           "d"));
  };
  CHECK(sequence_called("1") == sequence_called("0"));
  const Value written = keras2(sequence_called("0"));
  CHECK(nn::to_json(written).find(R"(["s",1,0,{}])") != std::string::npos);
  CHECK(canonical(written) == sequence_called("0"));
}

TEST_CASE("arguments of calls: tensors by name, constants, and what is None") {
  const Value model = canonical(graph(
      R"({"class_name": "MultiHeadAttention", "name": "a", "config": {"name": "a", "num_heads": 2, "key_dim": 3,
          "query_shape": [null, 8, 8, 3], "key_shape": null, "value_shape": [null, 8, 8, 3]}, "inbound_nodes":
          [[["x", 0, 0, {"value": ["x", 0, 0], "attention_mask": null, "use_causal_mask": true}]]]},
         {"class_name": "Add", "name": "shifted", "config": {"name": "shifted"},
          "inbound_nodes": [[["a", 0, 0, {}], ["_CONSTANT_VALUE", -1, 2.0, {}]]]})",
      "a"));
  CHECK(calls(model, "a") ==
        from_json(R"([{"args": [{"class_name": "__keras_tensor__", "config": {"keras_history":
      ["x", 0, 0]}}], "kwargs": {"value": {"class_name": "__keras_tensor__", "config": {"keras_history":
      ["x", 0, 0]}}, "use_causal_mask": true}}])"));
  CHECK(calls(model, "shifted").list()[0].config().at("args").list()[0].list()[1] == Value(2));
  CHECK(nn::Layer::from_value(layer_in(model, "a")).name() == "a");
  CHECK(canonical(keras2(model)) == model);
}

TEST_CASE("recurrent layers of the versions") {
  const Config lstm = canonical_layer(R"({"class_name": "LSTM", "config": {"name": "l", "batch_input_shape":
      [null, 5, 3], "units": 4, "activation": "tanh", "recurrent_activation": "hard_sigmoid",
      "unit_forget_bias": null, "implementation": 1, "unroll": false, "time_major": false, "stateful": false,
      "return_sequences": true}})");
  CHECK(lstm.at("config").config().at("recurrent_activation") ==
        from_json(R"({"class_name": "hard_sigmoid", "config": {"slope": 0.2}})"));
  CHECK(nn::Layer::from_value(lstm).class_name() == "LSTM");

  const char* gru =
      R"({"class_name": "GRU", "config": {"name": "g", "units": 4, "batch_input_shape": [null, 5, 3]}})";
  CHECK(canonical_arguments(gru).at("reset_after") == Value(false));

  const Config cudnn =
      canonical_layer(R"({"class_name": "Bidirectional", "config": {"name": "b", "merge_mode":
      "concat", "layer": {"class_name": "CuDNNGRU", "config": {"name": "g", "units": 4}}}})");
  const Config& inner = cudnn.at("config").config().at("layer").config();
  CHECK(inner == from_json(R"({"class_name": "GRU", "config": {"name": "g", "units": 4, "activation": "tanh",
      "recurrent_activation": "sigmoid", "reset_after": true}})")
                     .config());

  const Config cells = canonical_layer(R"({"class_name": "RNN", "config": {"name": "r", "cell": {"class_name":
      "StackedRNNCells", "config": {"name": "s", "cells": [{"class_name": "LSTMCell", "config": {"name": "c",
      "units": 2, "implementation": 2}}]}}, "num_constants": null}})");
  CHECK(nn::Layer::from_value(cells).class_name() == "RNN");
}

TEST_CASE("hard_sigmoid is Keras 2's in files of Keras 2, and Keras 3's in others") {
  const Tensor x = K::constant({-4.f, -2.7f, 0.f, 1.f, 2.7f});
  const auto activation_of = [](const char* shape) {
    return nn::ActivationFunction(
        canonical_arguments(R"({"class_name": "Activation", "config": {"name": "a", ")" + std::string(shape) +
                            R"(": [null, 5], "activation": "hard_sigmoid"}})")
            .at("activation"));
  };
  const nn::ActivationFunction old = activation_of("batch_input_shape");
  CHECK(close(old(x), K::hard_sigmoid(x), exactly));
  CHECK(values<float>(nn::activations::hard_sigmoid(x, {.slope = 0.2})) == values<float>(old(x)));
  const Value layer = nn::Activation(old, {.name = "a"}).to_value();
  CHECK(keras2(layer).config().at("config").config().at("activation") == Value("hard_sigmoid"));

  const Value today = nn::Activation("hard_sigmoid", {.name = "a"}).to_value();
  CHECK(canonical(today) == canonical(from_json(nn::to_json(keras2(today)))));
  CHECK(keras2(today).config().at("config").config().at("activation").config().at("class_name") !=
        Value("hard_sigmoid"));
}

TEST_CASE("activations, initializers and layers under their old names") {
  const auto activation = [](const std::string& json) {
    return canonical_arguments(
               R"({"class_name": "Dense", "config": {"name": "d", "units": 1, "activation": )" + json + "}}")
        .at("activation");
  };
  CHECK(activation(R"({"class_name": "function", "config": "swish"})") == Value("swish"));
  CHECK(activation(R"("softmax_v2")") == Value("softmax"));
  CHECK(activation(
            R"({"class_name": "LeakyReLU", "config": {"name": "l", "trainable": true, "alpha": 0.3}})") ==
        from_json(R"({"class_name": "LeakyReLU", "config": {"negative_slope": 0.3}})"));
  CHECK(nn::ActivationFunction(activation(
            R"({"class_name": "ReLU", "config": {"max_value": 6, "dtype": "float32"}})"))(K::constant({7.f}))
            .item<float>() == 6);

  CHECK(canonical_arguments(R"({"class_name": "LeakyReLU", "config": {"name": "l", "alpha": 0.1}})") ==
        from_json(R"({"name": "l", "negative_slope": 0.1})").config());
  CHECK(canonical_layer(R"({"class_name": "ThresholdedReLU", "config": {"name": "t", "theta": 1.5}})") ==
        from_json(R"({"class_name": "ReLU", "config": {"name": "t", "threshold": 1.5}})").config());
  const Config initialized =
      canonical_arguments(R"({"class_name": "Dense", "config": {"name": "d", "units": 1,
      "kernel_initializer": {"class_name": "RandomNormalV2", "config": {"mean": 0.0, "stddev": 0.05,
      "seed": {"class_name": "SeedGenerator", "config": {}}}}}})");
  CHECK(
      initialized.at("kernel_initializer") ==
      from_json(R"({"class_name": "RandomNormal", "config": {"mean": 0.0, "stddev": 0.05, "seed": null}})"));
}

namespace {

struct ScaleImpl : nn::LayerImpl {
  double by;
  explicit ScaleImpl(double by) : nn::LayerImpl("Scale"), by(by) {}
  Tensor call(const Tensor& x) override { return x * by; }
  Config get_config() const override { return {{"by", by}}; }
};
using Scale = nn::LayerOf<ScaleImpl>;

}  // namespace

TEST_CASE("a custom class is found with its package and without it") {
  const std::string of_keras3 = R"({"module": null, "class_name": "Scale", "registered_name": "pkg>Scale",
      "config": {"name": "s", "by": 2}})";
  const std::string of_tf = R"({"class_name": "pkg>Scale", "config": {"name": "s", "by": 2}})";
  const auto make = [](const Config& config) { return Scale(config.at("by").number()); };
  for (const std::string& json : {of_keras3, of_tf}) {
    {
      const nn::custom_object_scope scope({{"pkg>Scale", make}});
      CHECK(canonical_layer(json).at("class_name") == Value("pkg>Scale"));
    }
    const nn::custom_object_scope scope({{"Scale", make}});
    CHECK(canonical_layer(json).at("class_name") == Value("Scale"));
    CHECK(nn::Layer::from_value(canonical(from_json(json)))(K::ones({1, 1})).item<float>() == 2);
  }
}

TEST_CASE("what would change the result is an error that names layer and argument") {
  const auto layer = [](const std::string& arguments) {
    return [=] { nn::Layer::from_value(canonical(from_json(arguments))); };
  };
  check_throws<ValueError>(
      layer(R"({"class_name": "LSTM", "config": {"name": "l", "units": 1, "time_major": true}})"),
      "[l] time_major must be false: received time_major=true");
  check_throws<ValueError>(layer(R"({"class_name": "InputLayer", "config": {"name": "i", "ragged": true}})"),
                           "[i] ragged must be false");
  check_throws<ValueError>(
      layer(R"({"class_name": "BatchNormalization", "config": {"name": "n", "renorm": true}})"),
      "[BatchNormalization] an argument must be known: received renorm=true");
  check_throws<ValueError>(
      layer(R"({"class_name": "DepthwiseConv2D", "config": {"name": "d", "kernel_size": [1, 1],
                                     "groups": 2}})"),
      "received groups=2");
  check_throws<ValueError>(
      layer(R"({"class_name": "Dense", "config": {"name": "d", "units": 1, "dtype": "bfloat16"}})"),
      "[d] dtype must be one of the library");
  check_throws<ValueError>(
      layer(R"({"class_name": "Dense", "config": {"name": "d", "units": 1, "dtype": "complex64"}})"),
      "[d] dtype must be one of the library");
}

TEST_CASE("layers of a mixed policy compute in float32, as their weights are") {
  const Config config =
      canonical(from_json(R"({"class_name": "Dense", "config": {"name": "d", "units": 1, "dtype":
      {"class_name": "Policy", "config": {"name": "mixed_float16"}}}})"))
          .config();
  CHECK(config.at("config").config().at("dtype") == Value("float32"));
}

TEST_CASE("configs that are none are errors") {
  check_throws<TypeError>([] { canonical(Value(3)); },
                          "[model_from_config] an architecture must be a config");
  check_throws<ValueError>([] { canonical(Config{{"name", "x"}}); }, "received name='class_name'");
  check_throws<TypeError>([] { canonical(from_json(R"({"class_name": 3, "config": {}})")); },
                          "class_name must be a string");
  check_throws<TypeError>([] { canonical(from_json(R"({"class_name": "Dense", "config": 5})")); },
                          "[Dense] config must be a config");
  check_throws<TypeError>([] { canonical(from_json(R"({"class_name": "Sequential", "config": [5]})")); },
                          "[Sequential] a layer must be a config");
  check_throws<ValueError>(
      [] {
        canonical(graph(R"({"class_name": "Identity", "name": "y", "config": {},
      "inbound_nodes": [[["nobody", 0, 0, {}]]]})",
                        "y"));
      },
      "[Functional] a call must be of a layer of the model: received [\"nobody\",0,0,{}]");
  check_throws<TypeError>(
      [] {
        canonical(graph(R"({"class_name": "Identity", "name": "y", "config": {},
      "inbound_nodes": [[7]]})",
                        "y"));
      },
      "[Functional] a call must be a list");
  check_throws<ValueError>(
      [] {
        canonical(from_json(R"({"class_name": "Functional", "config": {"layers": [],
      "input_layers": []}})"));
      },
      "received name='output_layers'");
}

TEST_CASE("operations among the layers become layers that compute the same") {
  const auto made = [](const std::string& node, const std::string& call) {
    const Value model = canonical(graph(node + R"(, "name": "op", "inbound_nodes": [)" + call + "]}", "op"));
    const Config& layer = layer_in(model, "op");
    return nn::Layer::from_value(
        Config{{"class_name", layer.at("class_name")}, {"config", layer.at("config")}});
  };
  const auto lambda = [](const std::string& function) {
    return R"({"class_name": "TFOpLambda", "config": {"name": "tf.x", "trainable": true, "dtype": "float32",
               "function": ")" +
           function + "\"}";
  };
  const auto node = [](const std::string& op, const std::string& constants) {
    return R"({"class_name": "TensorFlowOpLayer", "config": {"name": "x", "trainable": true, "dtype": "float32",
               "node_def": {"name": "x", "op": ")" +
           op + R"(", "input": ["a", "b"], "attr": {"T": {"type": "DT_FLOAT"},
               "keep_dims": {"b": true}}}, "constants": )" +
           constants + "}";
  };
  const auto keras3 = [](const std::string& name, const std::string& config) {
    return R"({"module": "keras.src.ops.numpy", "class_name": ")" + name + R"(", "registered_name": ")" +
           name + R"(", "config": )" + config;
  };
  const std::string x = R"({"class_name": "__keras_tensor__", "config": {"shape": [null, 8, 8, 3],
      "dtype": "float32", "keras_history": ["x", 0, 0]}})";
  const Tensor image = K::random_normal({2, 8, 8, 3});
  const auto same = [&](const nn::Layer& layer, const Tensor& expected) {
    CAPTURE(layer.class_name());
    const Tensor y = layer(image);
    REQUIRE(y.shape() == expected.shape());
    CHECK(close(y, expected, {.atol = 1e-6}));
  };

  same(made(lambda("math.multiply"), R"(["x", 0, 0, {"y": 2.0, "name": null}])"), image * 2.f);
  same(made(lambda("__operators__.add"), R"(["x", 0, 0, {"y": [[[[1.0, 2.0, 3.0]]]]}])"),
       image + K::constant({1.f, 2.f, 3.f}));
  same(made(lambda("math.subtract"), R"(["_CONSTANT_VALUE", -1, 1.0, {"y": ["x", 0, 0]}])"), 1.f - image);
  same(made(lambda("math.truediv"), R"(["x", 0, 0, {"y": 4}])"), image / 4.f);
  same(made(lambda("math.reduce_mean"), R"(["x", 0, 0, {"axis": [1, 2], "keepdims": true}])"),
       K::mean(image, {1, 2}, true));
  same(made(lambda("nn.relu"), R"(["x", 0, 0, {"name": null}])"), K::relu(image));
  same(made(lambda("compat.v1.transpose"), R"(["x", 0, 0, {"perm": [0, 3, 1, 2]}])"),
       K::permute_dimensions(image, {0, 3, 1, 2}));
  same(made(node("Sub", R"({"1": 0.5})"), R"([["x", 0, 0, {}]])"), image - 0.5f);
  same(made(node("Mean", R"({"1": [1, 2]})"), R"([["x", 0, 0, {}]])"), K::mean(image, {1, 2}, true));
  same(made(node("Relu6", "{}"), R"([["x", 0, 0, {}]])"), K::clip(image, 0, 6));
  same(made(keras3("Divide", R"({"name": "op"})"), R"({"args": [)" + x + R"(, 4.0], "kwargs": {}})"),
       image / 4.f);
  same(made(keras3("Max", R"({"name": "op", "axis": [-3, -2], "keepdims": false})"),
            R"({"args": [)" + x + R"(], "kwargs": {}})"),
       K::max(image, {1, 2}));
  same(made(keras3("Reshape", R"({"name": "op", "newshape": [null, 64, 3]})"),
            R"({"args": [)" + x + R"(], "kwargs": {}})"),
       K::reshape(image, {2, 64, 3}));

  const auto merged = [&](const std::string& json, const std::string& call) {
    const Value model = canonical(graph(json + R"(, "name": "op", "inbound_nodes": [)" + call + "]}", "op"));
    return layer_in(model, "op").at("class_name").string() + " of " +
           std::to_string(calls(model, "op").list()[0].config().at("args").list()[0].list().size());
  };
  CHECK(merged(lambda("math.add"), R"(["x", 0, 0, {"y": ["x", 0, 0]}])") == "Add of 2");
  CHECK(merged(lambda("concat"),
               R"([["x", 0, 0, {"axis": -1}], ["x", 0, 0, {"axis": -1}], ["x", 0, 0, {"axis": -1}]])") ==
        "Concatenate of 3");
  CHECK(merged(node("ConcatV2", R"({"2": 3})"), R"([["x", 0, 0, {}], ["x", 0, 0, {}]])") ==
        "Concatenate of 2");
  CHECK(merged(keras3("Multiply", R"({"name": "op"})"),
               R"({"args": [)" + x + ", " + x + R"(], "kwargs": {}})") == "Multiply of 2");
}

TEST_CASE("operations that no layer computes are errors that name them") {
  const auto read = [](const std::string& function, const std::string& arguments) {
    return [=] {
      canonical(graph(R"({"class_name": "TFOpLambda", "name": "op", "config": {"name": "op", "function": ")" +
                          function + R"("}, "inbound_nodes": [["x", 0, 0, )" + arguments + "]]}",
                      "op"));
    };
  };
  check_throws<ValueError>(read("math.cumsum", "{}"),
                           "[op] an operation must be one that a layer computes, too: received "
                           "function=\"math.cumsum\"; none does");
  check_throws<ValueError>(read("math.truediv", R"({"y": ["x", 0, 0]})"), "no layer divides tensors");
  check_throws<ValueError>(read("math.reduce_mean", R"({"axis": [1, 3]})"), "its axes are not in a row");
  check_throws<ValueError>(read("math.reduce_mean", "{}"), "it takes in the batch");
  check_throws<ValueError>(read("reshape", R"({"shape": [-1, 3]})"),
                           "it is not known to leave the batch as it is");
  check_throws<ValueError>(read("math.maximum", R"({"y": 1.0})"), "a constant is among its operands");
  check_throws<ValueError>(read("math.add", "{}"), "it has 1 operands");
}

TEST_CASE("what is written for Keras 2 has its form, and is read as what it was") {
  const Value model =
      canonical(from_json(R"({"module": "keras.src.models.functional", "class_name": "Functional",
     "registered_name": "Functional", "config": {"name": "m", "trainable": true, "layers": [
      {"module": "keras.layers", "class_name": "InputLayer", "config": {"batch_shape": [null, 5, 3],
       "dtype": "float32", "name": "x"}, "registered_name": null, "name": "x", "inbound_nodes": []},
      {"module": "keras.layers", "class_name": "LSTM", "config": {"name": "l", "units": 4, "activation": "tanh",
       "recurrent_activation": "sigmoid", "seed": null, "zero_output_for_mask": false, "return_state": true},
       "registered_name": null, "name": "l", "inbound_nodes": [{"args": [{"class_name": "__keras_tensor__",
       "config": {"shape": [null, 5, 3], "dtype": "float32", "keras_history": ["x", 0, 0]}}], "kwargs": {}}]},
      {"module": "keras.layers", "class_name": "LeakyReLU", "config": {"name": "r", "negative_slope": 0.3},
       "registered_name": null, "name": "r", "inbound_nodes": [{"args": [{"class_name": "__keras_tensor__",
       "config": {"shape": [null, 4], "dtype": "float32", "keras_history": ["l", 0, 2]}}],
       "kwargs": {"training": true}}]}],
      "input_layers": ["x", 0, 0], "output_layers": ["r", 0, 0]}})"));
  CHECK(keras2(model) ==
        from_json(R"({"class_name": "Functional", "config": {"name": "m", "trainable": true, "layers": [
      {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 5, 3], "dtype": "float32", "name": "x"},
       "name": "x", "inbound_nodes": []},
      {"class_name": "LSTM", "config": {"name": "l", "units": 4, "activation": "tanh",
       "recurrent_activation": "sigmoid", "return_state": true}, "name": "l", "inbound_nodes": [[["x", 0, 0, {}]]]},
      {"class_name": "LeakyReLU", "config": {"name": "r", "alpha": 0.3}, "name": "r",
       "inbound_nodes": [[["l", 0, 2, {"training": true}]]]}],
      "input_layers": [["x", 0, 0]], "output_layers": [["r", 0, 0]]}})"));
  CHECK(arguments(canonical(keras2(model)), "r") == arguments(model, "r"));

  const Value sequence = from_json(expected_sequence);
  CHECK(keras2(sequence).config().at("config").config().at("layers").list()[0] ==
        from_json(
            R"({"class_name": "InputLayer", "config": {"name": "hidden_input", "batch_input_shape": [null, 4],
                      "dtype": "float32"}})"));
  CHECK(canonical(keras2(sequence)) == sequence);
}

TEST_CASE("calls in Keras 2's form: states behind the input, and attention by name") {
  const auto written = [](const std::string& layer, const std::string& call) {
    const std::string t = R"({"class_name": "__keras_tensor__", "config": {"keras_history": ["x", 0, 0]}})";
    std::string json = call;
    for (std::size_t at; (at = json.find('#')) != std::string::npos;) json.replace(at, 1, t);
    return calls(keras2(graph(R"({"class_name": ")" + layer + R"(", "name": "y", "config": {"name": "y"},
                                  "inbound_nodes": [)" +
                                  json + "]}",
                              "y")),
                 "y");
  };
  CHECK(written("LSTM", R"({"args": [#], "kwargs": {"initial_state": [#, #]}})") ==
        from_json(R"([[["x", 0, 0, {}], ["x", 0, 0, {}], ["x", 0, 0, {}]]])"));
  CHECK(written("MultiHeadAttention", R"({"args": [#, #], "kwargs": {"training": false}})") ==
        from_json(R"([[["x", 0, 0, {"training": false, "value": ["x", 0, 0]}]]])"));
  check_throws<ValueError>(
      [&] { written("Scale", R"({"args": [#, #], "kwargs": {}})"); },
      "[y] a call must have one argument without a name, or a list of tensors, to be written as "
      "Keras 2 does: received 2");
}

TEST_CASE("layers that the library writes for Keras 2 come back as they were") {
  for (const nn::Layer& layer :
       {nn::Layer(nn::Conv2D(4, {3, 3}, {.activation = "silu", .name = "a"})),
        nn::Layer(nn::GRU(3, {.name = "b"})),
        nn::Layer(nn::Bidirectional(nn::LSTM(2, {.return_sequences = true}), {.name = "c"})),
        nn::Layer(nn::LeakyReLU({.negative_slope = 0.2, .name = "d"})),
        nn::Layer(nn::BatchNormalization({.name = "e"})), nn::Layer(nn::GaussianNoise(0.5, {.name = "f"})),
        nn::Layer(nn::ZeroPadding1D(2, {.name = "g"})), nn::Layer(nn::GlobalMaxPooling2D({.name = "h"})),
        nn::Layer(nn::TimeDistributed(nn::Dense(2, {.activation = "gelu"}), {.name = "i"}))}) {
    CAPTURE(layer.class_name());
    CHECK(nn::Layer::from_value(canonical(keras2(layer.to_value()))).get_config() == layer.get_config());
  }
  CHECK(keras2(nn::Dense(1, {.activation = "silu"}).to_value())
            .config()
            .at("config")
            .config()
            .at("activation") == Value("swish"));
}

TEST_CASE("compile configs of Keras 2") {
  using nn::saving::canonical_compile;
  const Value of_22 =
      canonical_compile(from_json(R"({"optimizer_config": {"class_name": "SGD", "config": {"lr": 0.1,
      "momentum": 0.9, "decay": 0.01, "nesterov": true}}, "loss": "cosine_proximity", "metrics": ["acc"],
      "weighted_metrics": null, "sample_weight_mode": null, "loss_weights": null})"));
  CHECK(of_22 ==
        from_json(R"({"optimizer": {"class_name": "SGD", "config": {"momentum": 0.9, "nesterov": true,
      "learning_rate": {"class_name": "InverseTimeDecay", "config": {"initial_learning_rate": 0.1, "decay_steps": 1,
      "decay_rate": 0.01}}}}, "loss": "cosine_similarity", "loss_weights": null, "metrics": ["acc"],
      "weighted_metrics": null})"));
  CHECK(nn::Optimizer(of_22.config().at("optimizer")).class_name() == "SGD");

  const Value of_215 =
      canonical_compile(from_json(R"({"loss": {"a": {"class_name": "BinaryCrossentropy", "config":
      {"reduction": "auto", "name": "binary_crossentropy", "from_logits": true, "label_smoothing": 0.0, "axis": -1,
      "fn": "binary_crossentropy"}}, "b": "mse"}, "metrics": [[{"class_name": "MeanMetricWrapper", "config": {"name":
      "accuracy", "dtype": "float32", "fn": "binary_accuracy"}}], []], "weighted_metrics": null, "loss_weights":
      {"a": 1.0, "b": 0.5}, "optimizer_config": {"class_name": "Custom>Adam", "config": {"name": "Adam",
      "weight_decay": null, "clipnorm": null, "use_ema": false, "ema_momentum": 0.99, "jit_compile": true,
      "is_legacy_optimizer": false, "learning_rate": 0.002, "beta_1": 0.9, "epsilon": null}}})"));
  const Config& loss = of_215.config().at("loss").config();
  CHECK(loss.at("a") == from_json(R"({"class_name": "BinaryCrossentropy", "config": {"reduction":
      "sum_over_batch_size", "name": "binary_crossentropy", "from_logits": true, "label_smoothing": 0.0, "axis": -1}})"));
  CHECK(nn::Loss(loss.at("a")).class_name() == "BinaryCrossentropy");
  const Value metric = of_215.config().at("metrics").list()[0].list()[0];
  CHECK(nn::Metric(metric).name() == "accuracy");
  CHECK(nn::Metric(metric).class_name() == "BinaryAccuracy");
  const nn::Optimizer adam(of_215.config().at("optimizer"));
  CHECK(static_cast<float>(adam.get_config().at("learning_rate").number()) == 0.002f);
  CHECK(adam.get_config().at("epsilon") == Value(1e-7));
  CHECK(canonical_compile({}).is_null());
}

TEST_CASE("compile configs of TensorFlow.js, and of mixed precision") {
  using nn::saving::canonical_compile;
  const auto optimizer = [](const std::string& json) {
    return canonical_compile(from_json(R"({"loss": "mse", "optimizer_config": )" + json + "}"))
        .config()
        .at("optimizer");
  };
  CHECK(optimizer(R"({"class_name": "RMSProp", "config": {"learning_rate": 0.1, "decay": 0.8, "momentum": 0,
                      "epsilon": 1e-8, "centered": false}})") ==
        from_json(R"({"class_name": "RMSprop", "config": {"learning_rate": 0.1, "rho": 0.8, "momentum": 0,
                      "epsilon": 1e-8, "centered": false}})"));
  CHECK(optimizer(R"({"class_name": "Momentum", "config": {"learning_rate": 0.1, "momentum": 0.5,
                      "use_nesterov": true}})") ==
        from_json(
            R"({"class_name": "SGD", "config": {"learning_rate": 0.1, "momentum": 0.5, "nesterov": true}})"));
  CHECK(
      optimizer(R"({"class_name": "Adam", "config": {"learning_rate": 0.1, "beta1": 0.8, "beta2": 0.9}})") ==
      from_json(R"({"class_name": "Adam", "config": {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.9}})"));
  CHECK(
      optimizer(R"({"class_name": "LossScaleOptimizer", "config": {"inner_optimizer": {"class_name": "Nadam",
                      "config": {"learning_rate": 0.1, "decay": 0.004}}, "initial_scale": 32768}})") ==
      from_json(R"({"class_name": "Nadam", "config": {"learning_rate": 0.1}})"));
}

TEST_CASE("compile configs of Keras 3, and back to Keras 2's") {
  using nn::saving::canonical_compile, nn::saving::keras2_compile;
  const Value compile =
      canonical_compile(from_json(R"({"optimizer": {"module": "keras.optimizers", "class_name": "Adam",
      "config": {"name": "adam", "learning_rate": {"module": "keras.optimizers.schedules", "class_name":
      "ExponentialDecay", "config": {"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.5},
      "registered_name": null}, "weight_decay": null, "clipnorm": 1.0, "loss_scale_factor": null, "use_ema": false,
      "ema_momentum": 0.99}, "registered_name": null}, "loss": {"module": "builtins", "class_name": "function",
      "config": "my_loss", "registered_name": "my_loss"}, "loss_weights": null, "metrics": ["accuracy"],
      "weighted_metrics": null, "run_eagerly": false, "steps_per_execution": 1, "jit_compile": true})"));
  CHECK(compile.config().names() ==
        std::vector<std::string>{"optimizer", "loss", "loss_weights", "metrics", "weighted_metrics"});
  CHECK(compile.config().at("loss") == from_json(R"({"class_name": "function", "config": "my_loss"})"));
  CHECK(keras2_compile(compile).config().at("optimizer_config") ==
        from_json(R"({"class_name": "Adam", "config": {
      "name": "adam", "learning_rate": {"class_name": "ExponentialDecay", "config": {"initial_learning_rate": 0.1,
      "decay_steps": 10, "decay_rate": 0.5}}, "clipnorm": 1.0}})"));
  CHECK(!keras2_compile(compile).config().contains("optimizer"));
  CHECK(canonical_compile(keras2_compile(compile)).config().at("metrics") == compile.config().at("metrics"));
  CHECK(keras2_compile({}).is_null());
}

TEST_CASE("weights of CuDNNLSTM and CuDNNGRU in Keras's layout") {
  for (const std::int64_t gates : {4, 3}) {
    CAPTURE(gates);
    const std::int64_t in = 2, units = 3, width = gates * units;
    const Tensor kernel = K::random_normal({in, width}), recurrent = K::random_normal({units, width});
    const Tensor bias = K::random_normal({2 * width});
    const std::vector<Tensor> made = nn::saving::without_cudnn({kernel, recurrent, bias});
    for (std::int64_t gate = 0; gate < gates; ++gate)
      for (std::int64_t j = 0; j < units; ++j) {
        const auto number = [](const Tensor& t, std::int64_t row, std::int64_t column) {
          return t.pointer<float>()[row * t.shape()[1] + column];
        };
        const std::int64_t first = gate * units;
        for (std::int64_t i = 0; i < units; ++i)
          CHECK(number(made[1], i, first + j) == number(recurrent, j, first + i));
        for (std::int64_t i = 0; i < in; ++i) {
          const std::int64_t place = i + j * in;  // in the rows of the gate's kernel
          CHECK(number(made[0], i, first + j) == number(kernel, place / units, first + place % units));
        }
      }
    if (gates == 3) CHECK(made[2].shape() == ktape::Shape{2, width});
    else
      for (std::int64_t i = 0; i < width; ++i)
        CHECK(made[2].pointer<float>()[i] == bias.pointer<float>()[i] + bias.pointer<float>()[width + i]);
    CHECK(nn::saving::without_cudnn({kernel, recurrent, made[2]})[0].get() == kernel.get());
    CHECK(nn::saving::without_cudnn({kernel, recurrent, bias, kernel, recurrent, bias}).size() == 6);
  }
}
