#include <ktape/ops/kernels/copy/permute.hpp>
#include <ktape/ops/kernels/network/nodes/node_kernels.hpp>

namespace ktape::kernels {

namespace {

class PermuteKernel final : public NodeKernel {
 public:
  PermuteKernel(const std::vector<std::int64_t>& shape, const std::vector<int>& axes)
      : shape_(shape), axes_(axes) {}
  const char* name() const override { return "permutation"; }
  void run(const Arrays& at) const override {
    permute(at.inputs[0], at.output, shape_.data(), axes_.data(), static_cast<int>(axes_.size()),
            sizeof(float));
  }

 private:
  const std::vector<std::int64_t> shape_;
  const std::vector<int> axes_;
};

}  // namespace

std::shared_ptr<const NodeKernel> permute_kernel(const std::vector<std::int64_t>& shape,
                                                 const std::vector<int>& axes) {
  return std::make_shared<PermuteKernel>(shape, axes);
}

}  // namespace ktape::kernels
