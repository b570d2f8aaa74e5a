#include <ktape/nn/optimizers/internal/fields.hpp>
#include <ktape/nn/optimizers/sgd.hpp>
#include <ktape/ops/optimizer_update.hpp>

#include <cmath>

namespace ktape::nn {

template <class F>
void fields(SGDOptions& o, F&& field) {
  shared_fields(o, field);
  field("momentum", o.momentum);
  field("nesterov", o.nesterov);
}
template <class F>
void fields(LionOptions& o, F&& field) {
  shared_fields(o, field);
  field("beta_1", o.beta_1);
  field("beta_2", o.beta_2);
}
template <class F>
void fields(FtrlOptions& o, F&& field) {
  shared_fields(o, field);
  field("learning_rate_power", o.learning_rate_power);
  field("initial_accumulator_value", o.initial_accumulator_value);
  field("l1_regularization_strength", o.l1_regularization_strength);
  field("l2_regularization_strength", o.l2_regularization_strength);
  field("l2_shrinkage_regularization_strength", o.l2_shrinkage_regularization_strength);
  field("beta", o.beta);
}

namespace {

using op_helpers::Preparation;

struct SGDImpl final : OptimizerWith<SGDOptions> {
  explicit SGDImpl(const SGDOptions& o) : OptimizerWith("SGD", "SGD", o) {
    if (!(o.momentum >= 0 && o.momentum <= 1))
      fail("[SGD] momentum must be in [0, 1]: received momentum=", o.momentum);
  }

  std::vector<StateOptions> state_of(const Variable&) const override {
    if (own().momentum == 0) return {};
    return {{.name = "momentum"}};
  }

  bool ignores_zeros() const override { return own().momentum == 0; }

  void fused_step(const Tensor& gradient, Variable variable, const Preparation& how,
                  const OptimizerStep& step) override {
    const double rate = step.learning_rate, momentum = own().momentum;
    if (momentum == 0)
      return op_helpers::update<0>(variable, gradient, {}, how,
                                   [rate](const auto& x, const auto& g, auto&) { return x - g * rate; });
    if (own().nesterov)
      return op_helpers::update<1>(variable, gradient, step.state, how,
                                   [rate, momentum](const auto& x, const auto& g, auto& state) {
                                     state[0] = state[0] * momentum - g * rate;
                                     return x + state[0] * momentum - g * rate;
                                   });
    op_helpers::update<1>(variable, gradient, step.state, how,
                          [rate, momentum](const auto& x, const auto& g, auto& state) {
                            state[0] = state[0] * momentum - g * rate;
                            return x + state[0];
                          });
  }
};

struct LionImpl final : OptimizerWith<LionOptions> {
  explicit LionImpl(const LionOptions& o) : OptimizerWith("Lion", "lion", o) {
    if (!(o.beta_1 > 0 && o.beta_1 <= 1)) fail("[Lion] beta_1 must be in (0, 1]: received beta_1=", o.beta_1);
  }

  std::vector<StateOptions> state_of(const Variable&) const override { return {{.name = "momentum"}}; }

  void fused_step(const Tensor& gradient, Variable variable, const Preparation& how,
                  const OptimizerStep& step) override {
    const auto update = [rate = step.learning_rate, b1 = own().beta_1, b2 = own().beta_2](
                            const auto& x, const auto& g, auto& state) {
      const auto direction = state[0] * b1 + g * (1 - b1);
      state[0] = state[0] * b2 + g * (1 - b2);
      const decltype(x * rate) by(rate), zero(0.0);
      // NaN is neither above nor below 0; the product with zero keeps NaN in the update.
      return x - xsimd::select(direction > 0, by, xsimd::select(direction < 0, -by, direction * zero));
    };
    op_helpers::update<1>(variable, gradient, step.state, how, update);
  }
};

void expect_not_negative(const char* name, double value) {
  if (!(value >= 0)) fail("[Ftrl] ", name, " must be at least 0: received ", name, '=', value);
}

struct FtrlImpl final : OptimizerWith<FtrlOptions> {
  explicit FtrlImpl(const FtrlOptions& o) : OptimizerWith("Ftrl", "ftrl", o) {
    expect_not_negative("initial_accumulator_value", o.initial_accumulator_value);
    expect_not_negative("l1_regularization_strength", o.l1_regularization_strength);
    expect_not_negative("l2_regularization_strength", o.l2_regularization_strength);
    expect_not_negative("l2_shrinkage_regularization_strength", o.l2_shrinkage_regularization_strength);
    if (!(o.learning_rate_power <= 0))
      fail("[Ftrl] learning_rate_power must be at most 0: received learning_rate_power=",
           o.learning_rate_power);
  }

  std::vector<StateOptions> state_of(const Variable&) const override {
    return {{.name = "accumulator", .initial_value = own().initial_accumulator_value}, {.name = "linear"}};
  }

  void fused_step(const Tensor& gradient, Variable variable, const Preparation& how,
                  const OptimizerStep& step) override {
    const FtrlOptions& o = own();
    const double rate = step.learning_rate, l2 = o.l2_regularization_strength + o.beta / (2 * rate);
    const auto update = [rate, l2, l1 = o.l1_regularization_strength, power = -o.learning_rate_power,
                         shrinkage = 2 * o.l2_shrinkage_regularization_strength](const auto& x, const auto& g,
                                                                                 auto& state) {
      using B = std::decay_t<decltype(x)>;
      auto& [sum, linear] = state;
      const auto root = [power](const B& a) {
        return power == 0.5 ? xsimd::sqrt(a) : xsimd::pow(a, B(power));
      };
      const B before = root(sum);
      sum = sum + g * g;
      const B after = root(sum);
      linear = linear + g + x * shrinkage - (after - before) / rate * x;
      const B most(l1),
          clipped = xsimd::select(linear > most, most, xsimd::select(linear < -most, -most, linear));
      return (clipped - linear) / (after / rate + 2 * l2);
    };
    op_helpers::update<2>(variable, gradient, step.state, how, update);
  }
};

}  // namespace

SGD::SGD(const SGDOptions& options) : Optimizer(std::make_shared<SGDImpl>(options)) {}
Lion::Lion(const LionOptions& options) : Optimizer(std::make_shared<LionImpl>(options)) {}
Ftrl::Ftrl(const FtrlOptions& options) : Optimizer(std::make_shared<FtrlImpl>(options)) {}

void add_sgd_optimizers(ClassRegistry& registry) {
  registry.add<SGD, SGDOptions>("SGD");
  registry.add<Lion, LionOptions>("Lion");
  registry.add<Ftrl, FtrlOptions>("Ftrl");
}

}  // namespace ktape::nn
