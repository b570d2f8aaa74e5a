// A custom engine: counts the calls of each kernel and leaves the work to the built-in kernels. Run a program
// with KERAS_BACKEND=path/to/libcounting_engine.so; when the program ends, the engine prints the number of
// calls of each kernel.
#include <ktape/ops/engine.h>

#include <atomic>
#include <cstdio>
#include <cstring>

namespace {

constexpr const char* names[] = {"matmul",
                                 "convolution",
                                 "convolution_backward_data",
                                 "convolution_backward_kernel",
                                 "pooling",
                                 "pooling_backward",
                                 "softmax",
                                 "softmax_backward",
                                 "batch_moments",
                                 "batch_slopes",
                                 "batch_affine"};
constexpr int kernels = sizeof names / sizeof names[0];

struct Counts {
  std::atomic<long> of[kernels]{};
  ~Counts() {
    for (int i = 0; i < kernels; ++i)
      if (of[i]) std::fprintf(stderr, "%-30s %10ld calls\n", names[i], of[i].load());
  }
} counts;

// Returns 0: not computed. An engine that computes a kernel casts the argument, for example to
// `const ktape_matmul*`, and returns 1.
template <int kernel>
int32_t count(const void*) {
  ++counts.of[kernel];
  return 0;
}

constexpr ktape_engine_entry entries[] = {
    {names[0], KTAPE_MATMUL_VERSION, count<0>},
    {names[1], KTAPE_CONVOLUTION_VERSION, count<1>},
    {names[2], KTAPE_CONVOLUTION_VERSION, count<2>},
    {names[3], KTAPE_CONVOLUTION_VERSION, count<3>},
    {names[4], KTAPE_POOLING_VERSION, count<4>},
    {names[5], KTAPE_POOLING_VERSION, count<5>},
    {names[6], KTAPE_SOFTMAX_VERSION, count<6>},
    {names[7], KTAPE_SOFTMAX_VERSION, count<7>},
    {names[8], KTAPE_BATCH_NORMALIZATION_VERSION, count<8>},
    {names[9], KTAPE_BATCH_NORMALIZATION_VERSION, count<9>},
    {names[10], KTAPE_BATCH_NORMALIZATION_VERSION, count<10>},
};
constexpr ktape_engine engine{KTAPE_ENGINE_VERSION, "counting", entries, kernels};

}  // namespace

extern "C" const ktape_engine* ktape_get_engine(void) { return &engine; }

/// Returns the number of calls of the kernel `name` so far.
extern "C" long counting_engine_calls(const char* name) {
  for (int i = 0; i < kernels; ++i)
    if (std::strcmp(name, names[i]) == 0) return counts.of[i];
  return 0;
}
