#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: loops over time steps are exported") {
  exported::Checks check;
  const Tensor x = normal({2, 5, 3}, 1, "float32"), w = normal({3, 3}, 2, "float32"),
               seen = K::cast(normal({2, 5}, 3, "float32") > 0, "float32");
  const auto step = [&](const Tensor& in, const std::vector<Tensor>& states) {
    const Tensor h = K::tanh(K::dot(in, w) + states[0]);
    return std::pair{h, std::vector{h * 0.5}};
  };
  check("plain", {x}, [&](In in) {
    auto [last, all, states] = K::rnn(step, in[0], {K::zeros_like(in[0][{All, 0}])});
    return std::vector{last, all, states[0]};
  });
  check("masked", {x, seen}, [&](In in) {
    auto [last, all, states] = K::rnn(step, in[0], {K::zeros_like(in[0][{All, 0}])}, {.mask = in[1]});
    return std::vector{last, all, states[0]};
  });
  check("backwards", {x}, [&](In in) {
    return K::rnn(step, in[0], {K::zeros_like(in[0][{All, 0}])}, {.go_backwards = true}).outputs;
  });
  check.run();
}
