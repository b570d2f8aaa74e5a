// Measures what oneDNN alone needs for products in float32 and bfloat16: for those of a training step, forward and
// backward, on arrays in row-major order, and for those of a prediction, with kernels in oneDNN's best layout. A step
// in bfloat16 takes at least the step in float32 with its products replaced.
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

/// Returns the shortest time of many runs of a product with each of `kernels` arrays b, in milliseconds.
double milliseconds(const memory::desc& a, const memory::desc& b, const memory::desc& c,
                    std::int64_t kernels = 1) {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  static dnnl::stream stream(engine);
  const dnnl::matmul::primitive_desc description({a, b, c}, engine);
  const dnnl::matmul product(description);
  const memory x(a, engine), z(c, engine);
  std::vector<memory> y;
  for (std::int64_t i = 0; i < kernels; ++i) y.emplace_back(description.weights_desc(), engine);
  double best = 1e9;
  for (std::int64_t run = 0; run < 200 / kernels; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    for (const memory& kernel : y)
      product.execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, kernel}, {DNNL_ARG_DST, z}});
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

/// Products of (count, rows, inner) by (count, inner, columns), `times` in a prediction. A product of count 1 has a
/// kernel, which is packed once; `kernels` products have kernels of their own, which come from memory.
struct Product {
  std::int64_t rows, inner, columns, times, kernels = 1, count = 1;
};

double milliseconds(const Product& p, memory::data_type type) {
  const auto array = [&](std::int64_t rows, std::int64_t columns, bool packed = false) {
    if (p.count > 1) return memory::desc({p.count, rows, columns}, type, Tag::abc);
    return memory::desc({rows, columns}, type, packed ? Tag::any : Tag::ab);
  };
  return static_cast<double>(p.times / p.kernels) * milliseconds(array(p.rows, p.inner),
                                                                 array(p.inner, p.columns, true),
                                                                 array(p.rows, p.columns), p.kernels);
}

template <class Part>
void report(const char* name, const std::vector<Part>& parts) {
  double times[2] = {};
  for (const Part& part : parts) {
    times[0] += milliseconds(part, memory::data_type::f32);
    times[1] += milliseconds(part, memory::data_type::bf16);
  }
  std::printf("%-24s float32 %9.3f ms  bfloat16 %9.3f ms\n", name, times[0], times[1]);
}

/// Reports a prediction of the size of BERT base, for sequences of 128 tokens.
void report_bert(const char* name, std::int64_t sequences) {
  const std::int64_t tokens = 128 * sequences, layers = 12;
  report<Product>(name, {{tokens, 768, 768, 4 * layers, 4 * layers},
                         {tokens, 768, 3072, layers, layers},
                         {tokens, 3072, 768, layers, layers},
                         {128, 64, 128, layers, 1, 12 * sequences},
                         {128, 128, 64, layers, 1, 12 * sequences}});
}

}  // namespace

int main() {
  report<Dense>("nn_mlp_train", {{128, 784, 512, 1, true}, {128, 512, 512, 1}, {128, 512, 10, 1}});
  report<Dense>("nn_transformer_train", {{2048, 128, 128, 8}, {2048, 128, 512, 2}, {2048, 512, 128, 2}});
  report<Dense>("nn_mini_gpt_train",
                {{2048, 128, 128, 16}, {2048, 128, 512, 4}, {2048, 512, 128, 4}, {2048, 128, 64, 1}});
  for (const std::int64_t rows : {1, 128})
    report<Product>(rows == 1 ? "mlp_predict_1" : "mlp_predict_128",
                    {{rows, 784, 512, 1}, {rows, 512, 512, 1}, {rows, 512, 10, 1}});
  for (const std::int64_t rows : {1, 32})
    report<Product>(rows == 1 ? "lstm_predict_1" : "lstm_predict_32",
                    {{80 * rows, 128, 512, 1}, {rows, 128, 512, 80}});
  report_bert("bert_predict_1", 1);
  report_bert("bert_predict_8", 8);
}
