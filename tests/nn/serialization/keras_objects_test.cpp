#include <ktape/nn/serialization/keras_objects.hpp>

#include "../saving/keras_configs.hpp"

namespace nn = ktape::nn;
using doctest::Contains;
using ktape::TypeError, ktape::ValueError;
using nn::Config, nn::from_json, nn::Value;
using namespace nn::saving;

namespace {

Config config(const char* json) { return from_json(json).config(); }

Config canonical_config(const char* layer, Dialect dialect = Dialect::Keras3) {
  return nn::saving::canonical_layer(config(layer), dialect).at("config").config();
}

}  // namespace

TEST_CASE("wrappers around tuples, shapes and arrays are removed at any depth") {
  CHECK(unwrapped(from_json(R"({"class_name": "__tuple__", "items": [1, {"class_name": "__tuple__",
      "items": [2, null]}]})")) == from_json("[1, [2, null]]"));
  CHECK(unwrapped(from_json(R"({"class_name": "TensorShape", "items": [null, 3]})")) ==
        from_json("[null, 3]"));
  CHECK(unwrapped(from_json(R"({"a": [{"type": "ndarray", "value": [1, 2]}]})")) ==
        from_json(R"({"a": [[1, 2]]})"));
  CHECK(unwrapped(from_json(
            R"({"class_name": "__numpy__", "config": {"value": 0.5, "dtype": "float32"}})")) == Value(0.5));
  CHECK(unwrapped(from_json(R"({"class_name": "__tensor__", "config": {"value": [1]}})")) ==
        from_json("[1]"));
  const Value dense = from_json(R"({"class_name": "Dense", "config": null})");
  CHECK(unwrapped(dense) == dense);
  CHECK(unwrapped(from_json(R"({"class_name": "__numpy__", "config": null})")) ==
        from_json(R"({"class_name": "__numpy__", "config": null})"));
  CHECK(unwrapped(Value()).is_null());
}

TEST_CASE("the name of an argument gives the kind of its object") {
  CHECK(kind_of_argument("kernel_initializer") == "initializer");
  CHECK(kind_of_argument("initializer") == "initializer");
  CHECK(kind_of_argument("activity_regularizer") == "regularizer");
  CHECK(kind_of_argument("bias_constraint") == "constraint");
  CHECK(kind_of_argument("recurrent_activation") == "activation");
  CHECK(kind_of_argument("cells") == "layer");
  CHECK(kind_of_argument("backward_layer") == "layer");
  CHECK(kind_of_argument("reactivation") == "");
  CHECK(kind_of_argument("layers") == "");
}

TEST_CASE("a class is known by its registered name, its name, or its name without the package") {
  CHECK(known_class("layer", config(R"({"class_name": "Dense"})")) == "Dense");
  CHECK(known_class("layer", config(R"({"class_name": "Custom", "registered_name": "Dense"})")) == "Dense");
  CHECK(known_class("layer", config(R"({"class_name": "Dense", "registered_name": "unknown"})")) == "Dense");
  CHECK(known_class("layer", config(R"({"class_name": "my_package>Dense"})")) == "Dense");
  CHECK(known_class("layer", config(R"({"class_name": "my_package>Mine", "registered_name": null})")) ==
        "Mine");
}

TEST_CASE("dtypes and policies of one dtype") {
  CHECK(dtype_of("d", Value()).is_null());
  CHECK(dtype_of("d", "float64") == Value("float64"));
  CHECK(dtype_of("d", "string") == Value("string"));
  for (const char* text : {"_infer", "infer"}) CHECK(dtype_of("d", text).is_null());
  CHECK(dtype_of("d", "mixed_bfloat16") ==
        from_json(R"({"module": "keras", "class_name": "DTypePolicy", "config": {"name": "mixed_bfloat16"},
                      "registered_name": null})"));
  CHECK(dtype_of("d", from_json(R"({"class_name": "DTypePolicy", "config": {"name": "float16"}})")) ==
        Value("float16"));
  CHECK_THROWS_WITH_AS(dtype_of("d", 32), "[d] dtype must be a dtype or the policy of one: received dtype=32",
                       ValueError);
  CHECK_THROWS_WITH_AS(dtype_of("d", from_json(R"({"class_name": "DTypePolicyMap", "config": null})")),
                       Contains("[d] dtype must be a dtype or the policy of one"), ValueError);
  CHECK(dtype_of("d", "bfloat16") == Value("bfloat16"));
  CHECK_THROWS_WITH_AS(dtype_of("d", "complex64"), Contains("[d] dtype must be one of the library: "),
                       ValueError);
}

