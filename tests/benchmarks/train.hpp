#pragma once
#include <ktape/ktape.hpp>

/// Helpers of the training workloads.
namespace bench {

namespace K = ktape::backend;
using ktape::Tensor, ktape::Variable;

struct Dense {
  Variable kernel, bias;
  Dense(int in, int out)
      : kernel(K::random_uniform_variable({in, out}, -0.05, 0.05)), bias(K::zeros({out})) {}
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

/// Returns a random class of ten for each sample.
inline Tensor random_labels(std::int64_t samples) {
  return K::cast(K::random_uniform({samples}, {.minval = 0, .maxval = 10}), "int32");
}

}  // namespace bench
