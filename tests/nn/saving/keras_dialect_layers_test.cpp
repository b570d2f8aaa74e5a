#include "keras_configs.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using namespace keras_configs;
using ktape::Tensor, ktape::TypeError, ktape::ValueError;
using nn::saving::keras2;

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

TEST_CASE("a config whose results cannot be reproduced is an error that names layer and argument") {
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
      "': received renorm=true");
  check_throws<ValueError>(
      layer(R"({"class_name": "DepthwiseConv2D", "config": {"name": "d", "kernel_size": [1, 1],
                                     "groups": 2}})"),
      "received groups=2");
  check_throws<ValueError>(
      layer(R"({"class_name": "Dense", "config": {"name": "d", "units": 1, "dtype": "complex64"}})"),
      "[d] dtype must be one of the library");
}

TEST_CASE("layers keep a mixed policy of Keras 2, of Keras 3, and a name") {
  for (const char* policy : {R"({"class_name": "Policy", "config": {"name": "mixed_float16"}})",
                             R"({"module": "keras", "class_name": "DTypePolicy",
                                 "config": {"name": "mixed_float16"}, "registered_name": null})",
                             R"("mixed_float16")"}) {
    const Config config = canonical(from_json(R"({"class_name": "Dense", "config": {"name": "d", "units": 1,
                                                  "dtype": )" +
                                              std::string(policy) + "}}"))
                              .config();
    CHECK(config.at("config").config().at("dtype") == nn::DTypePolicy("mixed_float16").to_value());
  }
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

TEST_CASE("low-rank adaptation leaves its options in configs, and merged kernels in files") {
  const auto loads = [](const std::string& name, const std::string& arguments) {
    const Config layer = canonical_layer(R"({"class_name": ")" + name + R"(", "config": {"name": "d", )" +
                                         arguments + R"(, "lora_rank": 4, "lora_alpha": 8}})");
    CHECK_FALSE(layer.at("config").config().contains("lora_rank"));
    CHECK_FALSE(layer.at("config").config().contains("lora_alpha"));
    CHECK(nn::Layer::from_value(layer).class_name() == name);
  };
  loads("Dense", R"("units": 3)");
  loads("EinsumDense", R"("equation": "ab,bc->ac", "output_shape": 3)");
  loads("Embedding", R"("input_dim": 3, "output_dim": 2)");
  loads("Conv2D", R"("filters": 3, "kernel_size": 2)");
}
