#include <ktape/nn/optimizers/adam.hpp>
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

TEST_CASE("the first step of Adam has the length of the learning rate, whatever the gradient") {
  CHECK(close(after(nn::Adam(0.1), {{4, -0.5}}), Values{0.9, 1.1}, {.rtol = 1e-6}));
}

TEST_CASE("Adam follows the moments of the gradients, with bias correction") {
  double m = 0, v = 0, w = 1;
  std::vector<Values> gradients;
  for (int t = 1; t <= 5; ++t) {
    const double g = t - 2.5;
    gradients.push_back({g});
    m = 0.9 * m + 0.1 * g, v = 0.999 * v + 0.001 * g * g;
    const double corrected = v / (1 - std::pow(0.999, t));
    w -= 0.1 * m / (1 - std::pow(0.9, t)) / std::sqrt(corrected);
  }
  CHECK(close(after(nn::Adam(0.1), gradients), Values{w}, {.rtol = 1e-4}));
}

TEST_CASE("Adam with amsgrad divides by the largest second moment") {
  Variable w = K::variable(Values{1}, {.dtype = "float64"});
  const nn::Adam optimizer({.learning_rate = 0.1, .beta_1 = 0, .beta_2 = 0.5, .amsgrad = true});
  optimizer.apply({doubles({2})}, {w});
  optimizer.apply({doubles({0.5})}, {w});
  // v is 2, then 1.125: the divisor stays sqrt(2).
  const double first = 1 - 0.1 * std::sqrt(0.5) * 2 / std::sqrt(2.0);
  CHECK(close(values(w)[0], first - 0.1 * std::sqrt(0.75) * 0.5 / std::sqrt(2.0), {.rtol = 1e-5}));
}

TEST_CASE("AdamW shrinks the weights beside the step of Adam") {
  const nn::AdamW optimizer({.learning_rate = 0.1, .weight_decay = 0.5});
  CHECK(close(after(optimizer, {{2}}), Values{1 - 0.1 * 0.5 - 0.1}, {.rtol = 1e-6}));
}

TEST_CASE("Adamax divides by the largest gradient so far, which decays") {
  const nn::Adamax optimizer({.learning_rate = 0.1, .beta_1 = 0, .beta_2 = 0.5});
  CHECK(close(after(optimizer, {{4}, {1}}), Values{1 - 0.1 - 0.1 * 1 / 2}, {.rtol = 1e-6}));
}

TEST_CASE("Nadam without a first moment steps like Adam") {
  const nn::Nadam nadam({.learning_rate = 0.1, .beta_1 = 0});
  const nn::Adam adam({.learning_rate = 0.1, .beta_1 = 0});
  const std::vector<Values> gradients{{2, -1}, {0.5, 3}};
  CHECK(close(after(nadam, gradients), after(adam, gradients), {.rtol = 1e-5}));
}

TEST_CASE("Lamb scales Adam's direction to the length of the variable") {
  Variable w = K::variable(Values{3, 4}, {.dtype = "float64"});
  nn::Lamb({.learning_rate = 0.1}).apply({doubles({1, -2})}, {w});
  // After one step the direction is (1, -1), of length sqrt(2).
  const double step = 0.1 * 5 / std::sqrt(2.0);
  CHECK(close(values(w)[0], 3 - step, {.rtol = 1e-5}));
  CHECK(close(values(w)[1], 4 + step, {.rtol = 1e-5}));
}
