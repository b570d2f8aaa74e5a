#include <ktape/nn/callbacks/internal/learning_rate.hpp>
#include <ktape/nn/callbacks/learning_rate_scheduler.hpp>
#include <ktape/nn/core/by_name.hpp>

#include <cmath>
#include <iostream>

namespace ktape::nn {
namespace {

class LearningRateSchedulerImpl final : public CallbackImpl {
 public:
  LearningRateSchedulerImpl(std::function<double(int, double)> schedule, int verbose)
      : schedule_(std::move(schedule)), verbose_(verbose) {}

  std::string class_name() const override { return "LearningRateScheduler"; }

  void on_epoch_begin(int epoch, const Logs&) override {
    const double rate = schedule_(epoch, rate_of(model()));
    if (!std::isfinite(rate))
      fail("[LearningRateScheduler] the schedule must return a finite rate: received ", rate, " for epoch ",
           epoch);
    set_rate(model(), rate);
    if (prints(verbose_))
      std::cout << "\nEpoch " << epoch + 1 << ": LearningRateScheduler setting learning rate to " << rate
                << ".\n";
  }
  void report(Logs& logs) override { logs.set("learning_rate", rate_of(model())); }

 private:
  std::function<double(int, double)> schedule_;
  int verbose_;
};

}  // namespace

LearningRateScheduler::LearningRateScheduler(const LearningRateSchedulerOptions& options)
    : Callback(std::make_shared<LearningRateSchedulerImpl>(
          internal::given("LearningRateScheduler", "schedule", options.schedule).function(),
          options.verbose)) {}

}  // namespace ktape::nn
