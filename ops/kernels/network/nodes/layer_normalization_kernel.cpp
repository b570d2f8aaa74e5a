#include <ktape/ops/kernels/network/nodes/node_kernels.hpp>
#include <ktape/ops/kernels/normalization/layer_norm.hpp>

#include <algorithm>

namespace ktape::kernels {

namespace {

class LayerNormalizationKernel final : public NodeKernel {
 public:
  LayerNormalizationKernel(std::int64_t rows, std::int64_t n, double epsilon, bool gamma, bool beta)
      : rows_(rows), n_(n), epsilon_(epsilon), gamma_(gamma), beta_(beta) {}
  const char* name() const override { return "layer normalization"; }
  std::size_t packed_size() const override {
    return static_cast<std::size_t>((gamma_ ? stride() : 0) + (beta_ ? stride() : 0));
  }
  void pack(const std::vector<const float*>& weights, float* packed) const override {
    if (gamma_) std::copy_n(weights[0], n_, packed);
    if (beta_) std::copy_n(weights[1], n_, packed + (gamma_ ? stride() : 0));
  }
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(rows_) * sizeof(RowScaling<float>);
  }
  void run(const Arrays& at) const override {
    const float *const gamma = gamma_ ? at.packed : nullptr, *const beta =
                                                                 beta_ ? at.packed + (gamma_ ? stride() : 0)
                                                                       : nullptr;
    layer_norm(at.inputs[0], gamma, beta, at.output, static_cast<RowScaling<float>*>(at.scratch), rows_, n_,
               epsilon_);
  }

 private:
  std::int64_t stride() const { return padded<float>(n_); }

  const std::int64_t rows_, n_;
  const double epsilon_;
  const bool gamma_, beta_;
};

}  // namespace

std::shared_ptr<const NodeKernel> layer_normalization_kernel(std::int64_t rows, std::int64_t n,
                                                             double epsilon, bool gamma, bool beta) {
  return std::make_shared<LayerNormalizationKernel>(rows, n, epsilon, gamma, beta);
}

}  // namespace ktape::kernels
