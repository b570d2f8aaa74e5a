#pragma once
#include <ktape/ktape.hpp>
#include <ktape/nn/distributed/distributed.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../close.hpp"

/// Helpers of the tests with several processes.
namespace together {

namespace nn = ktape::nn;
namespace distributed = ktape::nn::distributed;
namespace K = ktape::backend;
using ktape::Tensor;

/// Returns the largest distance between two lists of tensors.
inline double distance(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].size() > 0)
      most = std::max(most, K::max(K::abs(K::cast(a[i] - b[i], "float64"))).item<double>());
  return most;
}

/// Returns whether a tensor is equal in all processes.
inline Closeness same_everywhere(const Tensor& x) { return close(x, distributed::broadcast(x), exactly); }

/// Returns a random tensor that is equal in all processes.
inline Tensor normal(const ktape::Shape& shape, std::int64_t seed) {
  return K::random_normal(shape, {.seed = seed});
}
inline Tensor classes(std::int64_t samples, int count, std::int64_t seed) {
  return K::random_uniform({samples}, {.minval = 0, .maxval = count, .dtype = "int32", .seed = seed});
}

}  // namespace together
