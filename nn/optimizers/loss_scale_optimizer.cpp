#include <ktape/autograd/tape.hpp>
#include <ktape/nn/core/class_registry.hpp>
#include <ktape/nn/core/registry.hpp>
#include <ktape/nn/optimizers/internal/row_gradients.hpp>
#include <ktape/nn/optimizers/loss_scale_optimizer.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/updates.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::nn {
namespace K = backend;
namespace {

constexpr const char* class_name_of_scale = "LossScaleOptimizer";

/// Returns whether the sum of all elements, each times 0, is 0: then no element is infinite or NaN.
bool all_finite(const Tensor& x) { return K::sum(x * 0.).item<double>() == 0; }

class LossScaleOptimizerImpl final : public OptimizerImpl {
 public:
  LossScaleOptimizerImpl(const Optimizer& inner, const LossScaleOptimizerOptions& given)
      : OptimizerImpl(class_name_of_scale, {.learning_rate = 0., .name = given.name}),
        inner_(inner),
        given_(given) {
    const auto check = [](bool holds, const char* rule, const auto& received) {
      if (!holds) fail("[LossScaleOptimizer] ", rule, received);
    };
    check(inner.defined(), "inner_optimizer must be an optimizer: received ", "None");
    check(inner.class_name() != class_name_of_scale,
          "inner_optimizer must not be a LossScaleOptimizer: received '", inner.name() + '\'');
    check(given.initial_scale > 0 && std::isfinite(static_cast<float>(given.initial_scale)),
          "initial_scale must be positive and finite: received initial_scale=", given.initial_scale);
    check(given.dynamic_growth_steps >= 1,
          "dynamic_growth_steps must be at least 1: received dynamic_growth_steps=",
          given.dynamic_growth_steps);
    step_counter_ = add_variable("step_counter", K::zeros({}, {.dtype = "int32"}));
    dynamic_scale_ = add_variable("dynamic_scale", K::full({}, given.initial_scale, "float32"));
  }

  Config get_config() const override {
    return {{"name", name()},
            {"inner_optimizer", with_module(kind, inner_.to_value())},
            {"initial_scale", given_.initial_scale},
            {"dynamic_growth_steps", given_.dynamic_growth_steps}};
  }

  const Optimizer& inner() const { return inner_; }
  const Variable& dynamic_scale() const { return dynamic_scale_; }
  const Variable& step_counter() const { return step_counter_; }

  using OptimizerImpl::apply;
  void apply(const std::vector<RowGradient>& gradients, const std::vector<Variable>& variables) override {
    const NoGrad off;
    build(variables);
    const auto finite = [](const RowGradient& gradient) {
      return !gradient.value.defined() || all_finite(gradient.value);
    };
    if (!std::all_of(gradients.begin(), gradients.end(), finite)) return rescale(0.5);
    inner().impl().apply_scaled(gradients, variables, loss_scale());
    const auto steps = step_counter_.item<std::int32_t>() + 1;
    if (steps >= given_.dynamic_growth_steps) rescale(2);
    else K::update_add(step_counter_, 1);
  }
  double loss_scale() const override { return dynamic_scale_.item<double>(); }

  void build(const std::vector<Variable>& variables) override { inner_.build(variables); }
  void exclude_from_weight_decay(const std::vector<Variable>& variables,
                                 const std::vector<std::string>& names) override {
    inner_.exclude_from_weight_decay(variables, names);
  }
  void finalize_variable_values() override { inner_.finalize_variable_values(); }
  const OptimizerOptions& options() const override { return inner_.impl().options(); }
  Variable learning_rate() const override { return inner_.learning_rate(); }
  void set_learning_rate(const LearningRate& rate) override { inner_.set_learning_rate(rate); }
  Variable iterations() const override { return inner_.iterations(); }
  /// Returns the variables in the order of Keras's files: two that have no effect, as every optimizer of Keras
  /// has them; the state of the factor; the variables of the inner optimizer.
  std::vector<Variable> variables() const override {
    std::vector<Variable> all = OptimizerImpl::variables();
    const std::vector<Variable> inner = inner_.variables();
    all.insert(all.end(), inner.begin(), inner.end());
    return all;
  }
  bool built() const override { return inner_.impl().built(); }
  std::vector<Variable> built_for() const override { return inner_.impl().built_for(); }
  bool excluded(const Variable& variable) const override { return inner_.impl().excluded(variable); }
  const std::vector<std::string>& excluded_names() const override { return inner_.impl().excluded_names(); }
  ProcessGroup* process_group() const override { return inner_.impl().process_group(); }
  void set_process_group(std::shared_ptr<ProcessGroup> process_group) override {
    inner_.impl().set_process_group(std::move(process_group));
  }

