#pragma once
#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"

/// Samples of y = 2 a - b + 1, without noise.
struct Line {
  ktape::Tensor x = normal({64, 2}, 1, "float32");
  ktape::Tensor y = ktape::backend::reshape(2.f * x[{ktape::All, 0}] - x[{ktape::All, 1}] + 1.f, {64, 1});
};

/// Returns a model that can learn the line, with weights of 0.
inline ktape::nn::Sequential linear_model(double rate = 0.1) {
  namespace nn = ktape::nn;
  const nn::Sequential model({nn::Dense(1, {.kernel_initializer = "zeros", .name = "out"})});
  model.compile({.optimizer = nn::SGD(rate), .loss = "mse"});
  return model;
}
