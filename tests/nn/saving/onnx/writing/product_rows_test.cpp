#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: products are exported") {
  exported::Checks check;
  const Tensor x = normal({2, 3, 4}, 1, "float32"), y = normal({2, 4, 3}, 2, "float32"),
               w = normal({4, 5}, 3, "float32"), deep = normal({2, 4, 3}, 4, "float32"),
               bias = normal({4}, 5, "float32");
  check("dot", {x}, [&](In in) { return K::dot(in[0], w); });
  check("dot_deep", {x}, [&](In in) { return K::dot(in[0], deep); });
  check("matmul", {x, y}, [](In in) { return K::matmul(in[0], in[1]); });
  check("transposed", {x, y},
        [](In in) { return K::matmul(in[0], in[1], {.transpose_a = true, .transpose_b = true}); });
  check("batch_dot", {x, y}, [](In in) { return K::batch_dot(in[0], in[1], {2, 1}); });
  check("einsum", {x, y}, [](In in) { return K::einsum("bij,bjk->bki", {in[0], in[1]}); });
  check("bias", {x}, [&](In in) { return K::bias_add(in[0], bias); });
  check.run();
}
