#include "../saving/keras_configs.hpp"

namespace nn = ktape::nn;
using namespace keras_configs;
using nn::saving::keras2;

TEST_CASE("a Sequential has one canonical form in the dialects of all versions") {
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

TEST_CASE("arguments of calls: tensors by name, constants, and None") {
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
