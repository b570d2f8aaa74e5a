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
                       Contains("without clip, input_forget and peepholes"), ValueError);
}
