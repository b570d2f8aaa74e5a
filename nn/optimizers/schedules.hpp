#pragma once
#include <ktape/nn/core/object.hpp>

#include <optional>
#include <string>
#include <vector>

/// Schedules: learning rates that depend on the step, the number of earlier `apply` calls.
namespace ktape::nn {

/// The base class of schedules.
///
///     struct HalvingImpl : nn::ScheduleImpl {
///       std::string class_name() const override { return "Halving"; }
///       double call(std::int64_t step) const override { return 0.1 / (1 + step); }
///     };
///     std::cout << nn::ScheduleOf<HalvingImpl>()(1);
class ScheduleImpl : public FunctionObject<double, std::int64_t> {
 public:
  static constexpr const char* kind = "schedule";
};

/// A schedule gives the learning rate of each step: a schedule of Keras, or any callable of the step.
///
///     nn::Adam optimizer(
///         nn::CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 10}));
///     std::cout << optimizer.learning_rate();
class Schedule : public FunctionHandle<ScheduleImpl> {
 public:
  using FunctionHandle::FunctionHandle;
  double operator()(std::int64_t step) const { return impl().call(step); }
};

/// A handle to a schedule class of a user.
template <class Implementation>
using ScheduleOf = HandleOf<Schedule, Implementation>;

/// The learning rate of an optimizer: a number, or a schedule.
class LearningRate {
 public:
  LearningRate(double value) : value_(value) {}
  LearningRate(const Schedule& schedule) : schedule_(schedule) {}
  template <class F>
  requires std::is_constructible_v<ScheduleImpl::Function, F> LearningRate(F f) : schedule_(std::move(f)) {}
  explicit LearningRate(const Value& value);

  /// Returns the schedule; an undefined handle if the rate is a number.
  const Schedule& schedule() const { return schedule_; }
  /// Returns the rate at the first step.
  double initial() const { return schedule_.defined() ? schedule_(0) : value_; }
  Value to_value() const { return schedule_.defined() ? schedule_.to_value() : Value(value_); }

