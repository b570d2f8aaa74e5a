#pragma once
#include <ktape/nn/training/callback.hpp>

namespace ktape::nn {

/// Ends the training when the loss of a batch is not finite.
///
///     nn::Sequential model({nn::Dense(1)});
///     model.compile({.optimizer = nn::SGD(1e30), .loss = "mse"});
///     nn::History history =
///         model.fit(K::ones({4, 2}), K::ones({4, 1}),
///                   {.epochs = 50, .verbose = 0, .callbacks = {nn::TerminateOnNaN()}});
///     std::cout << (history["loss"].size() < 50);
class TerminateOnNaN : public Callback {
 public:
  TerminateOnNaN();
};

}  // namespace ktape::nn
