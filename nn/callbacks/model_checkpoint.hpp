#pragma once
#include <ktape/nn/callbacks/frequency.hpp>
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/training/callback.hpp>

namespace ktape::nn {

struct ModelCheckpointOptions {
  std::string filepath = {};  ///< required: the path of the file, with fields such as {epoch:02d}
  std::string monitor = "val_loss";
  int verbose = 0;              ///< 1: prints a line for each save
  bool save_best_only = false;  ///< saves only when the monitored value is the best so far
  bool save_weights_only = false;
  std::string mode = "auto";                           ///< "min", "max", or "auto": follows from the name
  Frequency save_freq = "epoch";                       ///< "epoch", or a number of batches
  std::optional<double> initial_value_threshold = {};  ///< the value that the first save must beat
};

/// Saves the model, or its weights, after epochs or batches. The suffix of the file's name selects the
/// format, see `Model::save` and `Model::save_weights`. The name may contain fields of Python's format, for
/// the epoch, counted from 1, for the batch, if save_freq is a number of batches, and for values of the logs:
///
///     nn::ModelCheckpoint("models/{epoch:02d}-{val_loss:.2f}.ktape")
///     nn::ModelCheckpoint("best.weights.h5", {.monitor = "val_accuracy", .save_best_only = true,
///                                             .save_weights_only = true})
///
/// Missing folders are created. If the logs lack the monitored value, the callback prints and logs a warning,
/// and saves the model. The constructor throws ValueError for an unknown suffix and an unknown mode; saving
/// throws ValueError for a field that the logs lack, and IOError for a file that cannot be written. Mirrors
/// `keras.callbacks.ModelCheckpoint`.
///
///     nn::Sequential model({nn::Dense(1, {.input_shape = {2}})});
///     model.compile({.loss = "mse"});
///     model.fit(K::ones({4, 2}), K::ones({4, 1}),
///               {.verbose = 0,
///                .callbacks = {nn::ModelCheckpoint(
///                    "best.ktape", {.monitor = "loss", .save_best_only = true})}});
///     std::cout << nn::load_model("best.ktape").count_params();
class ModelCheckpoint : public Callback {
 public:
  explicit ModelCheckpoint(const ModelCheckpointOptions& options);
  template <class = void>
  explicit ModelCheckpoint(const std::string& filepath, const ModelCheckpointOptions& options = {})
      : ModelCheckpoint(internal::with("ModelCheckpoint", "filepath", options,
                                       &ModelCheckpointOptions::filepath, filepath)) {}
  /// Returns the best value so far, with `save_best_only`. Before the first value, returns the threshold, or
  /// the worst possible value.
  double best() const;
};

}  // namespace ktape::nn
