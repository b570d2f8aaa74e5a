#pragma once
#include <ktape/ops/compiled/network_builder.hpp>

#include <optional>
#include <vector>

namespace ktape::nn {

/// A layer that a plan can compute in inference without calling the layer. Internal: sources only.
class Planned {
 public:
  /// Adds nodes that compute the layer's call in inference on the nodes `inputs`, and returns the node of the
  /// output; none if the network cannot compute this layer. Called for a built layer.
  virtual std::optional<int> plan(backend::NetworkBuilder& network, const std::vector<int>& inputs) const = 0;

 protected:
  ~Planned() = default;
};

/// Adds an activation function. Returns none for a function that is not one of Keras's with default
/// arguments, or that the network cannot compute.
template <class Function>
std::optional<int> plan_activation(backend::NetworkBuilder& network, int x, const Function& activation) {
  if (!activation.defined()) return x;
  const auto value = activation.to_value();
  return value.is_string() ? network.activation(x, value.string("activation")) : std::nullopt;
}

}  // namespace ktape::nn
