#pragma once
#include <ktape/nn/training/callback.hpp>

#include <optional>

namespace ktape::nn {

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;                 ///< a change of less than this is none
  int patience = 0;                     ///< how many epochs without a better value are waited for
  int verbose = 0;                      ///< 1: prints a line when the training stops
  std::string mode = "auto";            ///< "min", "max", or which of them the name suggests
  std::optional<double> baseline = {};  ///< values that are no better do not count
  bool restore_best_weights = false;
  int start_from_epoch = 0;
};

/// Ends the training when a number gets no better any more. Of a number that is not reported the user is
/// warned, in the log and where the training prints.
class EarlyStopping : public Callback {
 public:
  explicit EarlyStopping(const EarlyStoppingOptions& options = {});
  /// Returns the epoch in which the callback stopped the training, counted from 0; 0 if it did not.
  int stopped_epoch() const;
  /// Return the best value so far, infinitely bad before the first epoch, and the epoch of that value.
  double best() const;
  int best_epoch() const;
  /// Returns how many epochs have passed since.
  int wait() const;
  /// Returns the weights of the best epoch, with `restore_best_weights`; none before the first.
  std::vector<Tensor> best_weights() const;
};

}  // namespace ktape::nn
