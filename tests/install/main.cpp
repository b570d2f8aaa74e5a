#include <cstdio>
#include <ktape/ktape.hpp>
namespace K = ktape::backend;

int main() {
  ktape::Variable x = K::variable({1.f, 2.f, 3.f});
  ktape::Tensor loss = K::sum(K::square(x));
  ktape::Tensor gradient = K::gradients(loss, {x})[0];
  const bool right = loss.item<float>() == 14.f && K::get_value(gradient)(2) == 6.f;
  std::puts(right ? "ktape works" : "wrong result");
  return right ? 0 : 1;
}
