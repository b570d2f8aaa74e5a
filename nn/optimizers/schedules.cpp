#include <ktape/nn/core/class_registry.hpp>
#include <ktape/nn/optimizers/schedules.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ktape::nn {

template <class F>
void fields(ExponentialDecayOptions& o, F&& field) {
  field("initial_learning_rate", o.initial_learning_rate);
  field("decay_steps", o.decay_steps);
  field("decay_rate", o.decay_rate);
  field("staircase", o.staircase);
  field("name", o.name);
}
template <class F>
void fields(InverseTimeDecayOptions& o, F&& field) {
  field("initial_learning_rate", o.initial_learning_rate);
  field("decay_steps", o.decay_steps);
  field("decay_rate", o.decay_rate);
  field("staircase", o.staircase);
  field("name", o.name);
}
template <class F>
void fields(PiecewiseConstantDecayOptions& o, F&& field) {
  field("boundaries", o.boundaries);
  field("values", o.values);
  field("name", o.name);
}
template <class F>
void fields(PolynomialDecayOptions& o, F&& field) {
  field("initial_learning_rate", o.initial_learning_rate);
  field("decay_steps", o.decay_steps);
  field("end_learning_rate", o.end_learning_rate);
  field("power", o.power);
  field("cycle", o.cycle);
  field("name", o.name);
}
template <class F>
void fields(CosineDecayOptions& o, F&& field) {
  field("initial_learning_rate", o.initial_learning_rate);
  field("decay_steps", o.decay_steps);
  field("alpha", o.alpha);
  field("name", o.name);
  field("warmup_target", o.warmup_target);
  field("warmup_steps", o.warmup_steps);
}
template <class F>
void fields(CosineDecayRestartsOptions& o, F&& field) {
  field("initial_learning_rate", o.initial_learning_rate);
  field("first_decay_steps", o.first_decay_steps);
  field("t_mul", o.t_mul);
  field("m_mul", o.m_mul);
  field("alpha", o.alpha);
  field("name", o.name);
}

namespace {

void expect_steps(const char* schedule, const char* name, double steps) {
  if (!(steps > 0)) fail("[", schedule, "] ", name, " must be above 0: received ", name, '=', steps);
}

void expect_given(const char* schedule, const char* name, const std::optional<double>& rate) {
  if (!rate) fail("[", schedule, "] ", name, " must be given: received ", name, "=None");
}

/// Returns a factor that falls from 1 to 0 along half a period of the cosine.
double half_cosine(double fraction) { return 0.5 * (1 + std::cos(std::numbers::pi * fraction)); }

double exponential(std::int64_t step, const ExponentialDecayOptions& o) {
  const double periods = static_cast<double>(step) / o.decay_steps;
  return *o.initial_learning_rate * std::pow(*o.decay_rate, o.staircase ? std::floor(periods) : periods);
}

double inverse_time(std::int64_t step, const InverseTimeDecayOptions& o) {
  const double periods = static_cast<double>(step) / o.decay_steps;
  return *o.initial_learning_rate / (1 + *o.decay_rate * (o.staircase ? std::floor(periods) : periods));
}

double piecewise(std::int64_t step, const PiecewiseConstantDecayOptions& o) {
  const auto piece = std::lower_bound(o.boundaries.begin(), o.boundaries.end(), static_cast<double>(step)) -
                     o.boundaries.begin();
  return o.values[static_cast<std::size_t>(piece)];
}

double polynomial(std::int64_t step, const PolynomialDecayOptions& o) {
  const double at = static_cast<double>(step);
  const double steps = o.cycle ? o.decay_steps * std::max(1.0, std::ceil(at / o.decay_steps)) : o.decay_steps;
  return o.end_learning_rate + (*o.initial_learning_rate - o.end_learning_rate) *
                                   std::pow(1 - std::min(at, steps) / steps, o.power);
}

double cosine(std::int64_t step, const CosineDecayOptions& o) {
  double at = static_cast<double>(step), from = *o.initial_learning_rate;
  if (o.warmup_target) {
    if (at < o.warmup_steps) return from + (*o.warmup_target - from) * at / o.warmup_steps;
    at -= o.warmup_steps;
    from = *o.warmup_target;
  }
  return from * ((1 - o.alpha) * half_cosine(std::min(at, o.decay_steps) / o.decay_steps) + o.alpha);
}

double cosine_restarts(std::int64_t step, const CosineDecayRestartsOptions& o) {
  double fraction = static_cast<double>(step) / o.first_decay_steps, period = std::floor(fraction);
  if (o.t_mul == 1) {
    fraction -= period;
  } else {
    period = std::floor(std::log(1 - fraction * (1 - o.t_mul)) / std::log(o.t_mul));
    const double length = std::pow(o.t_mul, period);
    fraction = (fraction - (1 - length) / (1 - o.t_mul)) / length;
  }
  return *o.initial_learning_rate *
         ((1 - o.alpha) * std::pow(o.m_mul, period) * half_cosine(fraction) + o.alpha);
}

}  // namespace

