#include <ktape/ops/kernels/network/folding.hpp>

#include <cmath>

namespace ktape::kernels {

ChannelFactors channel_factors(const NetworkNode& node, const std::vector<const float*>& weights) {
  const auto element = [&](int weight, std::size_t channel, double otherwise) {
    return weight < 0 ? otherwise : static_cast<double>(weights[static_cast<std::size_t>(weight)][channel]);
  };
  const auto channels = static_cast<std::size_t>(node.shape.back());
  ChannelFactors out{std::vector<float>(channels), std::vector<float>(channels)};
  for (std::size_t c = 0; c < channels; ++c) {
    double factor = 1, offset = element(node.bias, c, 0);
    for (const ChannelNormalizer& n : node.normalizers) {
      const double scale = element(n.gamma, c, 1) / std::sqrt(element(n.variance, c, 1) + n.epsilon);
      factor *= scale;
      offset = (offset - element(n.mean, c, 0)) * scale + element(n.beta, c, 0);
    }
    out.factors[c] = static_cast<float>(factor), out.offsets[c] = static_cast<float>(offset);
  }
  return out;
}

}  // namespace ktape::kernels
