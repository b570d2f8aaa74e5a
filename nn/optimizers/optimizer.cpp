#include <ktape/autograd/base/log.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/nn/core/loading.hpp>
#include <ktape/nn/core/names.hpp>
#include <ktape/nn/optimizers/internal/fields.hpp>
#include <ktape/nn/optimizers/internal/row_gradients.hpp>
#include <ktape/nn/optimizers/optimizer.hpp>
#include <ktape/nn/optimizers/process_group.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/optimizer_update.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/updates.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::nn {
namespace K = backend;
namespace {

void check(const std::string& op, const OptimizerOptions& o) {
  if (o.clipnorm.has_value() + o.clipvalue.has_value() + o.global_clipnorm.has_value() > 1)
    fail("[", op, "] only one of clipnorm, clipvalue and global_clipnorm may be set: received clipnorm=",
         Value(o.clipnorm), ", clipvalue=", Value(o.clipvalue),
         ", global_clipnorm=", Value(o.global_clipnorm));
  if (o.use_ema && !(o.ema_momentum >= 0 && o.ema_momentum <= 1))
    fail("[", op, "] ema_momentum must be in [0, 1]: received ema_momentum=", o.ema_momentum);
  if (o.use_ema && o.ema_overwrite_frequency.value_or(1) < 1)
    fail("[", op, "] ema_overwrite_frequency must be at least 1: received ema_overwrite_frequency=",
         *o.ema_overwrite_frequency);
  if (o.gradient_accumulation_steps.value_or(2) < 2)
    fail("[", op, "] gradient_accumulation_steps must be at least 2: received gradient_accumulation_steps=",
         *o.gradient_accumulation_steps);
}

double norm_of(const Tensor& gradient) {
  return K::norm(gradient.dtype().is_half() ? K::as_dtype(gradient, "float32") : gradient).item<double>();
}

Variable state_variable(const OptimizerImpl& optimizer, const Variable& of, const StateOptions& state) {
  std::string path = of.name();
  std::replace(path.begin(), path.end(), '/', '_');
  const Shape& shape = state.shape ? *state.shape : of.shape();
  Tensor start = state.initial_value == 0 ? weight_loading_scope::zeros(shape, of.dtype()) : Tensor();
  if (!start.defined()) start = K::full(shape, state.initial_value, of.dtype());
  return Variable(start, optimizer.name() + '/' + path + '_' + state.name);
}

}  // namespace

OptimizerImpl::OptimizerImpl(std::string class_name, OptimizerOptions options)
    : class_name_(std::move(class_name)), options_(std::move(options)) {
  check(class_name_, options_);
  if (options_.name.empty()) options_.name = to_snake_case(class_name_);
  iterations_ = Variable(K::zeros({}, {.dtype = "int64"}), options_.name + "/iteration");
  learning_rate_ = Variable(K::full({}, options_.learning_rate.initial()), options_.name + "/learning_rate");
}

Config OptimizerImpl::get_config() const {
  OptimizerOptions now = options_;
  if (!now.learning_rate.schedule().defined()) now.learning_rate = learning_rate_.item<double>();
  return config_of(now);
}

std::vector<StateOptions> OptimizerImpl::state_of(const Variable&) const { return {}; }

void OptimizerImpl::update_step(const Tensor&, Variable, const OptimizerStep&) {
  fail("[", class_name_, "] an optimizer must override update_step");
}

void OptimizerImpl::fused_step(const Tensor& gradient, Variable variable, const op_helpers::Preparation& how,
                               const OptimizerStep& step) {
  Tensor g = RowGradient{gradient, how.rows}.whole(variable.shape());
  if (how.scale != 1) g = g * how.scale;
  if (std::isfinite(how.bound)) g = K::clip(g, -how.bound, how.bound);
  if (how.keep != 1) K::update(variable, variable * how.keep);
  update_step(g, variable, step);
}

void OptimizerImpl::start_updates(double) {}

Variable OptimizerImpl::add_variable(const std::string& name, const Tensor& value) {
  more_.emplace_back(value, options_.name + '/' + name);
  return more_.back();
}

OptimizerImpl::Slot OptimizerImpl::make_slot(const Variable& variable) {
  Slot slot{variable, {}, {}, {}, !excluded(variable)};
  if (options_.use_ema) slot.average = state_variable(*this, variable, {.name = "average"});
  if (options_.gradient_accumulation_steps)
    slot.accumulator = state_variable(*this, variable, {.name = "gradient_accumulator"});
  for (const StateOptions& state : state_of(variable))
    slot.state.push_back(state_variable(*this, variable, state));
  return slot;
}

void OptimizerImpl::build(const std::vector<Variable>& variables) {
  if (!slots_.empty()) return;
  for (const Variable& variable : variables)
    if (!variable.dtype().is_floating())
      fail<TypeError>("[", class_name_, "] variables must be floating: received '", variable.name(), "' of ",
                      variable.dtype());
  for (const Variable& variable : variables) slots_.push_back(make_slot(variable));
}

