#pragma once
#include <ktape/nn/callbacks/frequency.hpp>
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/training/callback.hpp>

namespace ktape::nn {

struct BackupAndRestoreOptions {
  std::string backup_dir = {};    ///< required: the folder of the backup
  Frequency save_freq = "epoch";  ///< "epoch", or a number of batches
  bool delete_checkpoint = true;  ///< whether a training that ends normally removes the backup
};

/// Resumes an interrupted training (by a crash, a power failure, Ctrl-C) when the program runs again, with
/// the results of an uninterrupted training:
///
///     model.fit(x, y, {.epochs = 100, .callbacks = {nn::BackupAndRestore("backup")}});
///
/// The backup is a file in the folder, which is created if missing. The file holds weights, the optimizer's
/// state, the position in the data and in the sequence of random numbers, and the state of metrics, layers
/// and other callbacks (`CallbackImpl::state`), so that EarlyStopping keeps its count and the History has all
/// epochs. A user's model class names further state, such as a second optimizer, in `state`. The backup is
/// written after epochs or batches, as save_freq says, and after the other callbacks. The last complete
/// backup exists at any time. A Dataset gives equal elements again if they depend only on seeds.
///
/// Throws ValueError, naming the file, for a backup of another model or training, and leaves model and
/// training as they were; IOError for a file that is damaged or cannot be written. Mirrors
/// `keras.callbacks.BackupAndRestore`, which restores weights, optimizer and epoch.
///
///     nn::Sequential model({nn::Dense(1)});
///     model.compile({.loss = "mse"});
///     Tensor x = K::ones({4, 2}), y = K::ones({4, 1});
///     nn::BackupAndRestore backup("backup", {.save_freq = "epoch"});
///     bool fails = true;
///     nn::LambdaCallback watch({.on_epoch_begin = [&](int epoch, const nn::Logs&) {
///       std::cout << "epoch " << epoch << "\n";
///       if (epoch == 2 && std::exchange(fails, false))
///         throw std::runtime_error("a power failure");
///     }});
///     try {
///       model.fit(x, y, {.epochs = 4, .verbose = 0, .callbacks = {watch, backup}});
///     } catch (const std::runtime_error& error) {
///       std::cout << error.what() << "\n";
///     }
///     model.fit(x, y, {.epochs = 4, .verbose = 0, .callbacks = {watch, backup}});
class BackupAndRestore : public Callback {
 public:
  explicit BackupAndRestore(const BackupAndRestoreOptions& options);
  template <class = void>
  explicit BackupAndRestore(const std::string& backup_dir, const BackupAndRestoreOptions& options = {})
      : BackupAndRestore(internal::with("BackupAndRestore", "backup_dir", options,
                                        &BackupAndRestoreOptions::backup_dir, backup_dir)) {}
};

}  // namespace ktape::nn
