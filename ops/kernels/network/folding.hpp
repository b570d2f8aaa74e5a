#pragma once
#include <ktape/ops/kernels/network/network.hpp>

namespace ktape::kernels {

/// The factor and the offset of each channel.
struct ChannelFactors {
  std::vector<float> factors, offsets;
};

/// Returns the numbers with which x * factor + offset is the bias of a node, then its normalizers. `weights`
/// are the elements of all weights. Computes in double.
ChannelFactors channel_factors(const NetworkNode& node, const std::vector<const float*>& weights);

}  // namespace ktape::kernels
