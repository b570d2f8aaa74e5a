#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: recurrent layers with given states are exported") {
  exported::Checks check;
  const Tensor x = normal({2, 5, 3}, 1, "float32"), h = normal({2, 4}, 2, "float32"),
               c = normal({2, 4}, 3, "float32");
  check("lstm", {x, h, c}, [](In in) {
    return nn::LSTM(4, {.return_sequences = true})({in[0], in[1], in[2]});
  });
  check("gru", {x, h}, [](In in) { return nn::GRU(4, {.go_backwards = true})({in[0], in[1]}); });
  check("rnn", {x, h}, [](In in) { return nn::SimpleRNN(4)({in[0], in[1]}); });
  check.run();
}
