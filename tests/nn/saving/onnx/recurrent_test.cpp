#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: recurrent nodes") {
  const ktape::Tensor x = normal({4, 2, 3}, 1, "float32"), w = normal({2, 8, 3}, 2, "float32"),
                      r = normal({2, 8, 2}, 3, "float32");
  const std::string both = onnx_text("direction", "bidirectional");
  const ktape::Tensor y = run_operator("LSTM", {x, w, r}, both);
  CHECK(y.shape() == ktape::Shape{4, 2, 2, 2});
  // The second direction reads the reversed sequence with its own weights.
  const ktape::Tensor second = run_operator(
      "LSTM", {K::reverse(x, 0), K::slice(w, {1, 0, 0}, {1, 8, 3}), K::slice(r, {1, 0, 0}, {1, 8, 2})});
  CHECK(close(K::reshape(K::slice(y, {0, 1, 0, 0}, {4, 1, 2, 2}), {4, 2, 2}),
              K::reshape(K::reverse(second, 0), {4, 2, 2}), {.atol = 1e-6}));
  CHECK_THROWS_WITH_AS(run_operator("LSTM", {x, w, r}), Contains("must have rank 3 and fit the direction"),
                       ValueError);
  CHECK_THROWS_WITH_AS(run_operator("LSTM", {x, w, r}, both + onnx_integer("input_forget", 1)),
                       Contains("without clip and input_forget"), ValueError);
}

TEST_CASE("onnx: peepholes, and hard gates") {
  const ktape::Tensor x = normal({3, 2, 4}, 1, "float32"), w = normal({1, 8, 4}, 2, "float32"),
                      r = normal({1, 8, 2}, 3, "float32"), b = normal({1, 16}, 4, "float32"),
                      state = normal({1, 2, 2}, 5, "float32"), lengths = ints({3, 2});
  const auto lstm = [&](const ktape::Tensor& peepholes) {
    return run_operator("LSTM", {x, w, r, b, lengths, state, state, peepholes});
  };
  const ktape::Tensor plain = run_operator("LSTM", {x, w, r, b, lengths, state, state});
  CHECK(close(lstm(K::zeros({1, 6})), plain, {.atol = 1e-6}));
  CHECK(!close(lstm(K::ones({1, 6})), plain, {.atol = 1e-3}));
  CHECK_THROWS_WITH_AS(lstm(K::ones({1, 5})), Contains("P must have three numbers for each unit"),
                       ValueError);
  const std::string hard = onnx_texts("activations", {"HardSigmoid", "Tanh", "Tanh"});
  CHECK(run_operator("LSTM", {x, w, r}, hard + onnx_reals("activation_alpha", {0.2F})).shape() ==
        ktape::Shape{3, 1, 2, 2});
  CHECK_THROWS_WITH_AS(run_operator("LSTM", {x, w, r}, hard + onnx_reals("activation_alpha", {0.5F})),
                       Contains("HardSigmoid must have activation_alpha=0.2"), ValueError);
}
