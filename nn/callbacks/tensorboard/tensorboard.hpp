#pragma once
#include <ktape/nn/callbacks/frequency.hpp>
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/training/callback.hpp>

namespace ktape::nn {

struct TensorBoardOptions {
  std::string log_dir = "logs";  ///< the folder of the logs
  int histogram_freq = 0;        ///< the number of epochs between histograms of the weights; 0: no histograms
  bool write_graph = true;       ///< whether to write the architecture of a model with a config
  bool write_images = false;     ///< whether to write the weights as images with the histograms
  bool write_steps_per_second = false;
  Frequency update_freq = "epoch";  ///< "batch" or a number n: also writes the logs of every n-th batch
};

/// Writes the logs of a training for TensorBoard: `tensorboard --logdir logs` shows them during the training.
///
///     model.fit(x, y, {.callbacks = {nn::TensorBoard("logs")}, .validation_split = 0.2});
///
/// The runs `train` and `validation` are folders in log_dir. They hold "epoch_loss" and so on for each epoch,
/// the learning rate, "batch_loss" and so on for batches, "evaluation_loss_vs_iterations" for each
/// evaluation, and, for weights, "dense/kernel/histogram" and "dense/kernel/image". The files are complete
/// after each entry. Throws ValueError for a negative histogram_freq, IOError if writing fails. Mirrors
/// `keras.callbacks.TensorBoard`; there is no profile, and embeddings are not written.
///
///     nn::Sequential model({nn::Dense(1)});
///     model.compile({.loss = "mse"});
///     model.fit(K::ones({8, 2}), K::ones({8, 1}),
///               {.epochs = 2,
///                .verbose = 0,
///                .callbacks = {nn::TensorBoard("logs", {.histogram_freq = 1})}});
///     std::cout << "tensorboard --logdir logs";
class TensorBoard : public Callback {
 public:
  explicit TensorBoard(const TensorBoardOptions& options = {});
  template <class = void>
  explicit TensorBoard(const std::string& log_dir, const TensorBoardOptions& options = {})
      : TensorBoard(internal::with(options, &TensorBoardOptions::log_dir, log_dir)) {}
};

}  // namespace ktape::nn
