#include <ktape/ktape.hpp>
#include "report.hpp"
#include "train.hpp"

namespace {

using namespace bench;

const bench::Group mlp([] {
  const Dense d1(784, 512), d2(512, 512), d3(512, 10);
  auto model = [&](const Tensor& x) { return d3(K::relu(d2(K::relu(d1(x))))); };
  Adam adam({d1.kernel, d1.bias, d2.kernel, d2.bias, d3.kernel, d3.bias});
  const Tensor x = K::random_normal({128, 784}), y = random_labels(128);
  bench::report("mlp_train", [&] {
    adam.minimize(K::mean(K::sparse_categorical_crossentropy(y, model(x), {.from_logits = true})));
  });
  bench::report("mlp_infer", [&] {
    ktape::NoGrad off;
    model(x);
  });
});

const bench::Group tiny_mlp([] {
  const Dense d1(4, 8), d2(8, 1);
  std::vector<Variable> weights{d1.kernel, d1.bias, d2.kernel, d2.bias};
  const Tensor x = K::random_normal({1, 4}), y = K::random_normal({1, 1});
  bench::report("tiny_mlp_train", [&] {
    const std::vector<Tensor> slopes = K::gradients(K::mean(K::square(d2(K::tanh(d1(x))) - y)), weights);
    for (std::size_t i = 0; i < weights.size(); ++i) K::update_sub(weights[i], 0.1f * slopes[i]);
  });
});

}  // namespace
