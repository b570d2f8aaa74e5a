#pragma once
#include <ktape/ops/kernels/network/network_steps.hpp>

#include <memory>
#include <vector>

/// The weights of a network in the layouts of its steps. For program.cpp only.
namespace ktape::kernels {

using PackedArray = std::shared_ptr<const float>;

/// Returns the packed weights of the steps, in their order. An array that was packed from the same elements in
/// the same way, and is still in use, is shared. `owner` keeps the elements alive and unchanged.
std::vector<PackedArray> pack_weights(const NetworkSteps& steps, const std::vector<const float*>& weights,
                                      const std::shared_ptr<const void>& owner);

}  // namespace ktape::kernels
