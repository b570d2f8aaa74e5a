#include <ktape/nn/optimizers/adam.hpp>
#include <ktape/nn/optimizers/internal/fields.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/optimizer_update.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/updates.hpp>

#include <cmath>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(AdamOptions& o, F&& field) {
  shared_fields(o, field);
  field("beta_1", o.beta_1);
  field("beta_2", o.beta_2);
  field("epsilon", o.epsilon);
  field("amsgrad", o.amsgrad);
}
template <class F>
void fields(AdamWOptions& o, F&& field) {
  shared_fields(o, field);
  field("beta_1", o.beta_1);
  field("beta_2", o.beta_2);
  field("epsilon", o.epsilon);
  field("amsgrad", o.amsgrad);
}
template <class F>
void fields(AdamaxOptions& o, F&& field) {
  shared_fields(o, field);
  field("beta_1", o.beta_1);
  field("beta_2", o.beta_2);
  field("epsilon", o.epsilon);
}
template <class F>
void fields(NadamOptions& o, F&& field) {
  shared_fields(o, field);
  field("beta_1", o.beta_1);
  field("beta_2", o.beta_2);
  field("epsilon", o.epsilon);
}
template <class F>
void fields(LambOptions& o, F&& field) {
  shared_fields(o, field);
  field("beta_1", o.beta_1);
  field("beta_2", o.beta_2);
  field("epsilon", o.epsilon);
}

namespace {

using op_helpers::Preparation;

/// The base of optimizers that keep m and v for each variable.
template <class Options>
struct Moments : OptimizerWith<Options> {
  Moments(const char* class_name, const char* name, const Options& o)
      : OptimizerWith<Options>(class_name, name, o) {
    this->expect_fraction("beta_1", o.beta_1);
    this->expect_fraction("beta_2", o.beta_2);
  }
  std::vector<StateOptions> state_of(const Variable&) const override {
    return {{.name = "momentum"}, {.name = "velocity"}};
  }
};

/// The Impl class of Adam and AdamW, which differ only in the defaults of their options.
template <class Options>
struct AdamImpl final : Moments<Options> {
  using Moments<Options>::Moments;

  std::vector<StateOptions> state_of(const Variable& variable) const override {
    std::vector<StateOptions> state = Moments<Options>::state_of(variable);
    if (this->own().amsgrad) state.push_back({.name = "velocity_hat"});
    return state;
  }

  void fused_step(const Tensor& gradient, Variable variable, const Preparation& how,
                  const OptimizerStep& step) override {
    const Options& o = this->own();
    const double rate = step.learning_rate * correction_;
    if (!o.amsgrad)
      return op_helpers::update<2>(variable, gradient, step.state, how,
                                   op_helpers::AdamStep{rate, o.beta_1, o.beta_2, o.epsilon});
    const auto update = [rate, b1 = o.beta_1, b2 = o.beta_2, epsilon = o.epsilon](
                            const auto& x, const auto& g, auto& state) {
      auto& [m, v, most] = state;
      m = m * b1 + g * (1 - b1);
      v = v * b2 + g * g * (1 - b2);
      most = xsimd::select(most > v, most, v);
      return x - m * rate / (xsimd::sqrt(most) + epsilon);
    };
    op_helpers::update<3>(variable, gradient, step.state, how, update);
  }

 protected:
  void start_updates(double number) override {
    correction_ = op_helpers::adam_rate(1, this->own().beta_1, this->own().beta_2, number);
  }

 private:
  double correction_ = 1;
};

struct AdamaxImpl final : Moments<AdamaxOptions> {
  using Moments::Moments;

  std::vector<StateOptions> state_of(const Variable&) const override {
    return {{.name = "momentum"}, {.name = "norm"}};
  }