OptimizerImpl::Slot& OptimizerImpl::slot_of(const Variable& variable, std::size_t position) {
  if (position < slots_.size() && slots_[position].variable.is(variable)) return slots_[position];
  for (Slot& slot : slots_)
    if (slot.variable.is(variable)) return slot;
  fail("[", class_name_,
       "] an optimizer is for the variables of its first call (compile the model again with another one "
       "when layers are thawed): received '",
       variable.name(), "'");
}

/// Returns the defined gradients, each with its variable.
std::vector<OptimizerImpl::Gradient> OptimizerImpl::checked(const std::vector<RowGradient>& gradients,
                                                            const std::vector<Variable>& variables,
                                                            double loss_scale) {
  if (gradients.size() != variables.size())
    fail("[", class_name_, "] there must be one gradient for each variable: received ", gradients.size(),
         " gradients and ", variables.size(), " variables");
  const double scale = 1 / loss_scale;
  std::vector<Gradient> out;
  out.reserve(gradients.size());
  std::string missing;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    Slot& slot = slot_of(variables[i], i);
    const RowGradient& gradient = gradients[i];
    if (!gradient.value.defined()) {
      if (!warned_) missing += (missing.empty() ? "'" : ", '") + variables[i].name() + "'";
      continue;
    }
    if (!gradient.of_rows() && gradient.value.shape() != variables[i].shape())
      fail("[", class_name_, "] a gradient must have the shape ", variables[i].shape(), " of '",
           variables[i].name(), "': received ", gradient.value.shape());
    expect_value(class_name_.c_str(), gradient.value);
    const DType dtype = variables[i].dtype();
    out.push_back({&slot,
                   gradient.value.dtype() == dtype ? gradient.value : K::as_dtype(gradient.value, dtype),
                   gradient.rows, scale});
  }
  if (out.empty())
    fail("[", class_name_, "] at least one variable must have a gradient: received None for all");
  if (!missing.empty() && log::enabled(log::Level::Warn)) {
    warned_ = true;
    log::write(log::Level::Warn, "[" + class_name_ + "] no gradient for " + missing + ": left as they are");
  }
  return out;
}

/// Adds the gradients to the accumulators. If an update is due, replaces the gradients by their means and
/// returns true.
bool OptimizerImpl::accumulate(std::vector<Gradient>& gradients) {
  if (!options_.gradient_accumulation_steps) return true;
  const int steps = *options_.gradient_accumulation_steps;
  const bool due = (calls() + 1) % steps == 0;
  for (Gradient& gradient : gradients) {
    const Variable& accumulator = gradient.slot->accumulator;
    const Tensor whole = RowGradient{gradient.value, gradient.rows}.whole(accumulator.shape());
    // The scale of a loss may change from call to call, so the sum is of gradients without the scale.
    const Tensor sum = K::update_add(accumulator, gradient.scale == 1 ? whole : whole * gradient.scale);
    if (due) gradient.value = sum, gradient.rows = Tensor(), gradient.scale = 1. / steps;
  }
  if (due)
    for (Slot& slot : slots_) K::update(slot.accumulator, K::zeros_like(slot.accumulator));
  return due;
}

void OptimizerImpl::clip(std::vector<Gradient>& gradients) const {
  if (const double most = options_.clipnorm.value_or(0); most > 0) {
    for (Gradient& g : gradients) {
      const double norm = norm_of(g.value) * g.scale;
      if (!(norm <= most)) g.scale *= most / norm;
    }
  } else if (const double most = options_.global_clipnorm.value_or(0); most > 0) {
    double squares = 0;
    for (const Gradient& g : gradients) squares += std::pow(norm_of(g.value) * g.scale, 2);
    const double norm = std::sqrt(squares);
    // An infinite norm leaves no direction. The update becomes NaN, so that users notice.
    const double factor = std::isfinite(norm) ? most / std::max(norm, most) : NAN;
    for (Gradient& g : gradients) g.scale *= factor;
  }
}

void OptimizerImpl::update(const std::vector<Gradient>& gradients) {
  const double rate = learning_rate().item<double>(), number = static_cast<double>(updates() + 1);
  start_updates(number);
  op_helpers::Preparation how;
  if (options_.clipvalue.value_or(0) > 0) how.bound = *options_.clipvalue;
  for (const Gradient& gradient : gradients) {
    how.scale = gradient.scale;
    how.rows = gradient.rows;
    how.keep = gradient.slot->decays ? 1 - options_.weight_decay.value_or(0) * rate : 1;
    how.all_rows = !ignores_zeros() || how.keep != 1;
    fused_step(gradient.value, gradient.slot->variable, how, {gradient.slot->state, rate, number});
  }
}

