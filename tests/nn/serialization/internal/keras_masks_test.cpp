#include "../../../hdf5.hpp"

#include <ktape/nn/serialization/internal/keras_masks.hpp>
#include <ktape/nn/serialization/keras_objects.hpp>
#include <ktape/nn/serialization/model_config.hpp>

#include "../../../close.hpp"
#include "../../data/files.hpp"
#include "../../saving/keras_configs.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using namespace keras_configs;
using ktape::Tensor, ktape::ValueError;
using nn::saving::tensor_at, nn::saving::without_automatic_masks;
using Names = std::vector<std::string>;

namespace {

/// Returns the node of a call of a layer on operands, with a mask if one is given.
Value call(const Value::List& operands, const Value& mask = {}) {
  Config kwargs;
  if (!mask.is_null()) kwargs.set("mask", mask);
  return Config{{"args", operands}, {"kwargs", kwargs}};
}
Value tensor(const char* layer) { return tensor_at(layer, 0, 0); }

Value layer(const char* name, const char* class_name, const Value& node, Config config = {}) {
  config.set("name", name);
  return Config{{"class_name", class_name},
                {"name", name},
                {"config", config},
                {"inbound_nodes", node.is_null() ? Value(Value::List()) : Value(Value::List{node})}};
}

Config graph_of(const Value::List& layers, const char* last) {
  return {{"name", "m"}, {"layers", layers}, {"output_layers", Value(Value::List{last, 0, 0})}};
}

/// Returns a graph of an Embedding, a layer on the Embedding, and an LSTM on this layer with the mask `ids !=
/// value`.
Config embedded(const Value& between, bool mask_zero = true, const Value& value = 0) {
  return graph_of({layer("ids", "InputLayer", {}),
                   layer("words", "Embedding", call({tensor("ids")}), {{"mask_zero", mask_zero}}), between,
                   layer("mask", "NotEqual", call({tensor("ids"), value})),
                   layer("lstm", "LSTM", call({tensor("between")}, tensor("mask")))},
                  "lstm");
}

Names names_in(const Config& model) {
  Names names;
  for (const Value& each : model.at("layers").list()) names.push_back(each.config().at("name").string());
  return names;
}
bool has_mask(const Config& model, const char* name) {
  for (const Value& each : model.at("layers").list())
    if (each.config().at("name") == Value(name))
      return each.config().at("inbound_nodes").list()[0].config().at("kwargs").config().contains("mask");
  throw std::runtime_error("no such layer");
}
bool stays(const Config& model) {
  const Config read = without_automatic_masks(model);
  CHECK((has_mask(read, "lstm") ? read == model : !(read == model)));
  return has_mask(read, "lstm");
}

}  // namespace

TEST_CASE("the mask of an Embedding, which layers pass on, is left out, and so is its operation") {
  for (const char* between : {"Dense", "Dropout", "LayerNormalization", "GRU", "TimeDistributed"}) {
    CAPTURE(between);
    const Config read = without_automatic_masks(embedded(layer("between", between, call({tensor("words")}))));
    CHECK(names_in(read) == Names{"ids", "words", "between", "lstm"});
    CHECK_FALSE(has_mask(read, "lstm"));
  }
}

TEST_CASE(
    "a mask of another kind stays: of another value, of a layer without, past a layer that drops masks") {
  const Value dense = layer("between", "Dense", call({tensor("words")}));
  CHECK_FALSE(stays(embedded(dense)));
  CHECK(stays(embedded(dense, true, 5)));
  CHECK(stays(embedded(dense, false)));
  CHECK(stays(embedded(layer("between", "Conv1D", call({tensor("words")})))));
  CHECK(stays(embedded(layer("between", "Dense", call({tensor("elsewhere")})))));
}

TEST_CASE("the value may be in one of Keras's wrappers") {
  const Value wrapped =
      Config{{"class_name", "__numpy__"}, {"config", Config{{"value", 0}, {"dtype", "int32"}}}};
  const Value dense = layer("between", "Dense", call({tensor("words")}));
  CHECK_FALSE(stays(embedded(dense, true, wrapped)));
  CHECK(stays(embedded(dense, true, "0")));
  CHECK(stays(embedded(dense, true, Value())));
}

