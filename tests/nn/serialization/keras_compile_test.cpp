#include "../saving/keras_configs.hpp"

namespace nn = ktape::nn;
using namespace keras_configs;

TEST_CASE("compile configs of Keras 2") {
  using nn::saving::canonical_compile;
  const Value of_22 =
      canonical_compile(from_json(R"({"optimizer_config": {"class_name": "SGD", "config": {"lr": 0.1,
      "momentum": 0.9, "decay": 0.01, "nesterov": true}}, "loss": "cosine_proximity", "metrics": ["acc"],
      "weighted_metrics": null, "sample_weight_mode": null, "loss_weights": null})"));
  CHECK(of_22 ==
        from_json(R"({"optimizer": {"class_name": "SGD", "config": {"momentum": 0.9, "nesterov": true,
      "learning_rate": {"class_name": "InverseTimeDecay", "config": {"initial_learning_rate": 0.1, "decay_steps": 1,
      "decay_rate": 0.01}}}}, "loss": "cosine_similarity", "loss_weights": null, "metrics": [["acc"]],
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
      from_json(R"({"class_name": "LossScaleOptimizer", "config": {"initial_scale": 32768,
                      "inner_optimizer": {"class_name": "Nadam", "config": {"learning_rate": 0.1}}}})"));
  CHECK(
      optimizer(R"({"class_name": "LossScaleOptimizerV3", "config": {"inner_optimizer": {"class_name": "SGD",
                      "config": {"learning_rate": 0.1}}, "dynamic": false, "initial_scale": 64,
                      "dynamic_growth_steps": null}})") ==
      from_json(R"({"class_name": "SGD", "config": {"learning_rate": 0.1, "loss_scale_factor": 64}})"));
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
  CHECK(canonical_compile(keras2_compile(compile)).config().at("metrics") == from_json(R"([["accuracy"]])"));
  CHECK(keras2_compile({}).is_null());
}
