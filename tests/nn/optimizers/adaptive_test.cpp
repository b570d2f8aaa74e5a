#include <ktape/nn/optimizers/adaptive.hpp>
#include <ktape/ops/updates.hpp>

#include <cmath>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

/// Returns the weights after the optimizer has applied each gradient in turn to weights of 1.
Values after(const nn::Optimizer& optimizer, const std::vector<Values>& gradients) {
  Variable w = K::variable(Values(gradients[0].size(), 1), {.dtype = "float64"});
  for (const Values& g : gradients) optimizer.apply({doubles(g)}, {w});
  return values(w);
}

}  // namespace

TEST_CASE("RMSprop divides by the root of the mean square, and adds momentum") {
  const nn::RMSprop optimizer({.learning_rate = 0.1, .rho = 0.5, .momentum = 0.5});
  const double one = 0.1 / std::sqrt(0.5), two = 0.5 * one + 0.1 / std::sqrt(0.75);
  CHECK(close(after(optimizer, {{1}, {1}}), Values{1 - one - two}, {.rtol = 1e-6}));
}

TEST_CASE("centered RMSprop divides by the standard deviation of the gradients") {
  const nn::RMSprop optimizer({.learning_rate = 0.1, .rho = 0.5, .centered = true});
  CHECK(close(after(optimizer, {{2}}), Values{1 - 0.1 * 2 / std::sqrt(0.5 * 4 - 1)}, {.rtol = 1e-6}));
}

TEST_CASE("Adagrad divides by the root of the sum of all squares") {
  const nn::Adagrad optimizer({.learning_rate = 0.1, .initial_accumulator_value = 0.1});
  const double one = 0.1 * 3 / std::sqrt(9.1), two = 0.1 * 4 / std::sqrt(25.1);
  CHECK(close(after(optimizer, {{3}, {4}}), Values{1 - one - two}, {.rtol = 1e-6}));
}

TEST_CASE("Adadelta scales the gradient by the ratio of the sizes of steps and gradients") {
  const nn::Adadelta optimizer({.learning_rate = 1, .rho = 0.5, .epsilon = 1e-2});
  const double step = 2 * std::sqrt(1e-2) / std::sqrt(0.5 * 4 + 1e-2);
  CHECK(close(after(optimizer, {{2}}), Values{1 - step}, {.rtol = 1e-6}));
}

TEST_CASE("the first step of Adafactor has the length of the rate, relative to the weight") {
  const Values w = after(nn::Adafactor(0.01), {{3, 3}});
  CHECK(close(w, Values{0.99, 0.99}, {.rtol = 1e-5}));
}
