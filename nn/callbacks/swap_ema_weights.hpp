#pragma once
#include <ktape/nn/training/callback.hpp>

namespace ktape::nn {

struct SwapEMAWeightsOptions {
  /// Whether the model also holds the averages between epochs, for later callbacks in the list.
  bool swap_on_epoch = false;
};

/// Replaces the weights, during evaluation and prediction, by the averages that an optimizer with use_ema
/// keeps:
///
///     model.compile({.optimizer = nn::Adam({.use_ema = true}), .loss = "mse"});
///     model.fit(x, y, {.callbacks = {nn::SwapEMAWeights({.swap_on_epoch = true}),
///                                    nn::ModelCheckpoint("averaged.ktape")}});
///
/// Throws ValueError for an optimizer without use_ema. Mirrors `keras.callbacks.SwapEMAWeights`.
///
///     Tensor x = K::ones({4, 1}), y = K::ones({4, 1});
///     std::vector<nn::Callback> none,
///         swap = {nn::SwapEMAWeights({.swap_on_epoch = true})};
///     for (const auto& callbacks : {none, swap}) {
///       nn::Sequential model(
///           {nn::Dense(1, {.use_bias = false, .kernel_initializer = "zeros"})});
///       model.compile(
///           {.optimizer =
///                nn::SGD({.learning_rate = 0.1, .use_ema = true, .ema_momentum = 0.5}),
///            .loss = "mse"});
///       auto history = model.fit(x, y,
///                                {.epochs = 2,
///                                 .verbose = 0,
///                                 .callbacks = callbacks,
///                                 .validation_data = {x, y}});
///       std::cout << history["val_loss"].back() << "\n";
///     }
class SwapEMAWeights : public Callback {
 public:
  explicit SwapEMAWeights(const SwapEMAWeightsOptions& options = {});
};

}  // namespace ktape::nn
