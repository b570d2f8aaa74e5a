#pragma once
#include <ktape/nn/training/callback.hpp>

namespace ktape::nn {

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int patience = 10;
  int verbose = 0;
  std::string mode = "auto";
  double min_delta = 1e-4;
  int cooldown = 0;
  double min_lr = 0;
};

/// Multiplies the learning rate by `factor` when a monitored value has not improved for `patience` epochs,
/// and adds the rate to the logs as "learning_rate". Throws ValueError for a factor of 1 or more, and
/// TypeError when the optimizer's rate follows a schedule.
///
///     model.fit(x, y, {.epochs = 50, .callbacks = {nn::ReduceLROnPlateau({.patience = 3})}});
///
/// For example:
///
///     nn::Sequential model({nn::Dense(1, {.use_bias = false})});
///     nn::SGD optimizer(0.1);
///     model.compile({.optimizer = optimizer, .loss = "mse"});
///     model.fit(
///         K::zeros({4, 2}), K::ones({4, 1}),  // the loss stays 1
///         {.epochs = 5,
///          .verbose = 0,
///          .callbacks = {nn::ReduceLROnPlateau({.monitor = "loss", .patience = 3})}});
///     std::cout << optimizer.learning_rate();
class ReduceLROnPlateau : public Callback {
 public:
  explicit ReduceLROnPlateau(const ReduceLROnPlateauOptions& options = {});
  /// Return the best value so far (the worst possible value before the first epoch), and the number of epochs
  /// since the best value, without the epochs of a cooldown.
  double best() const;
  int wait() const;
};

}  // namespace ktape::nn
