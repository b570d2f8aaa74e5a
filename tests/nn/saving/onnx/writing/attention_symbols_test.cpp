#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: attention are exported") {
  exported::Checks check;
  const Tensor x = normal({2, 5, 6}, 1, "float32"), y = normal({2, 3, 6}, 2, "float32"),
               seen = K::cast(normal({2, 5, 3}, 3, "float32") > 0, "float32");
  check("self", {x}, [](In in) { return nn::MultiHeadAttention(2, 3)({in[0], in[0]}); });
  check("cross", {x, y}, [](In in) { return nn::MultiHeadAttention(2, 3)({in[0], in[1]}); });
  check("causal", {x}, [](In in) {
    return nn::MultiHeadAttention(2, 3)({in[0], in[0]}, {.use_causal_mask = true});
  });
  check("mask", {x, y, seen}, [](In in) {
    return nn::MultiHeadAttention(2, 3)({in[0], in[1]}, {.attention_mask = in[2] > 0});
  });
  check("shared", {x}, [](In in) { return nn::GroupQueryAttention(3, 4, 2)({in[0], in[0]}); });
  check.run();
}
