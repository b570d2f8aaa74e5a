#include <ktape/nn/serialization/keras_objects.hpp>

#include "../saving/keras_configs.hpp"

namespace nn = ktape::nn;
using nn::Config, nn::from_json, nn::Value;
using nn::saving::tensor_at, nn::saving::with_keras3_operations;

namespace {

/// A layer Operation with a call on tensors, as models hold it.
Config operation(const char* function, const char* operands, const char* options, const Value::List& inputs) {
  const Value given = inputs.size() == 1 ? inputs[0] : Value(inputs);
  return {{"module", "keras.layers"},
          {"class_name", "Operation"},
          {"config", Config{{"name", "op"},
                            {"function", function},
                            {"operands", from_json(operands)},
                            {"options", from_json(options)}}},
          {"registered_name", Value()},
          {"name", "op"},
          {"inbound_nodes", Value::List{Config{{"args", Value::List{given}}, {"kwargs", Config()}}}}};
}

const Value a = tensor_at("a", 0, 0), b = tensor_at("b", 0, 0);

Value::List arguments_of(const Config& written) {
  return written.at("inbound_nodes").list()[0].config().at("args").list();
}

}  // namespace

TEST_CASE("an operation has the class of its function, and its operands as arguments of the call") {
  const Config written = with_keras3_operations(operation("not_equal", "[null, 5]", "{}", {a}));
  CHECK(written.at("module") == Value("keras.src.ops.numpy"));
  CHECK(written.at("class_name") == Value("NotEqual"));
  CHECK(written.at("registered_name") == Value("NotEqual"));
  CHECK(written.at("config") == from_json(R"({"name": "op"})"));
  CHECK(written.at("name") == Value("op"));
  CHECK(arguments_of(written) == Value::List{a, 5});
  CHECK(with_keras3_operations(operation("cast", "[null]", R"({"dtype": "int32"})", {a})).at("module") ==
        Value("keras.src.ops.core"));
}

TEST_CASE("null operands are the inputs of the call in order, whether one, two or on the right") {
  CHECK(arguments_of(with_keras3_operations(operation("less", "[0.5, null]", "{}", {a}))) ==
        Value::List{0.5, a});
  CHECK(arguments_of(with_keras3_operations(operation("logical_and", "[null, null]", "{}", {b, a}))) ==
        Value::List{b, a});
}

TEST_CASE("options depend on the function: keepdims is for reductions only") {
  const char* options = R"({"axis": [1, 2], "keepdims": false})";
  CHECK(with_keras3_operations(operation("any", "[null]", options, {a})).at("config") ==
        from_json(R"({"name": "op", "axis": [1, 2], "keepdims": false})"));
  CHECK(with_keras3_operations(operation("squeeze", "[null]", options, {a})).at("config") ==
        from_json(R"({"name": "op", "axis": [1, 2]})"));
}

TEST_CASE("the key of get_item is a tuple of slices, indices, null and an ellipsis") {
  const Config written = with_keras3_operations(operation(
      "get_item", "[null]", R"({"key": [{"start": null, "stop": 2, "step": null}, 3, null, "..."]})", {a}));
  CHECK(written.at("class_name") == Value("GetItem"));
  CHECK(written.at("config") == from_json(R"({"name": "op"})"));
  REQUIRE(arguments_of(written).size() == 2);
  CHECK(arguments_of(written)[1] == from_json(R"({"class_name": "__tuple__", "items": [
      {"class_name": "__slice__", "config": {"start": null, "stop": 2, "step": null}}, 3, null,
      {"class_name": "__ellipsis__", "config": {}}]})"));
}

TEST_CASE("operations in nested models are found; other layers do not change") {
  const Config dense = nn::Dense(1).to_value().config();
  CHECK(with_keras3_operations(dense) == dense);
  const Config no_config = from_json(R"({"class_name": "Sequential", "config": null})").config();
  CHECK(with_keras3_operations(no_config) == no_config);
  const Config op = operation("equal", "[null, 0]", "{}", {a});
  const Config inner{{"class_name", "Functional"}, {"config", Config{{"layers", Value::List{dense, op, 3}}}}};
  const Config outer{{"class_name", "Functional"},
                     {"config", Config{{"name", "m"}, {"layers", Value::List{inner}}}}};
  const Config written = with_keras3_operations(outer).at("config").config();
  CHECK(written.at("name") == Value("m"));
  const Value::List layers =
      written.at("layers").list()[0].config().at("config").config().at("layers").list();
  CHECK(layers[0] == Value(dense));
  CHECK(layers[1] == Value(with_keras3_operations(op)));
  CHECK(layers[2] == Value(3));
}

TEST_CASE("a written operation is read back") {
  for (const auto& [function, operands, options] :
       {std::tuple{"not_equal", "[null, 5]", "{}"},
        {"less", "[0.5, null]", "{}"},
        {"cast", "[null]", R"({"dtype": "int32"})"},
        {"all", "[null]", R"({"axis": -1, "keepdims": true})"},
        {"expand_dims", "[null]", R"({"axis": 1})"},
        {"get_item", "[null]", R"({"key": ["...", {"start": 1, "stop": null, "step": 2}, null, 0]})"}}) {
    CAPTURE(function);
    const Config given = operation(function, operands, options, {tensor_at("x", 0, 0)});
    const Config model{
        {"class_name", "Functional"},
        {"config", Config{{"name", "m"},
                          {"layers", Value::List{from_json(R"({"class_name": "InputLayer", "name": "x",
                              "inbound_nodes": [], "config": {"name": "x", "batch_shape": [null, 3]}})"),
                                                 given}},
                          {"input_layers", from_json(R"([["x", 0, 0]])")},
                          {"output_layers", from_json(R"([["op", 0, 0]])")}}}};
    const Value read = nn::saving::canonical(with_keras3_operations(model));
    const Config again = keras_configs::layer_in(read, "op");
    CHECK(again.at("class_name") == Value("Operation"));
    for (const char* argument : {"function", "operands"})
      CHECK(again.at("config").config().at(argument) == given.at("config").config().at(argument));
    const Config read_options = again.at("config").config().at("options").config();
    const Config given_options = from_json(options).config();
    for (const auto& [name, given_value] : given_options) {
      const Value& value = given_value;
      CHECK(read_options.get(name) == value);
    }
  }
}
