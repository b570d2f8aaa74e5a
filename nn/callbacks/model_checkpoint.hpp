#pragma once
#include <ktape/nn/callbacks/frequency.hpp>
#include <ktape/nn/training/callback.hpp>

namespace ktape::nn {

struct ModelCheckpointOptions {
  std::string monitor = "val_loss";
  int verbose = 0;              ///< 1: prints a line for each save
  bool save_best_only = false;  ///< saves when the monitored number is better than at any time before
  bool save_weights_only = false;
  std::string mode = "auto";                           ///< "min", "max", or which of them the name suggests
  Frequency save_freq = "epoch";                       ///< "epoch", or a number of batches
  std::optional<double> initial_value_threshold = {};  ///< the best number so far, to begin with
};

/// Saves the model, or its weights, after epochs or batches. The name of the file says the format, see
/// `Model::save` and `Model::save_weights`; fields of Python's format in the name stand for the epoch,
/// counted from 1, for the batch, if save_freq is a number of batches, and for numbers of the logs:
///
///     nn::ModelCheckpoint("models/{epoch:02d}-{val_loss:.2f}.ktape")
///     nn::ModelCheckpoint("best.weights.h5", {.monitor = "val_accuracy", .save_best_only = true,
///                                             .save_weights_only = true})
///
/// Missing folders are made. If the logs lack the monitored number, the callback warns, in the log and where
/// the training prints, and saves the model. The constructor throws ValueError for a name of no known format
/// and an unknown mode; saving throws ValueError for a field that the logs lack, and IOError for a file that
/// cannot be written. Mirrors `keras.callbacks.ModelCheckpoint`.
class ModelCheckpoint : public Callback {
 public:
  explicit ModelCheckpoint(const std::string& filepath, const ModelCheckpointOptions& options = {});
  /// Returns the best value so far, with `save_best_only`; before the first the threshold, or an infinitely
  /// bad one.
  double best() const;
};

}  // namespace ktape::nn
