#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: indexing ops are exported") {
  exported::Checks check;
  const Tensor x = normal({3, 4}, 1, "float32"), y = normal({3, 4}, 2, "float32");
  const Tensor words = ints({{0, 3, 1}, {2, 2, 4}});
  const Tensor table = normal({5, 2}, 3, "float32");
  check("range", {x}, [](In in) { return (in[0][{All, Slice(1, 3)}]); });
  check("position", {x}, [](In in) { return (in[0][{All, -1}]); });
  check("backwards", {x}, [](In in) { return (in[0][{All, Slice(None, None, -2)}]); });
  check("new_axis", {x}, [](In in) { return (in[0][{All, ktape::NewAxis, Slice(0, 2)}]); });
  check("last", {x}, [](In in) { return (in[0][{ktape::Ellipsis, 2}]); });
  check("top_k", {x}, [](In in) { return K::top_k(in[0], 2).values; });
  check("sort", {x}, [](In in) { return K::sort(in[0], 1); });
  check("sort_down", {x}, [](In in) { return K::sort(in[0], 1, {.direction = "DESCENDING"}); });
  check("gather", {words}, [&](In in) { return K::gather(table, in[0]); });
  check("one_hot", {words}, [](In in) { return K::one_hot(in[0], 5); });
  check.run();
}
