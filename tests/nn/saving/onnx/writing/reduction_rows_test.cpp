#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: reductions are exported") {
  exported::Checks check;
  const Tensor x = normal({3, 4}, 1, "float32"), y = normal({3, 4}, 2, "float32");
  check("sum", {x}, [](In in) { return K::sum(in[0], 1); });
  check("mean", {x}, [](In in) { return K::mean(in[0], 1, true); });
  check("var", {x}, [](In in) { return K::var(in[0], 1); });
  check("std", {x}, [](In in) { return K::std(in[0], 1); });
  check("max", {x}, [](In in) { return K::max(in[0], -1); });
  check("min", {x}, [](In in) { return K::min(in[0], 1, true); });
  check("prod", {x}, [](In in) { return K::prod(in[0], 1); });
  check("logsumexp", {x}, [](In in) { return K::logsumexp(in[0], 1); });
  check("argmax", {x}, [](In in) { return K::argmax(in[0], 1); });
  check("argmin", {x}, [](In in) { return K::argmin(in[0], 1); });
  check("any", {x}, [](In in) { return K::any(in[0] > 1, 1); });
  check("all", {x}, [](In in) { return K::all(in[0] > -1, 1); });
  check("cumsum", {x}, [](In in) { return K::cumsum(in[0], 1); });
  check("norm", {x}, [](In in) { return K::norm(in[0], 1); });
  check.run();
}