 private:
  void rescale(double factor) {
    K::update(step_counter_, 0);
    const double scale = loss_scale() * factor;
    // The factor stays a positive float32, so that the gradients of later steps can be divided.
    if (scale > 0 && std::isfinite(static_cast<float>(scale)) && static_cast<float>(scale) > 0)
      K::update(dynamic_scale_, scale);
  }

  const Optimizer inner_;
  const LossScaleOptimizerOptions given_;
  Variable step_counter_, dynamic_scale_;
};

const LossScaleOptimizerImpl* as_loss_scale(const Optimizer& optimizer) {
  return optimizer.defined() ? dynamic_cast<const LossScaleOptimizerImpl*>(&optimizer.impl()) : nullptr;
}

/// Throws ValueError for an argument that the optimizer does not have. Files of Keras may have the options of
/// all optimizers, with values that have no effect.
void expect_known(const Config& config) {
  static const Config without_effect{{"weight_decay", Value()},
                                     {"clipnorm", Value()},
                                     {"global_clipnorm", Value()},
                                     {"clipvalue", Value()},
                                     {"use_ema", false},
                                     {"ema_momentum", 0.99},
                                     {"ema_overwrite_frequency", Value()},
                                     {"loss_scale_factor", Value()},
                                     {"gradient_accumulation_steps", Value()}};
  for (const auto& [argument, value] : config) {
    if (value.is_null() || argument == "name" || argument == "inner_optimizer" ||
        argument == "initial_scale" || argument == "dynamic_growth_steps")
      continue;
    if (!without_effect.contains(argument))
      fail(
          "[LossScaleOptimizer] an argument must be 'inner_optimizer', 'initial_scale', "
          "'dynamic_growth_steps', 'name' or an "
          "option of all optimizers: received ",
          argument, '=', value);
    if (value != without_effect.at(argument))
      fail("[LossScaleOptimizer] ", argument, " must be an option of inner_optimizer: received ", argument,
           '=', value);
  }
}

Optimizer loss_scale_from(const Config& config) {
  expect_known(config);
  LossScaleOptimizerOptions options;
  const std::string what = "[LossScaleOptimizer] ";
  if (const Value name = config.get("name"); !name.is_null()) options.name = name.string(what + "name");
  if (const Value scale = config.get("initial_scale"); !scale.is_null())
    options.initial_scale = scale.number(what + "initial_scale");
  if (const Value steps = config.get("dynamic_growth_steps"); !steps.is_null())
    options.dynamic_growth_steps = steps.integer(what + "dynamic_growth_steps");
  // A name alone stands for the default optimizer of compile.
  return LossScaleOptimizer(Optimizer(config.get("inner_optimizer", "rmsprop")), options);
}

}  // namespace

LossScaleOptimizer::LossScaleOptimizer(const LossScaleOptimizerOptions& options)
    : Optimizer(std::make_shared<LossScaleOptimizerImpl>(options.inner_optimizer, options)) {}

Optimizer LossScaleOptimizer::inner_optimizer() const { return as_loss_scale(*this)->inner(); }
Variable LossScaleOptimizer::dynamic_scale() const { return as_loss_scale(*this)->dynamic_scale(); }
Variable LossScaleOptimizer::step_counter() const { return as_loss_scale(*this)->step_counter(); }

Optimizer without_loss_scale(const Optimizer& optimizer) {
  const LossScaleOptimizerImpl* const scaled = as_loss_scale(optimizer);
  return scaled ? scaled->inner() : optimizer;
}

void add_loss_scale_optimizer(ClassRegistry& registry) {
  registry.add(class_name_of_scale, Factory(loss_scale_from));
}

}  // namespace ktape::nn
