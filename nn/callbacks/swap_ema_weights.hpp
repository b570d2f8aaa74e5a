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
///     nn::Sequential model({nn::Dense(1)});
///     model.compile({.optimizer = nn::Adam({.use_ema = true}), .loss = "mse"});
///     model.fit(K::ones({4, 2}), K::ones({4, 1}),
///               {.epochs = 2, .verbose = 0, .callbacks = {nn::SwapEMAWeights()}});
///     std::cout << model.count_params();
class SwapEMAWeights : public Callback {
 public:
  explicit SwapEMAWeights(const SwapEMAWeightsOptions& options = {});
};

}  // namespace ktape::nn
