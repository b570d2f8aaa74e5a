#include <ktape/ktape.hpp>
#include "report.hpp"

namespace K = ktape::backend;
using ktape::Tensor, ktape::Variable;

namespace {

struct Dense {
  Variable kernel, bias;
  Dense(int in, int out) : kernel(K::random_uniform_variable({in, out}, -0.05, 0.05)), bias(K::zeros({out})) {}
  Tensor operator()(const Tensor& x) const { return K::bias_add(K::dot(x, kernel), bias); }
};

struct Adam {
  std::vector<Variable> weights, m, v;
  int step = 0;
  explicit Adam(std::vector<Variable> w) : weights(std::move(w)) {
    for (const Variable& x : weights) m.push_back(K::zeros_like(x)), v.push_back(K::zeros_like(x));
  }
  void minimize(const Tensor& loss) {
    const std::vector<Tensor> slopes = K::gradients(loss, weights);
    ++step;
    for (std::size_t i = 0; i < weights.size(); ++i) K::adam_update(weights[i], slopes[i], m[i], v[i], step);
  }
};

const bench::Group mlp([] {
  const Dense d1(784, 512), d2(512, 512), d3(512, 10);
  auto model = [&](const Tensor& x) { return d3(K::relu(d2(K::relu(d1(x))))); };
  Adam adam({d1.kernel, d1.bias, d2.kernel, d2.bias, d3.kernel, d3.bias});
  const Tensor x = K::random_normal({128, 784});
  const Tensor y = K::cast(K::random_uniform({128}, {.minval = 0, .maxval = 10}), "int32");
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
