// Measures what oneDNN alone needs for the products of a training step, forward and backward, in float32 and bfloat16,
// on arrays in row-major order. A step in bfloat16 takes at least the step in float32 with its products replaced.
// Usage: ktape_floor_products
#include <dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

/// Layers that multiply (rows, inner) by (inner, columns).
struct Dense {
  std::int64_t rows, inner, columns, count;
  bool first = false;  ///< whether the layer's input needs no gradient
};

/// Returns the shortest time of 200 runs of a product, in milliseconds.
double milliseconds(const memory::desc& a, const memory::desc& b, const memory::desc& c) {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  static dnnl::stream stream(engine);
  const dnnl::matmul product(dnnl::matmul::primitive_desc({a, b, c}, engine));
  const memory x(a, engine), y(b, engine), z(c, engine);
  double best = 1e9;
  for (int run = 0; run < 200; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    product.execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, y}, {DNNL_ARG_DST, z}});
    stream.wait();
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

/// Returns the time of the products y = x k, dk = x^T dy and, unless the layer is the first, dx = dy k^T.
double milliseconds(const Dense& layer, memory::data_type type) {
  const auto matrix = [&](std::int64_t rows, std::int64_t columns, Tag tag = Tag::ab) {
    return memory::desc({rows, columns}, type, tag);
  };
  const auto [m, k, n, count, first] = layer;
  double time = milliseconds(matrix(m, k), matrix(k, n), matrix(m, n)) +
                milliseconds(matrix(k, m, Tag::ba), matrix(m, n), matrix(k, n));
  if (!first) time += milliseconds(matrix(m, n), matrix(n, k, Tag::ba), matrix(m, k));
  return static_cast<double>(count) * time;
}

void report(const char* name, const std::vector<Dense>& layers) {
  double times[2] = {};
  for (const Dense& layer : layers) {
    times[0] += milliseconds(layer, memory::data_type::f32);
    times[1] += milliseconds(layer, memory::data_type::bf16);
  }
  std::printf("%-24s float32 %9.3f ms  bfloat16 %9.3f ms\n", name, times[0], times[1]);
}

}  // namespace

int main() {
  report("nn_mlp_train", {{128, 784, 512, 1, true}, {128, 512, 512, 1}, {128, 512, 10, 1}});
  report("nn_transformer_train", {{2048, 128, 128, 8}, {2048, 128, 512, 2}, {2048, 512, 128, 2}});
  report("nn_mini_gpt_train",
         {{2048, 128, 128, 16}, {2048, 128, 512, 4}, {2048, 512, 128, 4}, {2048, 128, 64, 1}});
}