TEST_CASE("the mask of a Masking is any(x != value) along the last axis") {
  const auto masking = [](const Value& axis, const Config& config, const Value& value) {
    return graph_of({layer("x", "InputLayer", {}), layer("hidden", "Masking", call({tensor("x")}), config),
                     layer("differs", "NotEqual", call({tensor("x"), value})),
                     layer("mask", "Any", call({tensor("differs")}), {{"axis", axis}}),
                     layer("lstm", "LSTM", call({tensor("hidden")}, tensor("mask")))},
                    "lstm");
  };
  CHECK_FALSE(stays(masking(-1, {{"mask_value", -1.}}, -1.)));
  CHECK_FALSE(stays(masking(Value::List{-1}, {{"mask_value", 2}}, 2)));
  CHECK_FALSE(stays(masking(-1, {}, 0.)));
  CHECK(stays(masking(1, {}, 0.)));
  CHECK(stays(masking(Value(), {}, 0.)));
  CHECK(stays(masking(-1, {{"mask_value", -1.}}, 0.)));
  CHECK(names_in(without_automatic_masks(masking(-1, {}, 0.))) == Names{"x", "hidden", "lstm"});
}

TEST_CASE("an operation that another layer or an output uses stays as a layer") {
  const Value dense = layer("between", "Dense", call({tensor("words")}));
  Config model = embedded(dense);
  model.set("output_layers", from_json(R"([["lstm", 0, 0], ["mask", 0, 0]])"));
  const Config read = without_automatic_masks(model);
  CHECK_FALSE(has_mask(read, "lstm"));
  CHECK(names_in(read) == names_in(model));
  model.set("output_layers", from_json(R"({"a": ["mask", 0, 0], "b": ["lstm", 0, 0]})"));
  CHECK(names_in(without_automatic_masks(model)) == names_in(model));
}

TEST_CASE("nulls and missing parts leave a node unchanged") {
  const auto with_node = [](const char* node) {
    return graph_of({layer("x", "InputLayer", {}), layer("lstm", "LSTM", from_json(node))}, "lstm");
  };
  for (const char* node :
       {R"({"args": [], "kwargs": {"mask": null}})", R"({"args": [null]})", R"([["x", 0, 0, {}]])"}) {
    CAPTURE(node);
    CHECK(without_automatic_masks(with_node(node)) == with_node(node));
  }
  const Config no_nodes = graph_of({Config{{"class_name", "LSTM"}, {"name", "lstm"}}}, "lstm");
  CHECK(without_automatic_masks(no_nodes) == no_nodes);
}

TEST_CASE("hostile graphs, with operations and layers that are called on themselves, do not loop") {
  const Config own_any = graph_of({layer("mask", "Any", call({tensor("mask")}), {{"axis", -1}}),
                                   layer("loop", "Dense", call({tensor("loop")})),
                                   layer("lstm", "LSTM", call({tensor("loop")}, tensor("mask")))},
                                  "lstm");
  CHECK(has_mask(without_automatic_masks(own_any), "lstm"));
  const Config own_dense = embedded(layer("between", "Dense", call({tensor("between")})));
  CHECK(has_mask(without_automatic_masks(own_dense), "lstm"));
}