  void fused_step(const Tensor& gradient, Variable variable, const Preparation& how,
                  const OptimizerStep& step) override {
    const double rate = step.learning_rate / (1 - std::pow(own().beta_1, step.number));
    const auto update = [rate, b1 = own().beta_1, b2 = own().beta_2, epsilon = own().epsilon](
                            const auto& x, const auto& g, auto& state) {
      auto& [m, u] = state;
      const auto size = xsimd::abs(g), before = u * b2;
      m = m * b1 + g * (1 - b1);
      u = xsimd::select(before > size, before, size);
      return x - m * rate / (u + epsilon);
    };
    op_helpers::update<2>(variable, gradient, step.state, how, update);
  }
};

struct NadamImpl final : Moments<NadamOptions> {
  explicit NadamImpl(const NadamOptions& o) : Moments("Nadam", "nadam", o) {
    product_ = add_variable("u_product", K::ones({}));
  }

  void start_updates(double number) override { K::update(product_, product_ * momentum_at(number)); }

  void fused_step(const Tensor& gradient, Variable variable, const Preparation& how,
                  const OptimizerStep& step) override {
    const double now = momentum_at(step.number), next = momentum_at(step.number + 1);
    const double product = product_.item<double>();
    const auto update = [of_m = next / (1 - product * next), of_g = (1 - now) / (1 - product),
                         of_v = 1 / (1 - std::pow(own().beta_2, step.number)), rate = step.learning_rate,
                         b1 = own().beta_1, b2 = own().beta_2,
                         epsilon = own().epsilon](const auto& x, const auto& g, auto& state) {
      auto& [m, v] = state;
      m = m * b1 + g * (1 - b1);
      v = v * b2 + g * g * (1 - b2);
      return x - (m * of_m + g * of_g) * rate / (xsimd::sqrt(v * of_v) + epsilon);
    };
    op_helpers::update<2>(variable, gradient, step.state, how, update);
  }

 private:
  double momentum_at(double number) const { return own().beta_1 * (1 - 0.5 * std::pow(0.96, number)); }
  Variable product_;
};

struct LambImpl final : Moments<LambOptions> {
  using Moments::Moments;

  void update_step(const Tensor& gradient, Variable variable, const OptimizerStep& step) override {
    const LambOptions& o = own();
    const Tensor m = K::moving_average_update(step.state[0], gradient, o.beta_1);
    const Tensor v = K::moving_average_update(step.state[1], K::square(gradient), o.beta_2);
    const double of_m = 1 / (1 - std::pow(o.beta_1, step.number)),
                 of_v = 1 / (1 - std::pow(o.beta_2, step.number));
    const Tensor by = m * of_m / (K::sqrt(v * of_v) + o.epsilon);
    const double length = K::norm(variable).item<double>(), of_step = K::norm(by).item<double>();
    const double ratio = length > 0 && of_step > 0 ? length / of_step : 1;
    K::update_sub(variable, by * (ratio * step.learning_rate));
  }
};

}  // namespace

Adam::Adam(const AdamOptions& options)
    : Optimizer(std::make_shared<AdamImpl<AdamOptions>>("Adam", "adam", options)) {}
AdamW::AdamW(const AdamWOptions& options)
    : Optimizer(std::make_shared<AdamImpl<AdamWOptions>>("AdamW", "adamw", options)) {}
Adamax::Adamax(const AdamaxOptions& options)
    : Optimizer(std::make_shared<AdamaxImpl>("Adamax", "adamax", options)) {}
Nadam::Nadam(const NadamOptions& options) : Optimizer(std::make_shared<NadamImpl>(options)) {}
Lamb::Lamb(const LambOptions& options) : Optimizer(std::make_shared<LambImpl>("Lamb", "lamb", options)) {}

void add_adam_optimizers(ClassRegistry& registry) {
  registry.add<Adam, AdamOptions>("Adam");
  registry.add<AdamW, AdamWOptions>("AdamW");
  registry.add<Adamax, AdamaxOptions>("Adamax");
  registry.add<Nadam, NadamOptions>("Nadam");
  registry.add<Lamb, LambOptions>("Lamb");
}

}  // namespace ktape::nn
