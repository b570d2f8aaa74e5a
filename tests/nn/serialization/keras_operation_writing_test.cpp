#include <ktape/nn/serialization/keras_objects.hpp>

#include "../saving/keras_configs.hpp"

namespace nn = ktape::nn;
using nn::Config, nn::from_json, nn::Value;
using nn::saving::keras2_operation, nn::saving::tensor_at, nn::saving::with_keras3_operations;

namespace {

/// An operation with a call, in the canonical form.
Config operation(const char* function, const char* attributes, const Config& arguments) {
  Config config{{"name", "op"}, {"function", function}};
  config.update(from_json(attributes).config());
  return {{"class_name", "Operation"},
          {"config", config},
          {"name", "op"},
          {"inbound_nodes", Value::List{Config{{"args", Value::List()}, {"kwargs", arguments}}}}};
}

const Value a = tensor_at("a", 0, 0), b = tensor_at("b", 0, 0);

Config node_of(const Config& written) { return written.at("inbound_nodes").list()[0].config(); }
Value::List arguments_of(const Config& written) { return node_of(written).at("args").list(); }
std::string class_of(const Config& written) { return written.at("class_name").string(); }

}  // namespace

TEST_CASE("an operation is a class of Keras 3, with its operands as arguments of the call") {
  const Config written = with_keras3_operations(operation("NotEqual", "{}", {{"x1", a}, {"x2", 5}}));
  CHECK(written.at("module") == Value("keras.src.ops.numpy"));
  CHECK(written.at("class_name") == Value("NotEqual"));
  CHECK(written.at("registered_name") == Value("NotEqual"));
  CHECK(written.at("config") == from_json(R"({"name": "op"})"));
  CHECK(written.at("name") == Value("op"));
  CHECK(arguments_of(written) == Value::List{a, 5});
  CHECK(arguments_of(with_keras3_operations(operation("Less", "{}", {{"x1", 0.5}, {"x2", a}}))) ==
        Value::List{0.5, a});
  CHECK(arguments_of(with_keras3_operations(operation("Concatenate", "{}", {{"xs", Value::List{a, b}}}))) ==
        Value::List{Value(Value::List{a, b})});
  CHECK(arguments_of(with_keras3_operations(
            operation("Einsum", R"({"subscripts": "ij,jk->ik"})", {{"operands", Value::List{a, b}}}))) ==
        Value::List{a, b});
}

TEST_CASE("arguments of the constructor are written where they differ from the defaults") {
  const auto config = [](const char* function, const char* attributes) {
    const Config written = with_keras3_operations(operation(function, attributes, {{"x", a}}));
    return to_json(written.at("config"));
  };
  CHECK(config("Cast", R"({"dtype": "int32"})") == R"({"dtype":"int32"})");
  CHECK(config("Any", R"({"axis": [1, 2], "keepdims": true})") == R"({"axis":[1,2],"keepdims":true})");
  CHECK(config("Any", R"({"axis": null, "keepdims": false})") == "{}");
  CHECK(config("Clip", R"({"x_min": 0.0, "x_max": 1.0})") == R"({"x_min":0.0,"x_max":1.0})");
  CHECK(with_keras3_operations(operation("Cast", R"({"dtype": "int32"})", {{"x", a}})).at("module") ==
        Value("keras.src.ops.core"));
}

TEST_CASE("a Clip with one bound is a Maximum or a Minimum, because Keras's Clip has two") {
  const auto clip = [](const char* attributes) {
    return with_keras3_operations(operation("Clip", attributes, {{"x", a}}));
  };
  CHECK(clip(R"({"x_min": null, "x_max": 1.0})").at("class_name") == Value("Minimum"));
  CHECK(arguments_of(clip(R"({"x_min": null, "x_max": 1.0})")) == Value::List{a, 1.0});
  CHECK(clip(R"({"x_min": 0.5, "x_max": null})").at("class_name") == Value("Maximum"));
  CHECK(arguments_of(clip(R"({"x_min": 0.5, "x_max": null})")) == Value::List{a, 0.5});
}

TEST_CASE("a Slice that ends with the tensor is a GetItem, and an open extent of a Reshape is -1") {
  const Config slice = with_keras3_operations(
      operation("Slice", R"({"shape": [null, 2]})", {{"inputs", a}, {"start_indices", from_json("[0, 1]")}}));
  CHECK(slice.at("class_name") == Value("GetItem"));
  CHECK(arguments_of(slice)[1] == from_json(R"([
      {"class_name": "__slice__", "config": {"start": 0, "stop": null, "step": null}},
      {"class_name": "__slice__", "config": {"start": 1, "stop": 3, "step": null}}])"));
  const Config reshape =
      with_keras3_operations(operation("Reshape", R"({"newshape": [null, 6]})", {{"x", a}}));
  CHECK(reshape.at("config").config().at("newshape") == from_json("[-1, 6]"));
}