void OptimizerImpl::average() {
  const std::int64_t before = updates();
  for (Slot& slot : slots_)
    K::moving_average_update(slot.average, slot.variable.value(), before == 0 ? 0 : options_.ema_momentum);
  if (options_.ema_overwrite_frequency && (before + 1) % *options_.ema_overwrite_frequency == 0)
    finalize_variable_values();
}

void OptimizerImpl::apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) {
  std::vector<RowGradient> whole;
  whole.reserve(gradients.size());
  for (const Tensor& gradient : gradients) whole.push_back({gradient, {}});
  apply(process_group() ? process_group()->mean(std::move(whole), variables) : whole, variables);
}

void OptimizerImpl::apply(const std::vector<RowGradient>& gradients, const std::vector<Variable>& variables) {
  apply_scaled(gradients, variables, options_.loss_scale_factor.value_or(1));
}

void OptimizerImpl::apply_scaled(const std::vector<RowGradient>& gradients,
                                 const std::vector<Variable>& variables, double scale) {
  if (gradients.empty() && variables.empty()) return;
  const NoGrad off;
  build(variables);
  std::vector<Gradient> present = checked(gradients, variables, scale);
  if (accumulate(present)) {
    clip(present);
    update(present);
  }
  if (options_.use_ema) average();
  iterations_.modify([](void* to, const void* from) {
    *static_cast<std::int64_t*>(to) = *static_cast<const std::int64_t*>(from) + 1;
  });
  for (const Gradient& gradient : present) {
    Variable& variable = gradient.slot->variable;
    if (variable.constraint()) variable.assign(variable.constraint()(variable));
  }
}

void OptimizerImpl::exclude_from_weight_decay(const std::vector<Variable>& variables,
                                              const std::vector<std::string>& names) {
  if (!slots_.empty())
    fail("[", class_name_, "] exclude_from_weight_decay must come before the first apply: received it after");
  excluded_ = variables;
  excluded_names_ = names;
}

std::vector<Variable> OptimizerImpl::built_for() const {
  std::vector<Variable> variables;
  for (const Slot& slot : slots_) variables.push_back(slot.variable);
  return variables;
}

bool OptimizerImpl::excluded(const Variable& variable) const {
  return std::any_of(excluded_.begin(), excluded_.end(), [&](const Variable& v) { return v.is(variable); }) ||
         std::any_of(excluded_names_.begin(), excluded_names_.end(), [&](const std::string& word) {
           return variable.name().find(word) != std::string::npos;
         });
}

void OptimizerImpl::finalize_variable_values() {
  if (!options_.use_ema) return;
  const NoGrad off;
  for (Slot& slot : slots_) slot.variable.assign(slot.average.value());
}

Variable OptimizerImpl::learning_rate() const {
  const Schedule& schedule = options_.learning_rate.schedule();
  if (schedule.defined()) K::set_value(learning_rate_, schedule(calls()));
  return learning_rate_;
}

void OptimizerImpl::set_learning_rate(const LearningRate& rate) {
  if (!rate.schedule().defined()) {
    if (options_.learning_rate.schedule().defined())
      fail<TypeError>("[", class_name_, "] the learning rate follows a schedule and cannot be set: received ",
                      rate.initial());
    K::set_value(learning_rate_, rate.initial());
  }
  options_.learning_rate = rate;
}

std::int64_t OptimizerImpl::calls() const { return iterations().item<std::int64_t>(); }
std::int64_t OptimizerImpl::updates() const {
  return calls() / options().gradient_accumulation_steps.value_or(1);
}

std::vector<Variable> OptimizerImpl::variables() const {
  std::vector<Variable> all{iterations_};
  if (!options_.learning_rate.schedule().defined()) all.push_back(learning_rate_);
  for (const Slot& slot : slots_) {
    if (slot.average.defined()) all.push_back(slot.average);
    if (slot.accumulator.defined()) all.push_back(slot.accumulator);
  }
  for (const Slot& slot : slots_) all.insert(all.end(), slot.state.begin(), slot.state.end());
  all.insert(all.end(), more_.begin(), more_.end());
  return all;
}

void Optimizer::apply_gradients(
    const std::vector<std::pair<Tensor, Variable>>& gradients_and_variables) const {
  std::vector<Tensor> gradients;
  std::vector<Variable> variables;
  for (const auto& [gradient, variable] : gradients_and_variables)
    gradients.push_back(gradient), variables.push_back(variable);
  apply(gradients, variables);
}

void Optimizer::minimize(const Tensor& loss, const std::vector<Variable>& variables) const {
  const Tensor scaled = scale_loss(loss);
  const NoGrad off;
  ProcessGroup* process_group = impl().process_group();
  impl().apply(
      process_group ? process_group->mean_gradients(scaled, variables) : row_gradients(scaled, variables),
      variables);
}

Tensor Optimizer::scale_loss(const Tensor& loss) const {
  const double factor = impl().loss_scale();
  return factor == 1 ? loss : loss * factor;
}

}  // namespace ktape::nn
