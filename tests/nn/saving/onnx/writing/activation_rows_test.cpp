#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: activations are exported") {
  exported::Checks check;
  const Tensor x = normal({3, 4}, 1, "float32"), y = normal({3, 4}, 2, "float32");
  check("relu", {x}, [](In in) { return K::relu(in[0]); });
  check("leaky", {x}, [](In in) { return K::relu(in[0], {.alpha = 0.1}); });
  check("bounded", {x},
        [](In in) { return K::relu(in[0], {.alpha = 0.2, .max_value = 0.7, .threshold = 0.1}); });
  check("relu6", {x}, [](In in) { return nn::activations::relu6(in[0] * 5); });
  check("elu", {x}, [](In in) { return K::elu(in[0], 0.5); });
  check("selu", {x}, [](In in) { return nn::activations::selu(in[0]); });
  check("celu", {x}, [](In in) { return nn::activations::celu(in[0], {.alpha = 0.7}); });
  check("gelu", {x}, [](In in) { return K::gelu(in[0], {.approximate = false}); });
  check("gelu_tanh", {x}, [](In in) { return K::gelu(in[0], {.approximate = true}); });
  check("silu", {x}, [](In in) { return nn::activations::silu(in[0]); });
  check("hard_sigmoid", {x}, [](In in) { return nn::activations::hard_sigmoid(in[0] * 4); });
  check("hard_sigmoid_of_k", {x}, [](In in) { return K::hard_sigmoid(in[0] * 4); });
  check("hard_silu", {x}, [](In in) { return nn::activations::hard_silu(in[0] * 4); });
  check("hard_shrink", {x}, [](In in) { return nn::activations::hard_shrink(in[0]); });
  check("soft_shrink", {x}, [](In in) { return nn::activations::soft_shrink(in[0]); });
  check("threshold", {x},
        [](In in) { return nn::activations::threshold(in[0], {.threshold = 0.2, .default_value = 3}); });
  check("squareplus", {x}, [](In in) { return nn::activations::squareplus(in[0]); });
  check("sparse_plus", {x}, [](In in) { return nn::activations::sparse_plus(in[0]); });
  check("softplus", {x}, [](In in) { return K::softplus(in[0]); });
  check("softsign", {x}, [](In in) { return K::softsign(in[0]); });
  check("softmax", {x}, [](In in) { return K::softmax(in[0], 1); });
  check("log_softmax", {x}, [](In in) { return nn::activations::log_softmax(in[0]); });
  check("log_sigmoid", {x}, [](In in) { return nn::activations::log_sigmoid(in[0] * 4); });
  check("tanh_shrink", {x}, [](In in) { return nn::activations::tanh_shrink(in[0]); });
  check("mish", {x}, [](In in) { return nn::activations::mish(in[0]); });
  check("glu", {x}, [](In in) { return nn::activations::glu(in[0]); });
  check.run();
}
