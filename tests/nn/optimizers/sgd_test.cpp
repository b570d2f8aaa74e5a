#include <ktape/nn/optimizers/sgd.hpp>
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

TEST_CASE("SGD steps against the gradient, with momentum along earlier steps") {
  CHECK(close(after(nn::SGD(0.1), {{2, -4}}), Values{0.8, 1.4}, {.rtol = 1e-6}));
  const nn::SGD momentum({.learning_rate = 0.1, .momentum = 0.5});
  CHECK(close(after(momentum, {{1}, {1}}), Values{1 - 0.1 - 0.15}, {.rtol = 1e-6}));
}

TEST_CASE("nesterov applies the momentum once more") {
  const nn::SGD optimizer({.learning_rate = 0.1, .momentum = 0.5, .nesterov = true});
  // The velocity is -0.1, then -0.15; a step is half of the velocity and the gradient's share.
  CHECK(close(after(optimizer, {{1}, {1}}), Values{1 - (0.05 + 0.1) - (0.075 + 0.1)}, {.rtol = 1e-6}));
}

TEST_CASE("Lion steps by the sign of the gradient's moving mean") {
  CHECK(close(after(nn::Lion(0.1), {{5, -0.01}, {5, -0.01}}), Values{0.8, 1.2}, {.rtol = 1e-6}));
}

TEST_CASE("Ftrl with a strong l1 penalty sets weights to 0") {
  const nn::Ftrl strong({.learning_rate = 0.1, .l1_regularization_strength = 1000});
  CHECK(after(strong, {{1, -1}}) == Values{0, 0});
}
