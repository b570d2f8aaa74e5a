// The smallest program: a variable, a loss, its gradient.
#include <iostream>
#include <ktape/ops/keras/backend.hpp>
namespace K = ktape::backend;

/// Computes sum(x^2) and its gradient, 2 x. Every op runs at once and is recorded on a tape, so
/// `K::gradients` needs neither a session nor a `GradientTape`.
int main() {
  ktape::Variable x = K::variable({1.f, 2.f, 3.f});
  ktape::Tensor loss = K::sum(K::square(x));
  std::cout << "loss     " << loss << "\n";
  std::cout << "gradient " << K::gradients(loss, {x})[0] << "\n";
}
