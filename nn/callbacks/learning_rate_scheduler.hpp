#pragma once
#include <ktape/nn/training/callback.hpp>

#include <functional>

namespace ktape::nn {

/// Sets the learning rate at the begin of each epoch, and adds the rate to the logs as "learning_rate".
/// Throws TypeError when the optimizer's rate follows a schedule.
///
///     nn::Sequential model({nn::Dense(1)});
///     nn::SGD optimizer(0.1);
///     model.compile({.optimizer = optimizer, .loss = "mse"});
///     model.fit(K::ones({4, 2}), K::ones({4, 1}),
///               {.epochs = 3,
///                .verbose = 0,
///                .callbacks = {nn::LearningRateScheduler(
///                    [](int epoch, double) { return 0.1 / (1 + epoch); })}});
///     std::cout << optimizer.learning_rate();
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