LearningRate::LearningRate(const Value& value) {
  if (value.is_config()) schedule_ = Schedule(value);
  else value_ = value.number("[Optimizer] learning_rate");
}

ExponentialDecay::ExponentialDecay(const ExponentialDecayOptions& options)
    : Schedule(function_object<ScheduleImpl>("ExponentialDecay", options, exponential)) {
  expect_given("ExponentialDecay", "initial_learning_rate", options.initial_learning_rate);
  expect_given("ExponentialDecay", "decay_rate", options.decay_rate);
  expect_steps("ExponentialDecay", "decay_steps", options.decay_steps);
}

InverseTimeDecay::InverseTimeDecay(const InverseTimeDecayOptions& options)
    : Schedule(function_object<ScheduleImpl>("InverseTimeDecay", options, inverse_time)) {
  expect_given("InverseTimeDecay", "initial_learning_rate", options.initial_learning_rate);
  expect_given("InverseTimeDecay", "decay_rate", options.decay_rate);
  expect_steps("InverseTimeDecay", "decay_steps", options.decay_steps);
}

PiecewiseConstantDecay::PiecewiseConstantDecay(const PiecewiseConstantDecayOptions& options)
    : Schedule(function_object<ScheduleImpl>("PiecewiseConstantDecay", options, piecewise)) {
  if (options.values.size() != options.boundaries.size() + 1)
    fail("[PiecewiseConstantDecay] there must be one value more than boundaries: received ",
         options.boundaries.size(), " boundaries and ", options.values.size(), " values");
  if (!std::is_sorted(options.boundaries.begin(), options.boundaries.end()))
    fail("[PiecewiseConstantDecay] the boundaries must increase: received boundaries=",
         Value(options.boundaries));
}

PolynomialDecay::PolynomialDecay(const PolynomialDecayOptions& options)
    : Schedule(function_object<ScheduleImpl>("PolynomialDecay", options, polynomial)) {
  expect_given("PolynomialDecay", "initial_learning_rate", options.initial_learning_rate);
  expect_steps("PolynomialDecay", "decay_steps", options.decay_steps);
}

CosineDecay::CosineDecay(const CosineDecayOptions& options)
    : Schedule(function_object<ScheduleImpl>("CosineDecay", options, cosine)) {
  expect_given("CosineDecay", "initial_learning_rate", options.initial_learning_rate);
  expect_steps("CosineDecay", "decay_steps", options.decay_steps);
}

CosineDecayRestarts::CosineDecayRestarts(const CosineDecayRestartsOptions& options)
    : Schedule(function_object<ScheduleImpl>("CosineDecayRestarts", options, cosine_restarts)) {
  expect_given("CosineDecayRestarts", "initial_learning_rate", options.initial_learning_rate);
  expect_steps("CosineDecayRestarts", "first_decay_steps", options.first_decay_steps);
  if (!(options.t_mul >= 1))
    fail("[CosineDecayRestarts] t_mul must be at least 1: received t_mul=", options.t_mul);
}

void add_schedules(ClassRegistry& registry) {
  registry.add<ExponentialDecay, ExponentialDecayOptions>("ExponentialDecay");
  registry.add<InverseTimeDecay, InverseTimeDecayOptions>("InverseTimeDecay");
  registry.add<PiecewiseConstantDecay, PiecewiseConstantDecayOptions>("PiecewiseConstantDecay");
  registry.add<PolynomialDecay, PolynomialDecayOptions>("PolynomialDecay");
  registry.add<CosineDecay, CosineDecayOptions>("CosineDecay");
  registry.add<CosineDecayRestarts, CosineDecayRestartsOptions>("CosineDecayRestarts");
}

}  // namespace ktape::nn
