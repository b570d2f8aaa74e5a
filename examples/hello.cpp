// The smallest program: a variable, a loss, its gradient.
#include <iostream>
#include <ktape/ops/keras/backend.hpp>
namespace K = ktape::backend;

int main() {
  ktape::Variable x = K::variable({1.f, 2.f, 3.f});
  ktape::Tensor loss = K::sum(K::square(x));
  std::cout << "loss     " << loss << "\n";
  std::cout << "gradient " << K::gradients(loss, {x})[0] << "\n";
}
