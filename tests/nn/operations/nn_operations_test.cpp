#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("the activations that Keras writes are those of the library") {
  const Tensor x = normal({2, 6}, 4, "float32");
  for (const auto& one : std::vector<std::pair<const char*, const char*>>{{"Relu", "relu"},
                                                                          {"Relu6", "relu6"},
                                                                          {"Sigmoid", "sigmoid"},
                                                                          {"Silu", "silu"},
                                                                          {"Softplus", "softplus"},
                                                                          {"Softsign", "softsign"},
                                                                          {"Selu", "selu"},
                                                                          {"Elu", "elu"},
                                                                          {"Celu", "celu"},
                                                                          {"Glu", "glu"},
                                                                          {"HardSigmoid", "hard_sigmoid"},
                                                                          {"HardSilu", "hard_silu"},
                                                                          {"HardTanh", "hard_tanh"},
                                                                          {"HardShrink", "hard_shrink"},
                                                                          {"SoftShrink", "soft_shrink"},
                                                                          {"TanhShrink", "tanh_shrink"},
                                                                          {"LogSigmoid", "log_sigmoid"},
                                                                          {"LeakyRelu", "leaky_relu"},
                                                                          {"Squareplus", "squareplus"},
                                                                          {"SparsePlus", "sparse_plus"},
                                                                          {"SparseSigmoid", "sparse_sigmoid"},
                                                                          {"Softmax", "softmax"},
                                                                          {"LogSoftmax", "log_softmax"},
                                                                          {"Sparsemax", "sparsemax"}}) {
    const auto& operation = one.first;
    const auto& name = one.second;
    CAPTURE(operation);
    check_same(run(operation, {{"x", of(x)}}), nn::ActivationFunction(name)(x));
  }
  check_same(run("Gelu", {{"x", of(x)}}), K::gelu(x, {.approximate = true}));
}
