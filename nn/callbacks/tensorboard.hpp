#pragma once
#include <ktape/nn/callbacks/callback.hpp>
#include <ktape/nn/callbacks/frequency.hpp>

namespace ktape::nn {

struct TensorBoardOptions {
  int histogram_freq = 0;     ///< after every how many epochs the weights are written as histograms; 0: never
  bool write_graph = true;    ///< the architecture, where the model has a config
  bool write_images = false;  ///< with the histograms also the weights as images
  bool write_steps_per_second = false;
  Frequency update_freq = "epoch";  ///< "batch" or a number: also what so many batches report
};

/// Writes what a training reports for TensorBoard: `tensorboard --logdir logs` shows it while it goes on.
///
///     model.fit(x, y, {.callbacks = {nn::TensorBoard("logs")}, .validation_split = 0.2});
///
/// The runs `train` and `validation` are folders in log_dir. They hold "epoch_loss" and so on for each epoch,
/// the learning rate, "batch_loss" and so on for batches, "evaluation_loss_vs_iterations" for each
/// evaluation, and, for weights, "dense/kernel/histogram" and "dense/kernel/image". The files are complete
/// after each entry. Throws ValueError for a negative histogram_freq, IOError where it cannot write. Mirrors
/// `keras.callbacks.TensorBoard`; there is no profile, and embeddings are not written.
class TensorBoard : public Callback {
 public:
  explicit TensorBoard(const std::string& log_dir = "logs", const TensorBoardOptions& options = {});
};

}  // namespace ktape::nn
