#pragma once
#include <ktape/nn/training/callback.hpp>

#include <optional>

namespace ktape::nn {

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;                 ///< a change of less than this is none
  int patience = 0;                     ///< how many epochs without a better value are waited for
  int verbose = 0;                      ///< 1: says so when it stops
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
  /// Returns the epoch in which it stopped, counted from 0; 0 when it did not.
  int stopped_epoch() const;
  /// Returns the best value so far, and the epoch that had it; an infinitely bad one before the first.
  double best() const;
  int best_epoch() const;
  /// Returns how many epochs have passed since.
  int wait() const;
  /// Returns the weights of the best epoch, with `restore_best_weights`; none before the first.
  std::vector<Tensor> best_weights() const;
};

}  // namespace ktape::nn
