#pragma once
#include <ktape/ktape.hpp>

#include <fstream>
#include <iterator>

/// A model for the tests of callbacks: its epochs have one step, which reports given numbers. The weight of
/// the model counts the steps.
struct ScriptedImpl : ktape::nn::ModelImpl {
  std::vector<ktape::nn::Logs> logs;
  std::size_t step = 0;
  ktape::nn::Dense dense = add_layer(ktape::nn::Dense(1, {.use_bias = false, .kernel_initializer = "zeros"}));

  explicit ScriptedImpl(std::vector<ktape::nn::Logs> logs)
      : ktape::nn::ModelImpl("Scripted"), logs(std::move(logs)) {}
  ktape::Tensor call(const ktape::Tensor& x) override { return dense(x); }
  ktape::nn::Logs train_step(const ktape::nn::Batch& batch) override {
    apply(batch.x);
    ktape::backend::update_add(dense.weights()[0], 1.f);
    return logs[step++ % logs.size()];
  }
};
using Scripted = ktape::nn::ModelOf<ScriptedImpl>;

/// Returns logs that report these losses.
inline std::vector<ktape::nn::Logs> losses(const std::vector<double>& values) {
  std::vector<ktape::nn::Logs> logs;
  for (const double value : values) logs.push_back({{"loss", value}});
  return logs;
}

/// Trains the model, an epoch for each of its logs.
inline ktape::nn::History run(const Scripted& model, const std::vector<ktape::nn::Callback>& callbacks,
                              const ktape::nn::Optimizer& optimizer = "sgd") {
  model.compile({.optimizer = optimizer});
  return model.fit(ktape::backend::ones({1, 1}), {},
                   {.epochs = static_cast<int>(model->logs.size()), .verbose = 0, .callbacks = callbacks});
}

inline std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
