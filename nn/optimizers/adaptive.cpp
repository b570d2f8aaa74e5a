#include <ktape/nn/optimizers/adaptive.hpp>
#include <ktape/nn/optimizers/internal/fields.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/optimizer_update.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/updates.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(RMSpropOptions& o, F&& field) {
  shared_fields(o, field);
  field("rho", o.rho);
  field("momentum", o.momentum);
  field("epsilon", o.epsilon);
  field("centered", o.centered);
}
template <class F>
void fields(AdagradOptions& o, F&& field) {
  shared_fields(o, field);
  field("initial_accumulator_value", o.initial_accumulator_value);
  field("epsilon", o.epsilon);
}
template <class F>
void fields(AdadeltaOptions& o, F&& field) {
  shared_fields(o, field);
  field("rho", o.rho);
  field("epsilon", o.epsilon);
}
template <class F>
void fields(AdafactorOptions& o, F&& field) {
  shared_fields(o, field);
  field("beta_2_decay", o.beta_2_decay);
  field("epsilon_1", o.epsilon_1);
  field("epsilon_2", o.epsilon_2);
  field("clip_threshold", o.clip_threshold);
  field("relative_step", o.relative_step);
}

namespace {

using op_helpers::Preparation;

void expect_rho(const char* optimizer, double rho) {
  if (!(rho >= 0 && rho <= 1)) fail("[", optimizer, "] rho must be in [0, 1]: received rho=", rho);
}

struct RMSpropImpl final : OptimizerWith<RMSpropOptions> {
  explicit RMSpropImpl(const RMSpropOptions& o) : OptimizerWith("RMSprop", "rmsprop", o) {
    expect_rho("RMSprop", o.rho);
    if (!(o.momentum >= 0 && o.momentum <= 1))
      fail("[RMSprop] momentum must be in [0, 1]: received momentum=", o.momentum);
  }

  std::vector<StateOptions> state_of(const Variable&) const override {
    std::vector<StateOptions> state{{.name = "velocity"}};
    if (own().momentum > 0) state.push_back({.name = "momentum"});
    if (own().centered) state.push_back({.name = "average_gradient"});
    return state;
  }

  void fused_step(const Tensor& gradient, Variable variable, const Preparation& how,
                  const OptimizerStep& step) override {
    if (own().momentum == 0)
      return own().centered ? run<false, true>(gradient, variable, how, step)
                            : run<false, false>(gradient, variable, how, step);
    return own().centered ? run<true, true>(gradient, variable, how, step)
                          : run<true, false>(gradient, variable, how, step);
  }

 private:
  template <bool with_momentum, bool centered>
  void run(const Tensor& gradient, const Variable& variable, const Preparation& how,
           const OptimizerStep& step) const {
    const auto update = [rate = step.learning_rate, rho = own().rho, momentum = own().momentum,
                         epsilon = own().epsilon](const auto& x, const auto& g, auto& state) {
      auto& velocity = state[0];
      velocity = velocity * rho + g * g * (1 - rho);
      auto square = velocity + epsilon;
      if constexpr (centered) {
        auto& mean = state[1 + with_momentum];
        mean = mean * rho + g * (1 - rho);
        square = square - mean * mean;
      }
      const auto by = g * rate / xsimd::sqrt(square);
      if constexpr (!with_momentum) return x - by;
      else return x - (state[1] = state[1] * momentum + by);
    };
    op_helpers::update<1 + with_momentum + centered>(variable, gradient, step.state, how, update);
  }
};

struct AdagradImpl final : OptimizerWith<AdagradOptions> {
  explicit AdagradImpl(const AdagradOptions& o) : OptimizerWith("Adagrad", "adagrad", o) {
    if (!(o.initial_accumulator_value >= 0))
      fail("[Adagrad] initial_accumulator_value must be at least 0: received initial_accumulator_value=",
           o.initial_accumulator_value);
  }

  std::vector<StateOptions> state_of(const Variable&) const override {
    return {{.name = "accumulator", .initial_value = own().initial_accumulator_value}};
  }

  bool ignores_zeros() const override { return true; }

