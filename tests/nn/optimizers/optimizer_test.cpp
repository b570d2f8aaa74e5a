#include <ktape/nn/core/registry.hpp>
#include <ktape/nn/optimizers/adam.hpp>
#include <ktape/nn/optimizers/adaptive.hpp>
#include <ktape/nn/optimizers/sgd.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/updates.hpp>

#include <cmath>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

Variable weight(const Values& values, const std::string& name = "w") {
  return K::variable(values, {.dtype = "float64", .name = name});
}

struct SignImpl : nn::OptimizerImpl {
  SignImpl() : nn::OptimizerImpl("Sign", {.learning_rate = 0.5, .clipvalue = 1}) {}
  std::vector<nn::StateOptions> state_of(const Variable&) const override { return {{.name = "seen"}}; }
  void update_step(const Tensor& g, Variable w, const nn::OptimizerStep& step) override {
    K::update_add(step.state[0], g);
    K::update_sub(w, step.learning_rate * K::sign(g));
  }
};
using Sign = nn::OptimizerOf<SignImpl>;

}  // namespace

TEST_CASE(
    "every optimizer makes a loss smaller, in every floating dtype, and is made again from its config") {
  for (const std::string& name : nn::registered_names("optimizer")) {
    CAPTURE(name);
    for (const char* dtype : {"float16", "float32", "float64"}) {
      CAPTURE(dtype);
      const nn::Optimizer optimizer{name};
      optimizer.set_learning_rate(name == "Adadelta" ? 10 : 0.05);  // whose first steps halves cannot see
      Variable w = K::variable({{1.0, -2.0}, {0.5, 3.0}}, {.dtype = dtype});
      const auto loss = [&] { return K::sum(K::square(w)); };
      const double before = loss().item<double>();
      for (int i = 0; i < 20; ++i) optimizer.minimize(loss(), {w});
      CHECK(loss().item<double>() < before);
      CHECK(w.dtype() == dtype);
    }
    const nn::Optimizer optimizer{name};
    CHECK(nn::Optimizer(nn::from_json(nn::to_json(optimizer.to_value()))).to_value() == optimizer.to_value());
  }
}

TEST_CASE("clipping by value, and an infinite global norm") {
  Variable w = weight({1, 1, 1});
  nn::SGD({.learning_rate = 1, .clipvalue = 0.5}).apply({doubles({2, -2, 0.25})}, {w});
  CHECK(values(w) == Values{0.5, 1.5, 0.75});
  nn::SGD({.global_clipnorm = 1}).apply({doubles({HUGE_VAL, 0, 0})}, {w});
  CHECK(std::isnan(values(w)[1]));
  Variable n = weight({1});
  nn::SGD({.clipvalue = 0.5}).apply({doubles({NAN})}, {n});
  CHECK(std::isnan(values(n)[0]));
}

TEST_CASE("accumulation updates every n-th time with the mean gradient") {
  Variable w = weight({1, 2});
  const nn::Adam direct(0.1), split({.learning_rate = 0.1, .gradient_accumulation_steps = 2});
  Variable same = weight({1, 2});
  for (int i = 0; i < 3; ++i) {
    split.apply({doubles({1, 4})}, {w});
    CHECK(close(values(w)[0], values(same)[0], {.rtol = 1e-5}));
    split.apply({doubles({3, 0})}, {w});
    direct.apply({doubles({2, 2})}, {same});
    CHECK(close(values(w)[1], values(same)[1], {.rtol = 1e-5}));
  }
  CHECK(split.iterations().item<int>() == 6);
}

TEST_CASE("the learning rate is a variable, or follows a schedule") {
  Variable w = weight({1});
  const nn::SGD fixed(0.5);
  fixed.apply({doubles({1})}, {w});
  K::set_value(fixed.learning_rate(), 0.25);
  fixed.apply({doubles({1})}, {w});
  CHECK(values(w) == Values{0.25});
  CHECK(fixed.get_config().at("learning_rate").number() == 0.25);

  const nn::SGD falling(nn::PiecewiseConstantDecay({0, 1}, {0.5, 0.25, 0.125}));
  for (double rate : {0.5, 0.25, 0.125}) {
    CHECK(falling.learning_rate().item<double>() == rate);
    falling.apply({doubles({0})}, {w});
  }
  CHECK_THROWS_WITH_AS(falling.set_learning_rate(0.1),
                       "[SGD] the learning rate follows a schedule and cannot be set: received 0.1",
                       TypeError);
  const nn::SGD own([](std::int64_t step) { return step == 0 ? 1.0 : 0.0; });
  Variable u = weight({3});
  own.apply({doubles({1})}, {u});
  own.apply({doubles({1})}, {u});
  CHECK(values(u) == Values{2});
}

