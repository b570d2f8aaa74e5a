#include <ktape/nn/core/registry.hpp>
#include <ktape/nn/optimizers/adam.hpp>
#include <ktape/nn/optimizers/loss_scale_optimizer.hpp>
#include <ktape/nn/optimizers/sgd.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include <cmath>

#include "../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;
using doctest::Contains;

namespace {

Variable weight(const Values& values) { return K::variable(values, {.dtype = "float32", .name = "w"}); }

Tensor floats(const Values& values) { return K::constant(values, {.dtype = "float32"}); }

const Tensor& not_finite() {
  static const Tensor infinite = floats({INFINITY, 0});
  return infinite;
}

}  // namespace

TEST_CASE("the loss has a factor by which gradients are divided") {
  Variable w = weight({1, -2});
  const nn::LossScaleOptimizer optimizer(nn::SGD(0.5));
  CHECK(optimizer.dynamic_scale().item() == 32768);
  const Tensor loss = optimizer.scale_loss(K::sum(w * w));
  CHECK(loss.item() == 5 * 32768);
  optimizer.apply(gradients(loss, {w}), {w});
  CHECK(values(w) == Values{0, 0});
  CHECK(optimizer.iterations().item<std::int64_t>() == 1);
  optimizer.minimize(K::sum(w), {w});
  CHECK(values(w) == Values{-0.5, -0.5});
}

TEST_CASE("a step with a gradient that is not finite is skipped and halves the factor") {
  for (const double bad : {double(INFINITY), -double(INFINITY), double(NAN)}) {
    Variable w = weight({1, -2}), v = weight({3});
    const nn::LossScaleOptimizer optimizer(nn::SGD({.learning_rate = 1, .momentum = 0.5}),
                                           {.initial_scale = 8});
    optimizer.apply({floats({8, 8}), floats({8})}, {w, v});
    CHECK(optimizer.step_counter().item<std::int32_t>() == 1);
    optimizer.apply({floats({1, 1}), floats({bad})}, {w, v});
    CHECK(values(w) == Values{0, -3});
    CHECK(values(v) == Values{2});
    CHECK(optimizer.dynamic_scale().item() == 4);
    CHECK(optimizer.step_counter().item<std::int32_t>() == 0);
    CHECK(optimizer.iterations().item<std::int64_t>() == 1);
  }
}

TEST_CASE("the factor doubles after dynamic_growth_steps finite steps, and stays a finite float32") {
  Variable w = weight({1, 1});
  const nn::LossScaleOptimizer optimizer(nn::SGD(0.), {.initial_scale = 2, .dynamic_growth_steps = 3});
  std::vector<double> scales;
  for (int i = 0; i < 7; ++i) {
    if (i == 4) optimizer.apply({not_finite()}, {w});
    optimizer.apply({floats({1, 1})}, {w});
    scales.push_back(optimizer.dynamic_scale().item<double>());
  }
  CHECK(scales == Values{2, 2, 4, 4, 2, 2, 4});
  const nn::LossScaleOptimizer largest(nn::SGD(0.),
                                       {.initial_scale = std::ldexp(1, 127), .dynamic_growth_steps = 1});
  largest.apply({floats({1, 1})}, {w});
  CHECK(largest.dynamic_scale().item<double>() == std::ldexp(1, 127));
  const nn::LossScaleOptimizer smallest(nn::SGD(0.), {.initial_scale = std::ldexp(1, -149)});
  smallest.apply({not_finite()}, {w});
  CHECK(smallest.dynamic_scale().item<double>() == std::ldexp(1, -149));
}

TEST_CASE("clipping, accumulation and averages see gradients without the factor") {
  const auto trained = [](const nn::Optimizer& optimizer) {
    Variable w = weight({1, -2, 3});
    for (int i = 0; i < 6; ++i) optimizer.minimize(K::sum(K::square(w) * (i + 1.)), {w});
    optimizer.finalize_variable_values();
    return values(w);
  };
  using Options = nn::SGDOptions;
  for (const Options& options :
       {Options{.clipnorm = 1}, Options{.clipvalue = 0.5}, Options{.global_clipnorm = 1},
        Options{.gradient_accumulation_steps = 2}, Options{.use_ema = true, .ema_momentum = 0.5},
        Options{.weight_decay = 0.1}, Options{.loss_scale_factor = 4}}) {
    const Values plain = trained(nn::SGD(options));
    CHECK(close(trained(nn::LossScaleOptimizer(nn::SGD(options), {.dynamic_growth_steps = 2})), plain,
                {.rtol = 1e-5, .atol = 1e-6}));
  }
}

