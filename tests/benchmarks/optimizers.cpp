#include <ktape/nn/optimizers/adam.hpp>
#include <ktape/nn/optimizers/sgd.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/random/random.hpp>

#include "report.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;

// The floor is (bytes read + written) / 50 GB/s: 28 MB for Adam, 12 MB for SGD.
static const bench::Group optimizers([] {
  const ktape::Tensor gradient = K::random_normal({1000000});
  const std::vector<ktape::Variable> weights{K::variable(K::random_normal({1000000}))};
  const nn::Adam adam, clipped({.weight_decay = 0.01, .clipvalue = 0.5});
  const nn::SGD sgd;
  bench::report("adam_step", [&] { adam.apply({gradient}, weights); });
  bench::report("adam_step_clipped", [&] { clipped.apply({gradient}, weights); });
  bench::report("sgd_step", [&] { sgd.apply({gradient}, weights); });
  const std::vector<ktape::Variable> few{K::variable({1.f, 2.f}), K::variable({1.f})};
  const std::vector<ktape::Tensor> gradients{K::ones({2}), K::ones({1})};
  const nn::Adam tiny;
  bench::report("adam_step_tiny", [&] { tiny.apply(gradients, few); });
});
