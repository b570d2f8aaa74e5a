#pragma once
#include <ktape/nn/training/callback.hpp>

#include <functional>

namespace ktape::nn {

/// The learning rate of each epoch: a function of the epoch, counted from 0, or of the epoch and the current rate.
///
///     nn::EpochSchedule halves = [](int epoch) { return 0.1 / (1 << epoch); };
///     std::cout << halves.function()(2, 0);
class EpochSchedule {
 public:
  using Function = std::function<double(int, double)>;

  EpochSchedule() = default;
  template <class F>
  requires std::invocable<F&, int, double> || std::invocable<F&, int> EpochSchedule(F schedule)
      : function_([schedule](int epoch, double rate) mutable -> double {
          if constexpr (std::invocable<F&, int, double>) return schedule(epoch, rate);
          else return static_cast<void>(rate), schedule(epoch);
        }) {}

  bool defined() const { return function_ != nullptr; }
  const Function& function() const { return function_; }

 private:
  Function function_;
};

struct LearningRateSchedulerOptions {
  EpochSchedule schedule = {};  ///< required: the rate of each epoch
  int verbose = 0;              ///< 1: prints a line for each epoch
};

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
  explicit LearningRateScheduler(const LearningRateSchedulerOptions& options);
  template <std::convertible_to<EpochSchedule> F>
  explicit LearningRateScheduler(const F& schedule, int verbose = 0)
      : LearningRateScheduler(LearningRateSchedulerOptions{schedule, verbose}) {}
};

}  // namespace ktape::nn