TEST_CASE("the learning rate is that of the inner optimizer") {
  const nn::Adam inner(0.25);
  const nn::LossScaleOptimizer optimizer(inner, {.name = "scale"});
  CHECK(optimizer.name() == "scale");
  CHECK(optimizer.inner_optimizer().is(inner));
  CHECK(optimizer.learning_rate().item() == 0.25);
  optimizer.set_learning_rate(0.5);
  CHECK(inner.learning_rate().item() == 0.5);
}

TEST_CASE("the variables are those of Keras: its own four, then those of the inner optimizer") {
  Variable w = weight({1, 2});
  const nn::LossScaleOptimizer optimizer(nn::SGD({.momentum = 0.9}));
  optimizer.build({w});
  std::vector<std::string> names;
  for (const Variable& variable : optimizer.variables()) names.push_back(variable.name());
  CHECK(names ==
        std::vector<std::string>{"loss_scale_optimizer/iteration", "loss_scale_optimizer/learning_rate",
                                 "loss_scale_optimizer/step_counter", "loss_scale_optimizer/dynamic_scale",
                                 "SGD/iteration", "SGD/learning_rate", "SGD/w_momentum"});
}

TEST_CASE("a LossScaleOptimizer is made again from its config") {
  const nn::LossScaleOptimizer optimizer(nn::Adam(0.25), {.initial_scale = 64, .dynamic_growth_steps = 7});
  const nn::Value value = nn::from_json(nn::to_json(optimizer.to_value()));
  CHECK(nn::Optimizer(value).to_value() == optimizer.to_value());
  CHECK(value.config().at("config").config().at("inner_optimizer").config().at("class_name") ==
        nn::Value("Adam"));
}

TEST_CASE("options of a LossScaleOptimizer that are null are left out") {
  const nn::LossScaleOptimizer optimizer(nn::Adam(0.25));
  nn::Config whole = optimizer.to_value().config(), config = whole.at("config").config();
  for (const char* option : {"use_ema", "ema_momentum", "clipnorm", "dynamic_growth_steps",
                             "loss_scale_factor", "learning_rate", "initial_scale"})
    config.set(option, nn::Value());
  whole.set("config", config);
  CHECK(nn::Optimizer(nn::Value(whole)).to_value() == optimizer.to_value());
  config.set("clipnorm", 1.), whole.set("config", config);
  CHECK_THROWS_WITH_AS(nn::Optimizer(nn::Value(whole)),
                       Contains("clipnorm must be an option of inner_optimizer: received clipnorm=1"),
                       ValueError);
}

TEST_CASE("a LossScaleOptimizer refuses options out of range") {
  CHECK_THROWS_WITH_AS(
      nn::LossScaleOptimizer(nn::SGD(), {.initial_scale = 0}),
      "[LossScaleOptimizer] initial_scale must be positive and finite: received initial_scale=0", ValueError);
  CHECK_THROWS_WITH_AS(nn::LossScaleOptimizer(nn::SGD(), {.initial_scale = 1e300}),
                       Contains("initial_scale must be positive and finite"), ValueError);
  CHECK_THROWS_WITH_AS(
      nn::LossScaleOptimizer(nn::SGD(), {.dynamic_growth_steps = 0}),
      "[LossScaleOptimizer] dynamic_growth_steps must be at least 1: received dynamic_growth_steps=0",
      ValueError);
  CHECK_THROWS_WITH_AS(nn::LossScaleOptimizer(nn::Optimizer(None)),
                       "[LossScaleOptimizer] inner_optimizer must be an optimizer: received None",
                       ValueError);
  const nn::Optimizer scaled = nn::LossScaleOptimizer(nn::SGD());
  CHECK_THROWS_WITH_AS(nn::LossScaleOptimizer(scaled, {.initial_scale = 2}),
                       Contains("inner_optimizer must not be a LossScaleOptimizer"), ValueError);
}
