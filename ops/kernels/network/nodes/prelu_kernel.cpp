#include <ktape/ops/kernels/network/nodes/node_kernels.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>

#include <algorithm>

namespace ktape::kernels {

namespace {

class PreluKernel final : public NodeKernel {
 public:
  PreluKernel(std::int64_t rows, std::int64_t channels) : rows_(rows), channels_(channels) {}
  const char* name() const override { return "prelu"; }
  std::size_t packed_size() const override { return static_cast<std::size_t>(channels_); }
  void pack(const std::vector<const float*>& weights, float* packed) const override {
    std::copy_n(weights[0], channels_, packed);
  }
  void run(const Arrays& at) const override {
    parallel_rows(rows_, channels_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const float* const x = at.inputs[0] + row * channels_;
        float* const y = at.output + row * channels_;
        for_vectors<float>(channels_, [&](std::int64_t c, std::int64_t n) {
          const Vec<float> at_c = load_partial(x + c, n);
          store_partial(y + c, at_c > 0 ? at_c : at_c * load_partial(at.packed + c, n), n);
        });
      }
    });
  }

 private:
  const std::int64_t rows_, channels_;
};

}  // namespace

std::shared_ptr<const NodeKernel> prelu_kernel(std::int64_t rows, std::int64_t channels) {
  return std::make_shared<PreluKernel>(rows, channels);
}

}  // namespace ktape::kernels
