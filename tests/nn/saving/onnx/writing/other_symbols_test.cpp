#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: computed shapes and plain tensors are exported") {
  exported::Checks check;
  const Tensor x = normal({2, 6}, 1, "float32");
  check("open", {x}, [](In in) { return nn::Reshape({-1, 2})(in[0]); });
  check("filled", {x}, [](In in) { return K::ones(K::shape(in[0])) * 3 + in[0]; });
  check("range", {x}, [](In in) { return in[0] + K::cast(K::arange(K::shape(in[0])[1]), "float32"); });
  check("same", {x}, [](In in) { return K::identity(in[0]); });
  check("dropout", {x}, [](In in) { return nn::Dropout(0.5)(in[0]); });
  check.run();
}
