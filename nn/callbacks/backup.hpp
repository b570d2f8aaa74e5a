#pragma once
#include <ktape/nn/callbacks/callback.hpp>
#include <ktape/nn/callbacks/frequency.hpp>

namespace ktape::nn {

struct BackupAndRestoreOptions {
  Frequency save_freq = "epoch";  ///< "epoch", or after so many batches
  bool delete_checkpoint = true;  ///< whether the backup goes when the training has come to its end
};

/// Lets a training that was ended from without (a crash, a power failure, Ctrl-C) go on where it was, when
/// the same program runs again, with the numbers that it would have had:
///
///     model.fit(x, y, {.epochs = 100, .callbacks = {nn::BackupAndRestore("backup")}});
///
/// The backup is a file in the folder, which is made: weights, the optimizer's state, the place in the data
/// and in the sequence of random numbers, what the metrics have measured, and the states of layers and of the
/// other callbacks (`CallbackImpl::state`), so that EarlyStopping still waits and the History has all epochs.
/// A model of one's own names in `state` what it keeps beside, such as a second optimizer.
/// It is written after epochs, or after so many batches, when all other callbacks have heard of them; at any
/// time the last whole one is there. A Dataset gives the same elements again as far as it follows from seeds.
///
/// Throws ValueError, naming the file, when it is of another model or training, which it leaves as they
/// were; IOError where it is damaged or cannot be written. Mirrors `keras.callbacks.BackupAndRestore`, which
/// restores weights, optimizer and epoch.
class BackupAndRestore : public Callback {
 public:
  explicit BackupAndRestore(const std::string& backup_dir, const BackupAndRestoreOptions& options = {});
};

}  // namespace ktape::nn
