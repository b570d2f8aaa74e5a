// An engine whose softmax of float32 is 1/2 everywhere.
#include <ktape/ops/engine.h>

namespace {

int32_t halves(const void* arguments) {
  const auto& call = *static_cast<const ktape_softmax*>(arguments);
  if (call.dtype != KTAPE_FLOAT32) return 0;
  for (int64_t i = 0; i < call.outer * call.axis * call.inner; ++i) static_cast<float*>(call.y)[i] = 0.5f;
  return 1;
}

constexpr ktape_engine_entry entries[] = {
    {"batch_affine", KTAPE_BATCH_NORMALIZATION_VERSION, nullptr},
    {"batch_slopes", KTAPE_BATCH_NORMALIZATION_VERSION, nullptr},
    {"batch_moments", KTAPE_BATCH_NORMALIZATION_VERSION, nullptr},
    {"softmax_backward", KTAPE_SOFTMAX_VERSION, nullptr},
    {"softmax", KTAPE_SOFTMAX_VERSION, halves},
    {"pooling_backward", KTAPE_POOLING_VERSION, nullptr},
    {"pooling", KTAPE_POOLING_VERSION, nullptr},
    {"convolution_backward_kernel", KTAPE_CONVOLUTION_VERSION, nullptr},
    {"convolution_backward_data", KTAPE_CONVOLUTION_VERSION, nullptr},
    {"convolution", KTAPE_CONVOLUTION_VERSION, nullptr},
    {"matmul", KTAPE_MATMUL_VERSION, nullptr},
};
constexpr ktape_engine engine{KTAPE_ENGINE_VERSION, "halves", entries, sizeof entries / sizeof entries[0]};

}  // namespace

extern "C" const ktape_engine* ktape_get_engine(void) { return &engine; }
