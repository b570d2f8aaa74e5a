#pragma once
#include <ktape/nn/core/object.hpp>

#include <optional>
#include <string>
#include <vector>

/// Learning rates that change with the step, the number of `apply` calls before it.
namespace ktape::nn {

/// The class behind a Schedule.
class ScheduleImpl : public FunctionObject<double, std::int64_t> {
 public:
  static constexpr const char* kind = "schedule";
};

/// The learning rate of each step: one of Keras's schedules, or any callable of the step.
class Schedule : public FunctionHandle<ScheduleImpl> {
 public:
  using FunctionHandle::FunctionHandle;
  double operator()(std::int64_t step) const { return impl().call(step); }
};

/// A schedule class of the user's.
template <class Implementation>
using ScheduleOf = HandleOf<Schedule, Implementation>;

/// What an optimizer takes as its learning rate: a number, or a schedule.
class LearningRate {
 public:
  LearningRate(double value) : value_(value) {}
  LearningRate(const Schedule& schedule) : schedule_(schedule) {}
  template <class F>
  requires std::is_constructible_v<ScheduleImpl::Function, F> LearningRate(F f) : schedule_(std::move(f)) {}
  explicit LearningRate(const Value& value);

  /// Undefined for a number.
  const Schedule& schedule() const { return schedule_; }
  /// At the first step.
  double initial() const { return schedule_.defined() ? schedule_(0) : value_; }
  Value to_value() const { return schedule_.defined() ? schedule_.to_value() : Value(value_); }

 private:
  double value_ = 0;
  Schedule schedule_;
};

/// In all of them `decay_steps` must be above 0, and the rates of which Keras has no default must be given
/// (ValueError).
struct ExponentialDecayOptions {
  std::optional<double> initial_learning_rate = {};  ///< required
  double decay_steps = 0;
  std::optional<double> decay_rate = {};  ///< required
  bool staircase = false;                 ///< whether to decay once every decay_steps
  std::string name = "ExponentialDecay";
};
/// initial_learning_rate * decay_rate^(step / decay_steps).
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
/// initial_learning_rate / (1 + decay_rate * step / decay_steps).
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
/// values[i] up to and with step boundaries[i], the last value behind them. Throws ValueError unless there is
/// one value more than boundaries, and these increase.
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
  bool cycle = false;  ///< whether to start again from a smaller rate behind decay_steps
  std::string name = "PolynomialDecay";
};
/// end + (initial - end) * (1 - min(step, decay_steps) / decay_steps)^power.
class PolynomialDecay : public Schedule {
 public:
  PolynomialDecay(const PolynomialDecayOptions& options);
  PolynomialDecay(double initial_learning_rate, double decay_steps)
      : PolynomialDecay(PolynomialDecayOptions{initial_learning_rate, decay_steps}) {}
};

struct CosineDecayOptions {
  std::optional<double> initial_learning_rate = {};  ///< required
  double decay_steps = 0;
  double alpha = 0;  ///< the fraction of the rate that is left in the end
  std::string name = "CosineDecay";
  std::optional<double> warmup_target = {};
  double warmup_steps = 0;
};
/// Over decay_steps from the initial rate to alpha times it, along half a cosine. With a warmup target, first
/// over warmup_steps in a line from the initial rate to the target, and from there on.
class CosineDecay : public Schedule {
 public:
  CosineDecay(const CosineDecayOptions& options);
  CosineDecay(double initial_learning_rate, double decay_steps)
      : CosineDecay(CosineDecayOptions{initial_learning_rate, decay_steps}) {}
};

struct CosineDecayRestartsOptions {
  std::optional<double> initial_learning_rate = {};  ///< required
  double first_decay_steps = 0;
  double t_mul = 2;  ///< how much longer each period is than the one before
  double m_mul = 1;  ///< how much higher it starts
  double alpha = 0;
  std::string name = "SGDRDecay";
};
/// Periods of cosine decay, one after another.
class CosineDecayRestarts : public Schedule {
 public:
  CosineDecayRestarts(const CosineDecayRestartsOptions& options);
  CosineDecayRestarts(double initial_learning_rate, double first_decay_steps)
      : CosineDecayRestarts(CosineDecayRestartsOptions{initial_learning_rate, first_decay_steps}) {}
};

}  // namespace ktape::nn
