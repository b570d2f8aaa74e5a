#include <ktape/ops/kernels/network/element_functions.hpp>
#include <ktape/ops/kernels/network/folding.hpp>
#include <ktape/ops/kernels/network/nodes/node_kernels.hpp>

#include <algorithm>
#include <array>

namespace ktape::kernels {

namespace {

/// The product of a few rows and a small matrix, with what follows: a primitive of oneDNN takes longer to start.
/// The packed weights are the bias, then the rows of the kernel, filled up with zeros to whole vectors.
class SmallProductKernel final : public NodeKernel {
 public:
  SmallProductKernel(NetworkNode node, std::int64_t rows, std::int64_t inner)
      : node_(std::move(node)), rows_(rows), inner_(inner), columns_(node_.shape.back()) {}
  const char* name() const override { return "small product"; }
  std::int64_t products() const override { return rows_ * inner_ * columns_; }
  std::size_t packed_size() const override { return static_cast<std::size_t>((inner_ + 1) * stride()); }

  void pack(const std::vector<const float*>& weights, float* packed) const override {
    const ChannelFactors channels = channel_factors(node_, weights);
    std::fill_n(packed, packed_size(), 0.F);
    std::copy(channels.offsets.begin(), channels.offsets.end(), packed);
    for (std::int64_t k = 0; k < inner_; ++k)
      for (std::int64_t j = 0; j < columns_; ++j)
        packed[(k + 1) * stride() + j] =
            weights[0][k * columns_ + j] * channels.factors[static_cast<std::size_t>(j)];
  }

  void run(const Arrays& at) const override {
    for (std::int64_t row = 0; row < rows_; ++row) {
      const float* const x = at.inputs[0] + row * inner_;
      float* const out = at.output + row * columns_;
      for (std::int64_t j = 0; j < columns_; j += float_lanes) {
        Vec<float> sum = column_sums(x, at.packed + j);
        for (const ElementFunction& f : node_.functions) sum = apply_function(f, sum);
        store_partial(out + j, sum, std::min(float_lanes, columns_ - j));
      }
    }
  }

 private:
  std::int64_t stride() const { return padded<float>(columns_); }
  /// Returns the bias and the product for a vector of columns. Without fused instructions the sums are of float64: those
  /// of float32 would be rounded twice, and less exact than the layers' sums.
  Vec<float> column_sums(const float* x, const float* column) const {
#if defined(KTAPE_FUSED)
    Vec<float> sum = load(column);
    for (std::int64_t k = 0; k < inner_; ++k) sum += x[k] * load(column += stride());
#else
    std::array<double, float_lanes> sums;
    std::copy_n(column, float_lanes, sums.begin());
    for (std::int64_t k = 0; k < inner_; ++k) {
      column += stride();
      for (std::int64_t i = 0; i < float_lanes; ++i) sums[i] += static_cast<double>(x[k]) * column[i];
    }
    Vec<float> sum;
    for (std::int64_t i = 0; i < float_lanes; ++i) sum[i] = static_cast<float>(sums[i]);
#endif
    return sum;
  }

  const NetworkNode node_;
  const std::int64_t rows_, inner_, columns_;
};

}  // namespace

void use_small_products(Network& network) {
  constexpr std::int64_t most_products = 8192;
  for (NetworkNode& node : network.nodes) {
    if (node.kind != NetworkNode::Kind::Product || node.inputs.size() != 1 || node.columns) continue;
    if (node.numbers != NumberType::Float32) continue;
    const std::int64_t inner = network.nodes[static_cast<std::size_t>(node.inputs[0])].shape.back();
    std::int64_t rows = 1;
    for (std::size_t axis = 0; axis + 1 < node.shape.size(); ++axis) rows *= node.shape[axis];
    if (rows * inner * node.shape.back() > most_products || !has_vector_code(node.functions)) continue;
    NetworkNode own = node, described = node;
    own.kind = NetworkNode::Kind::Own, own.weights.clear();
    const auto take = [&](int& weight) {
      if (weight < 0) return;
      own.weights.push_back(weight), weight = static_cast<int>(own.weights.size()) - 1;
    };
    take(described.kernel), take(described.bias);
    for (ChannelNormalizer& n : described.normalizers)
      take(n.gamma), take(n.beta), take(n.mean), take(n.variance);
    own.own = std::make_shared<SmallProductKernel>(std::move(described), rows, inner);
    own.kernel = own.bias = -1, own.normalizers.clear(), own.functions.clear();
    node = std::move(own);
  }
}

}  // namespace ktape::kernels
