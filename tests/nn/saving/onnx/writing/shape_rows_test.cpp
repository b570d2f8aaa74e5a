#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: ops of shapes are exported") {
  exported::Checks check;
  const Tensor x = normal({2, 3, 4}, 1, "float32");
  check("reshape", {x}, [](In in) { return K::reshape(in[0], {-1, 12}); });
  check("computed", {x}, [](In in) {
    return K::reshape(in[0], K::stack({K::shape(in[0])[0], K::shape(in[0])[2], K::shape(in[0])[1]}));
  });
  check("permute", {x}, [](In in) { return K::permute_dimensions(in[0], {0, 2, 1}); });
  check("expand", {x}, [](In in) { return K::expand_dims(in[0], 1); });
  check("squeeze", {x}, [](In in) { return K::squeeze(K::expand_dims(in[0], -1), 3); });
  check("concatenate", {x}, [](In in) { return K::concatenate({in[0], in[0] * 2}, 1); });
  check("stack", {x}, [](In in) { return K::stack({in[0], in[0] * 2}, 1); });
  check("repeat", {x}, [](In in) { return K::repeat_elements(in[0], 2, 1); });
  check("tile", {x}, [](In in) { return K::tile(in[0], {1, 2, 1}); });
  check("reverse", {x}, [](In in) { return K::reverse(in[0], {1, 2}); });
  check("slice", {x}, [](In in) { return K::slice(in[0], {0, 1, 0}, {-1, 2, 3}); });
  check("split", {x}, [](In in) { return K::split(in[0], 2, 2); });
  check("uneven", {x}, [](In in) { return K::split(in[0], {1, 3}, 2); });
  check("unstack", {x}, [](In in) { return K::unstack(in[0], 1); });
  check("pad", {x}, [](In in) { return K::pad(in[0], {0, 1, {0, 2}}); });
  check("reflect", {x}, [](In in) { return K::pad(in[0], {0, 1, 1}, {.mode = "reflect"}); });
  check("flatten", {x}, [](In in) { return K::batch_flatten(in[0]); });
  check.run();
}
