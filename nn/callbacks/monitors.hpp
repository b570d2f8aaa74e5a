#pragma once
#include <ktape/nn/training/callback.hpp>

#include <functional>

/// Callbacks that watch what a training reports, and act on it.
namespace ktape::nn {

struct LambdaCallbackOptions {
  std::function<void(int, const Logs&)> on_epoch_begin = {}, on_epoch_end = {};
  std::function<void(const Logs&)> on_train_begin = {}, on_train_end = {};
  std::function<void(std::int64_t, const Logs&)> on_train_batch_begin = {}, on_train_batch_end = {};
  std::function<void(const Logs&)> on_test_begin = {}, on_test_end = {};
  std::function<void(std::int64_t, const Logs&)> on_test_batch_begin = {}, on_test_batch_end = {};
  std::function<void(const Logs&)> on_predict_begin = {}, on_predict_end = {};
  std::function<void(std::int64_t, const Logs&)> on_predict_batch_begin = {}, on_predict_batch_end = {};
};

/// A callback of functions, which are called as the functions of these names of a `CallbackImpl`.
class LambdaCallback : public Callback {
 public:
  explicit LambdaCallback(const LambdaCallbackOptions& options);
};

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
  /// The epoch in which it stopped, counted from 0; 0 when it did not.
  int stopped_epoch() const;
  /// The best value so far, and the epoch that had it; an infinitely bad one before the first.
  double best() const;
  int best_epoch() const;
  /// How many epochs have passed since.
  int wait() const;
  /// The weights of the best epoch, with `restore_best_weights`; none before the first.
  std::vector<Tensor> best_weights() const;
};

/// Sets the learning rate at the begin of each epoch; the logs get it as "learning_rate". Throws TypeError
/// when the optimizer's rate follows a schedule.
class LearningRateScheduler : public Callback {
 public:
  /// A function of the epoch, from 0, and, if it takes it, the present rate.
  template <class F>
  requires std::invocable<F&, int, double> || std::invocable<F&, int>
  explicit LearningRateScheduler(F schedule, int verbose = 0)
      : LearningRateScheduler(std::function<double(int, double)>([schedule](int epoch, double rate) mutable {
                                if constexpr (std::invocable<F&, int, double>) return schedule(epoch, rate);
                                else return static_cast<void>(rate), schedule(epoch);
                              }),
                              verbose) {}
  explicit LearningRateScheduler(std::function<double(int, double)> schedule, int verbose = 0);
};

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

/// Multiplies the learning rate by `factor` when a number has got no better for `patience` epochs; the logs
/// get it as "learning_rate". Throws ValueError for a factor of 1 or more, and TypeError when the optimizer's
/// rate follows a schedule.
class ReduceLROnPlateau : public Callback {
 public:
  explicit ReduceLROnPlateau(const ReduceLROnPlateauOptions& options = {});
  /// The best value so far, an infinitely bad one before the first, and how many epochs have passed without a
  /// better one, but for those of a cooldown.
  double best() const;
  int wait() const;
};

/// Ends the training when the loss of a batch is not finite.
class TerminateOnNaN : public Callback {
 public:
  TerminateOnNaN();
};

}  // namespace ktape::nn
