#include "../saving/keras_configs.hpp"

namespace nn = ktape::nn;
using namespace keras_configs;
using ktape::ValueError;
using nn::saving::keras2;

TEST_CASE("configs for Keras 2 have its form, and are read back as equal models") {
  const Value model = canonical(json_file("nn/serialization/functional_keras_3.json"));
  CHECK(keras2(model) == json_file("nn/serialization/functional_keras_2.json"));
  CHECK(arguments(canonical(keras2(model)), "r") == arguments(model, "r"));

  const Value sequence = expected_sequence();
  CHECK(keras2(sequence).config().at("config").config().at("layers").list()[0] ==
        from_json(
            R"({"class_name": "InputLayer", "config": {"name": "hidden_input", "batch_input_shape": [null, 4],
                      "dtype": "float32"}})"));
  CHECK(canonical(keras2(sequence)) == sequence);
}

TEST_CASE("calls in Keras 2's form: states after the input, and attention by name") {
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
