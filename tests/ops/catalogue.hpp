#pragma once
#include <ktape/autograd/tensor.hpp>

#include <functional>
#include <string>
#include <vector>

/// A differentiable name of the backend API, called with some inputs of float64.
struct DifferentiableName {
  std::string name;
  std::function<ktape::Tensor(const std::vector<ktape::Tensor>&)> f;
  std::vector<ktape::Tensor> inputs;
  double step = 1e-6;        ///< of the differences
  bool second_order = true;  ///< not at a tie, where the gradient jumps
};

/// All of them, some more than once (catalogue_test.cpp).
std::vector<DifferentiableName> differentiable_names();
