#include <ktape/ops/kernels/network/nodes/node_kernels.hpp>
#include <ktape/ops/kernels/sequence/attention.hpp>

#include <array>

namespace ktape::kernels {

namespace {

class AttentionKernel final : public NodeKernel {
 public:
  explicit AttentionKernel(const AttentionExtents& at) : at_(at) {}
  const char* name() const override { return "attention"; }
  std::int64_t products() const override {
    return at_.batch * at_.heads * at_.queries * at_.keys * (at_.dim + at_.value_dim);
  }
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(at_.batch * at_.heads * at_.queries) * sizeof(float);
  }
  void run(const Arrays& arrays) const override {
    const AttentionLayout layout{at_.batch, at_.heads,  at_.queries, at_.keys, at_.dim, at_.value_dim,
                                 at_.scale, at_.causal, nullptr,     {},       true};
    const auto& [query, key, value] = std::array{arrays.inputs[0], arrays.inputs[1], arrays.inputs[2]};
    float* const logs = static_cast<float*>(arrays.scratch);
    if (has_pair_products && at_.paired)
      attention<float, has_pair_products>(layout, query, key, value, arrays.output, logs);
    else attention<float>(layout, query, key, value, arrays.output, logs);
  }

 private:
  const AttentionExtents at_;
};

}  // namespace

std::shared_ptr<const NodeKernel> attention_kernel(const AttentionExtents& extents) {
  return std::make_shared<AttentionKernel>(extents);
}

}  // namespace ktape::kernels
