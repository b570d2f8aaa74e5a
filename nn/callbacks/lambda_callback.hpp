#pragma once
#include <ktape/nn/training/callback.hpp>

#include <functional>

namespace ktape::nn {

struct LambdaCallbackOptions {
  std::function<void(int, const Logs&)> on_epoch_begin = {}, on_epoch_end = {};
  std::function<void(const Logs&)> on_train_begin = {}, on_train_end = {};
  std::function<void(std::int64_t, const Logs&)> on_train_batch_begin = {}, on_train_batch_end = {};
  std::function<void(const Logs&)> on_test_begin = {}, on_test_end = {};
  std::function<void(std::int64_t, const Logs&)> on_test_batch_begin = {}, on_test_batch_end = {};
  std::function<void(const Logs&)> on_predict_begin = {}, on_predict_end = {};
  std::function<void(std::int64_t, const Logs&)> on_predict_batch_begin = {}, on_predict_batch_end = {};
};

/// A callback made of functions. Each is called like the member of `CallbackImpl` with its name.
///
///     nn::Sequential model({nn::Dense(1)});
///     model.compile({.loss = "mse"});
///     model.fit(K::ones({4, 2}), K::ones({4, 1}),
///               {.epochs = 2,
///                .verbose = 0,
///                .callbacks = {nn::LambdaCallback(
///                    {.on_epoch_end = [](int epoch, const nn::Logs&) {
///                      std::cout << epoch << " ";
///                    }})}});
class LambdaCallback : public Callback {
 public:
  explicit LambdaCallback(const LambdaCallbackOptions& options);
};

}  // namespace ktape::nn