namespace {

/// Returns a model of Keras 3 in which the program computed the mask of a recurrent layer: ids != 0 and ids
/// != 5.
nn::Model masked_model() {
  const auto tensor = [](const std::string& layer, const std::string& shape, const std::string& dtype) {
    return R"({"class_name": "__keras_tensor__", "config": {"shape": )" + shape + R"(, "dtype": ")" + dtype +
           R"(", "keras_history": [")" + layer + R"(", 0, 0]}})";
  };
  const auto operation = [](const std::string& name, const std::string& layer, const std::string& arguments) {
    return R"({"module": "keras.src.ops.numpy", "class_name": ")" + name + R"(", "config": {"name": ")" +
           layer + R"("}, "registered_name": ")" + name + R"(", "name": ")" + layer +
           R"(", "inbound_nodes": [{"args": [)" + arguments + R"(], "kwargs": {}}]}, )";
  };
  const std::string ids = tensor("ids", "[null, 6]", "int32");
  return nn::model_from_config(from_json(
      R"({"module": "keras", "class_name": "Functional", "config": {"name": "m", "trainable": true, "layers": [
      {"module": "keras.layers", "class_name": "InputLayer", "config": {"batch_shape": [null, 6], "dtype": "int32",
       "sparse": false, "name": "ids"}, "registered_name": null, "name": "ids", "inbound_nodes": []},
      {"module": "keras.layers", "class_name": "Embedding", "config": {"name": "words", "trainable": true,
       "input_dim": 6, "output_dim": 3, "mask_zero": false}, "registered_name": null, "name": "words",
       "inbound_nodes": [{"args": [)" +
      ids + R"(], "kwargs": {}}]}, )" + operation("NotEqual", "no_zero", ids + ", 0") +
      operation("NotEqual", "no_five", ids + ", 5") +
      operation("LogicalAnd", "mask",
                tensor("no_zero", "[null, 6]", "bool") + ", " + tensor("no_five", "[null, 6]", "bool")) +
      R"({"module": "keras.layers", "class_name": "LSTM", "config": {"name": "lstm", "units": 4,
       "return_sequences": true}, "registered_name": null, "name": "lstm", "inbound_nodes": [{"args": [)" +
      tensor("words", "[null, 6, 3]", "float32") + R"(], "kwargs": {"mask": )" +
      tensor("mask", "[null, 6]", "bool") + "}}]}, " +
      operation("GetItem", "last",
                tensor("lstm", "[null, 6, 4]", "float32") + R"(, {"class_name": "__tuple__", "items": [
                {"class_name": "__slice__", "config": {"start": null, "stop": null, "step": null}}, -1]})") +
      R"({"module": "keras.layers", "class_name": "Dense", "config": {"name": "score", "units": 2},
       "registered_name": null, "name": "score", "inbound_nodes": [{"args": [)" +
      tensor("last", "[null, 4]", "float32") + R"(], "kwargs": {}}]}],
      "input_layers": [["ids", 0, 0]], "output_layers": [["score", 0, 0]]}, "registered_name": "Functional"})"));
}

}  // namespace

TEST_CASE("masks that a program computed are read, used, trained with and written" * needs_hdf5) {
  const nn::Model model = masked_model();
  const Tensor ids = K::constant({{1, 2, 5, 3, 0, 0}, {4, 0, 5, 1, 2, 5}}, {.dtype = "int32"});
  const Tensor expected = [&] {
    const auto layer = [&](const char* name) { return model.get_layer(name); };
    const Tensor mask = K::not_equal(ids, 0) & K::not_equal(ids, 5);
    return layer("score")(layer("lstm")(layer("words")(ids), {.mask = mask})[{ktape::All, -1}]);
  }();
  CHECK(close(model.predict(ids, {.verbose = 0}), expected, {.atol = 1e-6}));
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.train_on_batch(ids, K::ones({2, 2}));

  const Files files;
  for (const char* name : {"/m.keras", "/m.ktape", "/m.h5"}) {
    CAPTURE(name);
    model.save(files.folder() + name);
    const nn::Model again = nn::load_model(files.folder() + name);
    CHECK(values(again.predict(ids, {.verbose = 0})) == values(model.predict(ids, {.verbose = 0})));
  }
  const Value written = nn::saving::with_keras3_operations(nn::model_config(model).config());
  CHECK(to_json(layer_in(written, "no_five").at("class_name")) == "\"NotEqual\"");
  CHECK(to_json(calls(written, "no_five").list()[0].config().at("args").list()[1]) == "5");
  CHECK(to_json(calls(written, "last").list()[0].config().at("args").list()[1]) ==
        R"([{"class_name":"__slice__","config":{"start":null,"stop":null,"step":null}},-1])");
}