  void fused_step(const Tensor& gradient, Variable variable, const Preparation& how,
                  const OptimizerStep& step) override {
    op_helpers::update<1>(
        variable, gradient, step.state, how,
        [rate = step.learning_rate, epsilon = own().epsilon](const auto& x, const auto& g, auto& state) {
          state[0] = state[0] + g * g;
          return x - g * rate / xsimd::sqrt(state[0] + epsilon);
        });
  }
};

struct AdadeltaImpl final : OptimizerWith<AdadeltaOptions> {
  explicit AdadeltaImpl(const AdadeltaOptions& o) : OptimizerWith("Adadelta", "adadelta", o) {
    expect_rho("Adadelta", o.rho);
  }

  std::vector<StateOptions> state_of(const Variable&) const override {
    return {{.name = "accumulated_grad"}, {.name = "accumulated_delta_var"}};
  }

  void fused_step(const Tensor& gradient, Variable variable, const Preparation& how,
                  const OptimizerStep& step) override {
    const auto update = [rate = step.learning_rate, rho = own().rho, epsilon = own().epsilon](
                            const auto& x, const auto& g, auto& state) {
      auto& [gradients, steps] = state;
      gradients = gradients * rho + g * g * (1 - rho);
      const auto by = xsimd::sqrt(steps + epsilon) * g / xsimd::sqrt(gradients + epsilon);
      steps = steps * rho + by * by * (1 - rho);
      return x - by * rate;
    };
    op_helpers::update<2>(variable, gradient, step.state, how, update);
  }
};

double root_mean_square(const Tensor& x) { return std::sqrt(K::mean(K::square(x)).item<double>()); }

struct AdafactorImpl final : OptimizerWith<AdafactorOptions> {
  explicit AdafactorImpl(const AdafactorOptions& o) : OptimizerWith("Adafactor", "adafactor", o) {}

  std::vector<StateOptions> state_of(const Variable& variable) const override {
    if (variable.ndim() < 2) return {{.name = "velocity"}};
    Shape rows = variable.shape(), columns = variable.shape();
    rows.erase(variable.ndim() - 1);
    columns.erase(variable.ndim() - 2);
    return {{.name = "r", .shape = rows}, {.name = "c", .shape = columns}};
  }

  void update_step(const Tensor& gradient, Variable variable, const OptimizerStep& step) override {
    const AdafactorOptions& o = own();
    const double relative = 1 / std::sqrt(step.number);
    const double size = std::max(o.epsilon_2, root_mean_square(variable));
    const Tensor by = gradient / K::sqrt(mean_squares(K::square(gradient) + o.epsilon_1, step));
    const double clipped = std::max(1.0, root_mean_square(by) / o.clip_threshold);
    K::update_sub(variable, by * (size * std::min(step.learning_rate, relative) / clipped));
  }

 private:
  /// Returns the moving average of the squares. For variables with 2 or more axes, the average is a product
  /// of the averages of rows and columns.
  Tensor mean_squares(const Tensor& squares, const OptimizerStep& step) const {
    const double keep = 1 - std::pow(step.number, own().beta_2_decay);
    const auto average = [keep](const Variable& of, const Tensor& value) {
      return K::update(of, keep * of.value() + (1 - keep) * value);
    };
    if (step.state.size() == 1) return average(step.state[0], squares);
    const Tensor rows = average(step.state[0], K::mean(squares, -1)),
                 columns = average(step.state[1], K::mean(squares, -2));
    return K::expand_dims(rows / K::mean(rows, -1, true), -1) * K::expand_dims(columns, -2);
  }
};

}  // namespace

RMSprop::RMSprop(const RMSpropOptions& options) : Optimizer(std::make_shared<RMSpropImpl>(options)) {}
Adagrad::Adagrad(const AdagradOptions& options) : Optimizer(std::make_shared<AdagradImpl>(options)) {}
Adadelta::Adadelta(const AdadeltaOptions& options) : Optimizer(std::make_shared<AdadeltaImpl>(options)) {}
Adafactor::Adafactor(const AdafactorOptions& options) : Optimizer(std::make_shared<AdafactorImpl>(options)) {}

void add_adaptive_optimizers(ClassRegistry& registry) {
  registry.add<RMSprop, RMSpropOptions>("RMSprop");
  registry.add<Adagrad, AdagradOptions>("Adagrad");
  registry.add<Adadelta, AdadeltaOptions>("Adadelta");
  registry.add<Adafactor, AdafactorOptions>("Adafactor");
}

}  // namespace ktape::nn
