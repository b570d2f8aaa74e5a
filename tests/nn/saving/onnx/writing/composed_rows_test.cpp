#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: ops that are made of several operators are exported") {
  exported::Checks check;
  const Tensor x = normal({3, 4}, 1, "float32"), y = normal({3, 4}, 2, "float32");
  check("arctan2", {x, y}, [](In in) { return ops::arctan2(in[0], in[1]); });
  check("cbrt", {x}, [](In in) { return ops::cbrt(in[0]); });
  check("ldexp", {x, ints({{1, -2, 0, 3}, {2, 2, 1, 0}, {-1, 0, 4, 5}})},
        [](In in) { return ops::ldexp(in[0], in[1]); });
  check("sparse_sigmoid", {x}, [](In in) { return ops::sparse_sigmoid(2 * in[0]); });
  check("binary_crossentropy", {K::sigmoid(x), K::sigmoid(y)},
        [](In in) { return ops::binary_crossentropy(in[0], in[1]); });
  check("categorical_crossentropy", {K::softmax(x), K::softmax(y)},
        [](In in) { return ops::categorical_crossentropy(in[0], in[1]); });
  check("sparse_categorical_crossentropy", {ints({0, 3, 1}), K::softmax(y)},
        [](In in) { return ops::sparse_categorical_crossentropy(in[0], in[1]); });
  check("segment_sum", {x, ints({0, 0, 2})}, [](In in) { return ops::segment_sum(in[0], in[1], 3); });
  check.run();
}
