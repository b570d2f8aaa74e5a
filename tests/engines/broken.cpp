// An engine with everything that can be wrong with a list of entries.
#include <ktape/ops/engine.h>

namespace {

constexpr ktape_engine_entry entries[] = {
    {"matmul", KTAPE_MATMUL_VERSION + 1, nullptr},
    {"convolution", KTAPE_CONVOLUTION_VERSION, nullptr},
    {"convolution", KTAPE_CONVOLUTION_VERSION, nullptr},
    {"convolution_backward_data", KTAPE_CONVOLUTION_VERSION, nullptr},
    {"convolution_backward_kernel", 0, nullptr},
    {"maxpool", KTAPE_POOLING_VERSION, nullptr},
    {nullptr, 1, nullptr},
    {"softmax", KTAPE_SOFTMAX_VERSION, nullptr},
    {"batch_affine", KTAPE_BATCH_NORMALIZATION_VERSION, nullptr},
    {"batch_slopes", KTAPE_BATCH_NORMALIZATION_VERSION, nullptr},
    {"batch_moments", KTAPE_BATCH_NORMALIZATION_VERSION, nullptr},
};
constexpr ktape_engine engine{KTAPE_ENGINE_VERSION, "broken", entries, sizeof entries / sizeof entries[0]};

}  // namespace

extern "C" const ktape_engine* ktape_get_engine(void) { return &engine; }