TEST_CASE("initializers lose versions, dtypes and the states of generators") {
  const auto object = [](const char* json) {
    return canonical_object("initializer", from_json(json), Dialect::Keras2);
  };
  CHECK(object(R"({"class_name": "ZerosV2", "config": {"dtype": "float32"}})") ==
        from_json(R"({"class_name": "Zeros", "config": {}})"));
  CHECK(
      object(R"({"class_name": "VarianceScaling", "config": {"distribution": "normal", "seed": null}})") ==
      from_json(
          R"({"class_name": "VarianceScaling", "config": {"distribution": "truncated_normal", "seed": null}})"));
  CHECK(object(R"({"class_name": "GlorotUniform", "config": {"seed": {"class_name": "__seed__"}}})") ==
        from_json(R"({"class_name": "GlorotUniform", "config": {"seed": null}})"));
  CHECK(object(R"({"class_name": "Ones", "config": null})") ==
        from_json(R"({"class_name": "Ones", "config": {}})"));
  CHECK(object("\"zeros\"") == Value("zeros"));
  CHECK(object("null").is_null());
}

TEST_CASE("activations: names, functions, layers, and what versions of Keras meant by a name") {
  const auto object = [](const char* json, Dialect dialect) {
    return canonical_object("activation", from_json(json), dialect);
  };
  CHECK(object("\"relu\"", Dialect::Keras3) == Value("relu"));
  CHECK(object("\"softmax_v2\"", Dialect::Keras2) == Value("softmax"));
  CHECK(object(R"({"class_name": "function", "config": "gelu"})", Dialect::Keras3) == Value("gelu"));
  CHECK(object("\"hard_sigmoid\"", Dialect::Keras3) == Value("hard_sigmoid"));
  CHECK(object("\"hard_sigmoid\"", Dialect::Keras2) ==
        from_json(R"({"class_name": "hard_sigmoid", "config": {"slope": 0.2}})"));
  CHECK(object(R"({"class_name": "LeakyReLU", "config": {"name": "l", "alpha": 0.3}})", Dialect::Keras2) ==
        from_json(R"({"class_name": "LeakyReLU", "config": {"negative_slope": 0.3}})"));
  CHECK(object("null", Dialect::Keras3).is_null());
}

TEST_CASE("layers and arguments have their current names") {
  CHECK(nn::saving::canonical_layer(config(R"({"class_name": "CuDNNGRU", "config": {"units": 2}})"),
                                    Dialect::Keras2)
            .at("class_name") == Value("GRU"));
  const Config gru =
      canonical_config(R"({"class_name": "CuDNNGRU", "config": {"units": 2}})", Dialect::Keras2);
  CHECK(gru.at("reset_after") == Value(true));
  CHECK(gru.at("recurrent_activation") == Value("sigmoid"));
  CHECK(canonical_config(R"({"class_name": "GRU", "config": {"units": 2}})", Dialect::Keras2)
            .at("reset_after") == Value(false));
  CHECK_FALSE(canonical_config(R"({"class_name": "GRU", "config": {"units": 2}})", Dialect::Keras3)
                  .contains("reset_after"));
  CHECK(canonical_config(R"({"class_name": "LSTM", "config": {"units": 2, "unit_forget_bias": null}})")
            .at("unit_forget_bias") == Value(false));
  CHECK(canonical_config(R"({"class_name": "ThresholdedReLU", "config": {"theta": 0.5}})").at("threshold") ==
        Value(0.5));
  CHECK(canonical_config(R"({"class_name": "BatchNormalization", "config": {"axis": [3]}})").at("axis") ==
        Value(3));
  CHECK(
      canonical_config(R"({"class_name": "Dense", "name": "outer", "config": {"name": "inner", "units": 1}})")
          .at("name") == Value("outer"));
  CHECK_FALSE(canonical_config(R"({"class_name": "Dense", "config": {"units": 1, "dtype": null}})")
                  .contains("dtype"));
}

