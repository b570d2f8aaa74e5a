#include <ktape/ops/kernels/network/folding.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::kernels {

ChannelFactors channel_factors(const NetworkNode& node, const std::vector<const float*>& weights) {
  const auto element = [&](int weight, std::size_t channel, double otherwise) {
    return weight < 0 ? otherwise : static_cast<double>(weights[static_cast<std::size_t>(weight)][channel]);
  };
  const auto channels = static_cast<std::size_t>(node.shape.back());
  ChannelFactors out{std::vector<float>(channels), std::vector<float>(channels), !node.normalizers.empty()};
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

void scale_kernel(const NetworkNode& node, const float* kernel, std::int64_t rows,
                  const ChannelFactors& channels, float* out) {
  const auto width = static_cast<std::int64_t>(channels.factors.size());
  const float* const factors = channels.factors.data();
  std::int64_t source = width;
  const int* const columns = node.columns ? node.columns->data() : nullptr;
  if (columns) source = 1 + *std::max_element(columns, columns + width);
  parallel_rows(rows, width, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const float* const from = kernel + r * source;
      float* const to = out + r * width;
      if (columns)
        for (std::int64_t c = 0; c < width; ++c) to[c] = columns[c] < 0 ? 0 : from[columns[c]] * factors[c];
      else
        for (std::int64_t c = 0; c < width; ++c) to[c] = from[c] * factors[c];
    }
  });
}

}  // namespace ktape::kernels