 private:
  double value_ = 0;
  Schedule schedule_;
};

/// Options of ExponentialDecay. All schedules throw ValueError unless `decay_steps` is above 0, and if a
/// required rate is missing. Required are the rates for which Keras has no default.
struct ExponentialDecayOptions {
  std::optional<double> initial_learning_rate = {};  ///< required
  double decay_steps = 0;
  std::optional<double> decay_rate = {};  ///< required
  bool staircase = false;                 ///< rounds step / decay_steps down
  std::string name = "ExponentialDecay";
};
/// The rate initial_learning_rate * decay_rate^(step / decay_steps).
///
///     nn::ExponentialDecay schedule(
///         {.initial_learning_rate = 0.1, .decay_steps = 10, .decay_rate = 0.5});
///     for (int step : {0, 5, 10}) std::cout << schedule(step) << " ";
class ExponentialDecay : public Schedule {
 public:
  ExponentialDecay(const ExponentialDecayOptions& options);
  ExponentialDecay(double initial_learning_rate, double decay_steps, double decay_rate,
                   bool staircase = false)
      : ExponentialDecay(ExponentialDecayOptions{initial_learning_rate, decay_steps, decay_rate, staircase}) {
  }
};

struct InverseTimeDecayOptions {
  std::optional<double> initial_learning_rate = {};  ///< required
  double decay_steps = 0;
  std::optional<double> decay_rate = {};  ///< required
  bool staircase = false;
  std::string name = "InverseTimeDecay";
};
/// The rate initial_learning_rate / (1 + decay_rate * step / decay_steps).
///
///     nn::InverseTimeDecay schedule(
///         {.initial_learning_rate = 0.1, .decay_steps = 10, .decay_rate = 0.5});
///     for (int step : {0, 5, 10}) std::cout << schedule(step) << " ";
class InverseTimeDecay : public Schedule {
 public:
  InverseTimeDecay(const InverseTimeDecayOptions& options);
  InverseTimeDecay(double initial_learning_rate, double decay_steps, double decay_rate,
                   bool staircase = false)
      : InverseTimeDecay(InverseTimeDecayOptions{initial_learning_rate, decay_steps, decay_rate, staircase}) {
  }
};

struct PiecewiseConstantDecayOptions {
  std::vector<double> boundaries = {};
  std::vector<double> values = {};
  std::string name = "PiecewiseConstant";
};
/// The rate values[i] for steps after boundaries[i - 1], up to and including boundaries[i]; the last value
/// after the last boundary. Throws ValueError unless there is one value more than boundaries, and for
/// boundaries that do not increase.
///
///     nn::PiecewiseConstantDecay schedule({.boundaries = {5}, .values = {0.1, 0.01}});
///     for (int step : {0, 5, 10}) std::cout << schedule(step) << " ";
class PiecewiseConstantDecay : public Schedule {
 public:
  PiecewiseConstantDecay(const PiecewiseConstantDecayOptions& options);
  PiecewiseConstantDecay(std::vector<double> boundaries, std::vector<double> values)
      : PiecewiseConstantDecay(PiecewiseConstantDecayOptions{std::move(boundaries), std::move(values)}) {}
};

struct PolynomialDecayOptions {
  std::optional<double> initial_learning_rate = {};  ///< required
  double decay_steps = 0;
  double end_learning_rate = 0.0001;
  double power = 1;
  bool cycle = false;  ///< starts again from a smaller rate every decay_steps steps
  std::string name = "PolynomialDecay";
};
/// The rate end + (initial - end) * (1 - min(step, decay_steps) / decay_steps)^power.
///
///     nn::PolynomialDecay schedule({.initial_learning_rate = 0.1, .decay_steps = 10});
///     for (int step : {0, 5, 10}) std::cout << schedule(step) << " ";
class PolynomialDecay : public Schedule {
 public:
  PolynomialDecay(const PolynomialDecayOptions& options);
  PolynomialDecay(double initial_learning_rate, double decay_steps)
      : PolynomialDecay(PolynomialDecayOptions{initial_learning_rate, decay_steps}) {}
};

struct CosineDecayOptions {
  std::optional<double> initial_learning_rate = {};  ///< required
  double decay_steps = 0;
  double alpha = 0;  ///< the last rate as a fraction of the cosine's first rate
  std::string name = "CosineDecay";
  std::optional<double> warmup_target = {};
  double warmup_steps = 0;
};
/// A rate that falls along half a cosine over decay_steps, from the initial rate to alpha times the initial
/// rate. With a warmup target, the rate first changes linearly over warmup_steps, from the initial rate to
/// the target; then the cosine starts from the target.
///
///     nn::CosineDecay schedule({.initial_learning_rate = 0.1, .decay_steps = 10});
///     for (int step : {0, 5, 10}) std::cout << schedule(step) << " ";
class CosineDecay : public Schedule {
 public:
  CosineDecay(const CosineDecayOptions& options);
  CosineDecay(double initial_learning_rate, double decay_steps)
      : CosineDecay(CosineDecayOptions{initial_learning_rate, decay_steps}) {}
};

struct CosineDecayRestartsOptions {
  std::optional<double> initial_learning_rate = {};  ///< required
  double first_decay_steps = 0;
  double t_mul = 2;  ///< the length of a period divided by the length of the period before
  double m_mul = 1;  ///< the height of a period's cosine divided by the height before
  double alpha = 0;
  std::string name = "SGDRDecay";
};
/// A rate with periods of cosine decay, one after another.
///
///     nn::CosineDecayRestarts schedule(
///         {.initial_learning_rate = 0.1, .first_decay_steps = 10});
///     for (int step : {0, 5, 10}) std::cout << schedule(step) << " ";
class CosineDecayRestarts : public Schedule {
 public:
  CosineDecayRestarts(const CosineDecayRestartsOptions& options);
  CosineDecayRestarts(double initial_learning_rate, double first_decay_steps)
      : CosineDecayRestarts(CosineDecayRestartsOptions{initial_learning_rate, first_decay_steps}) {}
};

}  // namespace ktape::nn
