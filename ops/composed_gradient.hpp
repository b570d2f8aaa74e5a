#pragma once
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/ops/creation.hpp>

/// The recorded gradient of a fused op: the gradient of its formula composed of other ops. Internal: sources only.
namespace ktape::op_helpers {

/// Adds to `grads` the gradients of f's results, in the order of the op's outputs, with respect to the op's
/// arguments. Undefined arguments are no inputs on the tape. f gets a separate tensor for each argument, even
/// for a tensor that is passed twice.
template <class F>
void composed_gradient(Grads& grads, const std::vector<Tensor>& arguments, const F& f) {
  std::vector<Tensor> own, wanted, losses, seeds;
  std::vector<int> inputs;
  int input = 0;
  for (const Tensor& argument : arguments) {
    own.push_back(argument.defined() ? backend::identity(argument) : argument);
    if (!argument.defined()) continue;
    if (grads.wants(input)) wanted.push_back(own.back()), inputs.push_back(input);
    ++input;
  }
  int output = 0;
  for (const Tensor& result : f(own))
    if (const Tensor& g = grads.output(output++); g.defined()) losses.push_back(result), seeds.push_back(g);
  const std::vector<Tensor> found = gradients(losses, wanted, seeds);
  for (std::size_t i = 0; i < found.size(); ++i) grads.add(inputs[i], found[i]);
}

}  // namespace ktape::op_helpers
