#pragma once
#include <ktape/nn/training/callback.hpp>

#include <functional>

namespace ktape::nn {

/// Sets the learning rate at the begin of each epoch, and adds the rate to the logs as "learning_rate".
/// Throws TypeError when the optimizer's rate follows a schedule.
class LearningRateScheduler : public Callback {
 public:
  /// Takes a function of the epoch, counted from 0, or of the epoch and the current rate.
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

}  // namespace ktape::nn
