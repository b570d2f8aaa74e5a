#include "../saving/keras_configs.hpp"

namespace nn = ktape::nn;
using namespace keras_configs;
using nn::saving::keras2;

TEST_CASE("a Sequential has one canonical form in the dialects of all versions") {
  const Value expected = expected_sequence();

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
    CHECK(canonical(json_file("nn/serialization/sequence_tf_keras_2_15.json")) == expected);
  }

  SUBCASE("Keras 3") { CHECK(canonical(json_file("nn/serialization/sequence_keras_3.json")) == expected); }

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

  const Value nested =
      canonical(Config{{"class_name", "Sequential"},
                       {"config", Config{{"name", "outer"}, {"layers", Value::List{expected_sequence()}}}}});
  CHECK(arguments(nested, "net_input").at("batch_shape") == from_json("[null, 4]"));

  const Value deferred =
      canonical(from_json(R"({"class_name": "Sequential", "config": {"name": "late", "layers": [
      {"class_name": "Dense", "config": {"name": "d", "units": 1}}], "build_input_shape": [null, 7]}})"));
  CHECK(arguments(deferred, "d_input").at("batch_shape") == from_json("[null, 7]"));
}

TEST_CASE("a functional model of Keras 2: a block of MobileNetV2") {
  const Value model = canonical(json_file("nn/serialization/mobilenet_block.json"));
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
