#pragma once
#include <ktape/nn/callbacks/callback.hpp>

namespace ktape::nn {

struct SwapEMAWeightsOptions {
  /// Whether the averages are also there from the end of an epoch to the begin of the next, for callbacks
  /// that come behind this one.
  bool swap_on_epoch = false;
};

/// Puts the averages that an optimizer with use_ema keeps in the place of the weights for evaluation and
/// prediction, and the weights back afterwards:
///
///     model.compile({.optimizer = nn::Adam({.use_ema = true}), .loss = "mse"});
///     model.fit(x, y, {.callbacks = {nn::SwapEMAWeights({.swap_on_epoch = true}),
///                                    nn::ModelCheckpoint("averaged.ktape")}});
///
/// Throws ValueError when the optimizer keeps no averages. Mirrors `keras.callbacks.SwapEMAWeights`.
class SwapEMAWeights : public Callback {
 public:
  explicit SwapEMAWeights(const SwapEMAWeightsOptions& options = {});
};

}  // namespace ktape::nn