TEST_CASE("names of the state are Keras's, in Keras's order") {
  Variable kernel = weight({1, 2}, "dense/kernel"), bias = weight({0}, "dense/bias");
  const nn::Adam adam;
  adam.build({kernel, bias});
  std::vector<std::string> names;
  for (const Variable& variable : adam.variables()) names.push_back(variable.name());
  CHECK(names == std::vector<std::string>{"adam/iteration", "adam/learning_rate",
                                          "adam/dense_kernel_momentum", "adam/dense_kernel_velocity",
                                          "adam/dense_bias_momentum", "adam/dense_bias_velocity"});
}

TEST_CASE("weights named by a word do not decay; missing gradients leave their variable alone") {
  Variable kernel = weight({1}, "kernel"), bias = weight({1}, "bias"), frozen = weight({1}, "frozen");
  const nn::SGD sgd({.learning_rate = 0.5, .weight_decay = 0.5});
  sgd.exclude_from_weight_decay({}, {"bias"});
  sgd.apply({doubles({0}), doubles({0}), Tensor()}, {kernel, bias, frozen});
  CHECK(values(kernel) == Values{0.75});
  CHECK(values(bias) == Values{1});
  CHECK(values(frozen) == Values{1});
  CHECK_THROWS_AS(sgd.exclude_from_weight_decay({kernel}), ValueError);
}

TEST_CASE("constraints come after the update; loss_scale_factor before") {
  Variable w = K::variable(
      {1.0, 1.0}, {.dtype = "float64", .constraint = [](const Tensor& w) { return K::clip(w, 0, None); }});
  const nn::SGD sgd({.learning_rate = 1, .loss_scale_factor = 4});
  sgd.apply({doubles({8, 2})}, {w});
  CHECK(values(w) == Values{0, 0.5});
  CHECK(sgd.scale_loss(doubles(3)).item<double>() == 12);
  sgd.minimize(K::sum(w.value() * w.value()), {w});
  CHECK(values(w) == Values{0, 0});
}

TEST_CASE("a user's optimizer gets clipped gradients and its state") {
  Variable w = weight({1, 1});
  const Sign sign;
  sign.apply({doubles({3, -0.5})}, {w});
  CHECK(values(w) == Values{0.5, 1.5});
  CHECK(values(sign.variables().back()) == Values{1, -0.5});
}

TEST_CASE("an update writes in place unless another tensor shares the value") {
  Variable w = weight({1, 2});
  const nn::Adam adam(0.1);
  adam.apply({doubles({1, 1})}, {w});
  const void* memory = w.value().raw();
  adam.apply({doubles({1, 1})}, {w});
  CHECK(w.value().raw() == memory);
  const Tensor before = w, square = w * w;
  const Values seen = values(before);
  adam.apply({doubles({1, 1})}, {w});
  CHECK(values(before) == seen);
  CHECK(values(gradients(square, {w})[0]) == Values{2 * seen[0], 2 * seen[1]});
}

TEST_CASE("bad input changes nothing") {
  Variable w = weight({1, 2}), other = weight({1}, "other"), number = K::variable(1, {.dtype = "int32"});
  const nn::Adam adam(0.1);
  adam.build({w});
  CHECK_THROWS_WITH_AS(adam.apply({doubles({1, 2, 3})}, {w}),
                       "[Adam] a gradient must have the shape (2,) of 'w': received (3,)", ValueError);
  CHECK_THROWS_WITH_AS(
      adam.apply({doubles({1})}, {other}),
      "[Adam] an optimizer is for the variables of its first call (compile the model again with another "
      "one when layers are thawed): received 'other'",
      ValueError);
  CHECK_THROWS_WITH_AS(adam.apply({Tensor()}, {w}),
                       "[Adam] at least one variable must have a gradient: received None for all",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      adam.apply({}, {w}),
      "[Adam] there must be one gradient for each variable: received 0 gradients and 1 variables",
      ValueError);
  CHECK(values(w) == Values{1, 2});
  CHECK(adam.iterations().item<int>() == 0);
  CHECK_THROWS_AS(nn::SGD().apply({ints(1)}, {number}), TypeError);
  CHECK_THROWS_WITH_AS(nn::Adam({.beta_1 = 1}), "[Adam] beta_1 must be in [0, 1): received beta_1=1",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      nn::SGD({.clipnorm = 1, .clipvalue = 1}),
      "[SGD] only one of clipnorm, clipvalue and global_clipnorm may be set: received clipnorm=1.0, "
      "clipvalue=1.0, global_clipnorm=null",
      ValueError);
  CHECK_THROWS_WITH_AS(nn::Optimizer("adm"),
                       "[optimizer] the name must be one of nn::registered_names(\"optimizer\"): received "
                       "'adm'; did you mean 'Adam'?",
                       ValueError);
}