TEST_CASE("the key of a GetItem is a list of slices, indices, null and an ellipsis") {
  const Config written = with_keras3_operations(operation(
      "GetItem", "{}",
      {{"x", a}, {"key", from_json(R"([{"start": null, "stop": 2, "step": null}, 3, null, "..."])")}}));
  REQUIRE(arguments_of(written).size() == 2);
  CHECK(arguments_of(written)[1] == from_json(R"([
      {"class_name": "__slice__", "config": {"start": null, "stop": 2, "step": null}}, 3, null,
      {"class_name": "__ellipsis__", "config": {}}])"));
}

TEST_CASE("an operation that Keras lacks keeps its form, and so does one whose shape is a tensor") {
  for (const Config& given : {operation("batch_dot", R"({"axes": null})", {{"x", a}, {"y", b}}),
                              operation("Reshape", "{}", {{"x", a}, {"newshape", b}})})
    CHECK(with_keras3_operations(given) == given);
}

TEST_CASE("operations in nested models are found; other layers do not change") {
  const Config dense = nn::Dense(1).to_value().config();
  CHECK(with_keras3_operations(dense) == dense);
  const Config no_config = from_json(R"({"class_name": "Sequential", "config": null})").config();
  CHECK(with_keras3_operations(no_config) == no_config);
  const Config op = operation("Equal", "{}", {{"x1", a}, {"x2", 0}});
  const Config inner{{"class_name", "Functional"}, {"config", Config{{"layers", Value::List{dense, op, 3}}}}};
  const Config wrapper{{"class_name", "TimeDistributed"}, {"config", Config{{"layer", inner}}}};
  const Config outer{{"class_name", "Functional"},
                     {"config", Config{{"name", "m"}, {"layers", Value::List{wrapper}}}}};
  const Config written = with_keras3_operations(outer).at("config").config();
  CHECK(written.at("name") == Value("m"));
  const Config layer = written.at("layers").list()[0].config().at("config").config().at("layer").config();
  const Value::List layers = layer.at("config").config().at("layers").list();
  CHECK(layers[0] == Value(dense));
  CHECK(layers[1] == Value(with_keras3_operations(op)));
  CHECK(layers[2] == Value(3));
}

TEST_CASE("an operation is a function of TensorFlow in the form of Keras 2") {
  const Config sum = keras2_operation(operation("Sum", R"({"axis": [1], "keepdims": true})", {{"x", a}}));
  CHECK(class_of(sum) == "TFOpLambda");
  CHECK(sum.at("config") == from_json(R"({"name": "op", "trainable": true, "dtype": "float32",
      "function": "math.reduce_sum"})"));
  CHECK(arguments_of(sum) == Value::List{a});
  CHECK(node_of(sum).at("kwargs") == from_json(R"({"axis": [1], "keepdims": true})"));
  const Config item = keras2_operation(operation("GetItem", "{}", {{"x", a}, {"key", from_json("[0]")}}));
  CHECK(class_of(item) == "SlicingOpLambda");
  CHECK(node_of(item).at("kwargs") == from_json(R"({"slice_spec": [0]})"));
  const Config parts =
      keras2_operation(operation("Split", R"({"indices_or_sections": [1, 3], "axis": -1})", {{"x", a}}));
  CHECK(node_of(parts).at("kwargs") == from_json(R"({"num_or_size_splits": [1, 2, -1], "axis": -1})"));
  CHECK(class_of(keras2_operation(operation("Argmax", R"({"axis": 1, "keepdims": true})", {{"x", a}}))) ==
        "Operation");
  CHECK(class_of(keras2_operation(operation("Celu", R"({"alpha": 0.5})", {{"x", a}}))) == "Operation");
}

TEST_CASE("a written operation is read back") {
  const Value x = tensor_at("x", 0, 0);
  const std::vector<Config> operations{
      operation("NotEqual", "{}", {{"x1", x}, {"x2", 5}}),
      operation("Less", "{}", {{"x1", 0.5}, {"x2", x}}),
      operation("Cast", R"({"dtype": "int32"})", {{"x", x}}),
      operation("All", R"({"axis": -1, "keepdims": true})", {{"x", x}}),
      operation("ExpandDims", R"({"axis": 1})", {{"x", x}}),
      operation("batch_dot", "{}", {{"x", x}, {"y", x}}),
      operation(
          "GetItem", "{}",
          {{"x", x}, {"key", from_json(R"(["...", {"start": 1, "stop": null, "step": 2}, null, 0])")}})};
  for (const Config& given : operations) {
    CAPTURE(to_json(given));
    const Config model{
        {"class_name", "Functional"},
        {"config", Config{{"name", "m"},
                          {"layers", Value::List{from_json(R"({"class_name": "InputLayer", "name": "x",
                              "inbound_nodes": [], "config": {"name": "x", "batch_shape": [null, 3]}})"),
                                                 given}},
                          {"input_layers", from_json(R"([["x", 0, 0]])")},
                          {"output_layers", from_json(R"([["op", 0, 0]])")}}}};
    const Value read = nn::saving::canonical(with_keras3_operations(model));
    CHECK(keras_configs::layer_in(read, "op") == given);
  }
}