TEST_CASE("unsupported arguments are errors that name the layer") {
  CHECK_THROWS_WITH_AS(
      canonical_config(R"({"class_name": "LSTM", "config": {"name": "l", "units": 2, "time_major": true}})"),
      "[l] time_major must be false: received time_major=true; the batch must be the first axis", ValueError);
  CHECK_THROWS_WITH_AS(
      canonical_config(R"({"class_name": "InputLayer", "config": {"name": "i", "ragged": true}})"),
      "[i] ragged must be false, as the library has no ragged tensors: received ragged=true", ValueError);
  CHECK_THROWS_WITH_AS(class_of(Config{{"class_name", 3}}), "class_name must be a string: received 3",
                       TypeError);
  CHECK_THROWS_WITH_AS(config_of_object(Config{{"class_name", "Dense"}, {"config", 3}}),
                       "[Dense] config must be a config: received 3", TypeError);
}

TEST_CASE("arguments that the library lacks are dropped where they change nothing") {
  const std::vector<Absent> absent{{"always", {}}, {"of_dense", {"Dense"}}, {"none", {}, {Value(), false}}};
  const auto dropped = [&](const char* layer, const char* json) {
    Config left = config(json);
    drop_absent(absent, layer, left);
    return left;
  };
  CHECK(dropped("Dense", R"({"always": 1, "of_dense": 2, "none": null, "units": 3})") ==
        Config{{"units", 3}});
  CHECK(dropped("Conv1D", R"({"always": 1, "of_dense": 2, "none": false})") == Config{{"of_dense", 2}});
  CHECK(dropped("Dense", R"({"none": true})") == Config{{"none", true}});
}

TEST_CASE("a renamed argument does not replace one of the new name") {
  Config both{{"alpha", 1}, {"negative_slope", 2}}, old{{"alpha", 1}}, neither{{"x", 1}};
  for (Config* each : {&both, &old, &neither}) rename(*each, "alpha", "negative_slope");
  CHECK(both == Config{{"negative_slope", 2}});
  CHECK(old == Config{{"negative_slope", 1}});
  CHECK(neither == Config{{"x", 1}});
}

TEST_CASE("names, graphs and sequences") {
  CHECK(name_of(config(R"({"class_name": "Dense", "name": "a", "config": {"name": "b"}})")) == "a");
  CHECK(name_of(config(R"({"class_name": "Dense", "name": null, "config": {"name": "b"}})")) == "b");
  CHECK(name_of(config(R"({"class_name": "Dense", "config": null})")) == "Dense");
  CHECK(is_graph(config(R"({"class_name": "Anything", "config": {"layers": [], "input_layers": []}})")));
  CHECK_FALSE(is_graph(config(R"({"class_name": "Functional", "config": null})")));
  CHECK(is_sequence(config(R"({"class_name": "Sequential", "config": []})")));
  CHECK(is_sequence(config(R"({"class_name": "Sequential", "config": {}})")));
  CHECK_FALSE(is_sequence(config(R"({"class_name": "Sequential", "config": null})")));
  CHECK_FALSE(is_object(from_json("[]")));
  const Config given =
      config(R"({"class_name": "A", "shared_object_id": 3, "build_config": null, "name": "a"})");
  CHECK(described_as(given, "B", Config{{"x", 1}}) ==
        config(R"({"class_name": "B", "config": {"x": 1}, "shared_object_id": 3, "build_config": null})"));
}

TEST_CASE("tensors of a config have a layer, a call and an output") {
  const Value tensor = tensor_at("a", 1, 2);
  CHECK(is_tensor(tensor));
  CHECK(history_of(tensor) == from_json(R"(["a", 1, 2])"));
  CHECK(history_of("a").is_null());
  CHECK(history_of(Value()).is_null());
  CHECK_THROWS_WITH_AS(
      history_of(from_json(R"({"class_name": "__keras_tensor__", "config": {"keras_history": ["a", 0]}})")),
      "[model_from_config] keras_history must be [layer, call, output]: received keras_history=[\"a\",0]",
      ValueError);
  CHECK_THROWS_WITH_AS(history_of(from_json(R"({"class_name": "__keras_tensor__", "config": null})")),
                       Contains("received name='keras_history'"), ValueError);
}
