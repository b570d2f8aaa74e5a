#pragma once
#include <ktape/nn/training/callback.hpp>

#include <optional>

namespace ktape::nn {

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;                 ///< the smallest change that counts as an improvement
  int patience = 0;                     ///< epochs without improvement after which the training ends
  int verbose = 0;                      ///< 1: prints a line when the training stops
  std::string mode = "auto";            ///< "min", "max", or "auto": follows from the name
  std::optional<double> baseline = {};  ///< an improvement must also be better than this value
  bool restore_best_weights = false;
  int start_from_epoch = 0;
};

/// Ends the training when a monitored value no longer improves. If the logs lack the value, the callback
/// prints a warning and writes it to the log.
///
///     model.fit(x, y, {.epochs = 50, .callbacks = {nn::EarlyStopping({.monitor = "loss", .patience = 3})}});
///
/// For example:
///
///     Tensor x = K::ones({8, 2}), y = K::ones({8, 1});
///     nn::Sequential model({nn::Dense(1)});
///     model.compile({.optimizer = nn::SGD(0.), .loss = "mse"});
///     nn::History history = model.fit(
///         x, y,
///         {.epochs = 50,
///          .verbose = 0,
///          .callbacks = {nn::EarlyStopping({.monitor = "loss", .patience = 3})}});
///     std::cout << history["loss"].size();
class EarlyStopping : public Callback {
 public:
  explicit EarlyStopping(const EarlyStoppingOptions& options = {});
  /// Returns the epoch in which the callback stopped the training, counted from 0; 0 if it did not.
  int stopped_epoch() const;
  /// Return the best value so far (the worst possible value before the first epoch), and its epoch.
  double best() const;
  int best_epoch() const;
  /// Returns the number of epochs since the last improvement.
  int wait() const;
  /// Returns the weights of the best epoch. The list is empty without `restore_best_weights`, and before the
  /// end of the first epoch.
  std::vector<Tensor> best_weights() const;
};

}  // namespace ktape::nn
