#include <ktape/ops/kernels/copy/permute.hpp>
#include <ktape/ops/kernels/network/nodes/node_kernels.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>

#include <algorithm>

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

class ReversalKernel final : public NodeKernel {
 public:
  ReversalKernel(std::int64_t samples, std::int64_t steps, std::int64_t n)
      : samples_(samples), steps_(steps), n_(n) {}
  const char* name() const override { return "reversal"; }
  void run(const Arrays& at) const override {
    parallel_rows(samples_ * steps_, n_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t step = row % steps_, from = row - step + steps_ - 1 - step;
        std::copy_n(at.inputs[0] + from * n_, n_, at.output + row * n_);
      }
    });
  }

 private:
  const std::int64_t samples_, steps_, n_;
};

}  // namespace

std::shared_ptr<const NodeKernel> reversal_kernel(std::int64_t samples, std::int64_t steps, std::int64_t n) {
  return std::make_shared<ReversalKernel>(samples, steps, n);
}

std::shared_ptr<const NodeKernel> permute_kernel(const std::vector<std::int64_t>& shape,
                                                 const std::vector<int>& axes) {
  return std::make_shared<PermuteKernel>(shape, axes);
}

}  // namespace ktape::kernels
