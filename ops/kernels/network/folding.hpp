#pragma once
#include <ktape/ops/kernels/network/network.hpp>

namespace ktape::kernels {

/// The factor and the offset of each channel.
struct ChannelFactors {
  std::vector<float> factors, offsets;
  bool scales = false;  ///< whether a factor may differ from 1
};

/// Returns the numbers with which x * factor + offset is the bias of a node, then its normalizers. `weights`
/// are the elements of all weights. Computes in double.
ChannelFactors channel_factors(const NetworkNode& node, const std::vector<const float*>& weights);

/// Writes the kernel of a convolution or a product, a matrix with a column for each channel, in the order of
/// the node's columns and times the factors.
void scale_kernel(const NetworkNode& node, const float* kernel, std::int64_t rows,
                  const ChannelFactors& channels, float* out);

}  // namespace ktape::kernels
