#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("functions of K without an operation in Keras run by name") {
  check_same(
      run("full", {{"shape", value("[2, 3]")}, {"value", value("1.5")}, {"dtype", value("\"float64\"")}}),
      K::full({2, 3}, 1.5, "float64"));
  check_same(run("eye", {{"size", value("3")}}), K::eye(3));
  const Tensor x = normal({4, 3}, 1, "float32"), mean = normal({3}, 2, "float32"),
               variance = K::square(normal({3}, 3, "float32"));
  check_same(run("batch_normalization", {{"x", of(x)},
                                         {"mean", of(mean)},
                                         {"var", of(variance)},
                                         {"axis", value("-1")},
                                         {"epsilon", value("0.001")}}),
             K::batch_normalization(x, mean, variance, {}, {}, {.epsilon = 1e-3}));
  const Tensor query = normal({2, 2, 3, 4}, 4, "float32"), key = normal({2, 2, 5, 4}, 5, "float32");
  check_same(run("scaled_dot_product_attention", {{"query", of(query)},
                                                  {"key", of(key)},
                                                  {"value", of(key)},
                                                  {"scale", value("0.5")},
                                                  {"causal", value("true")},
                                                  {"heads_last", value("false")}}),
             K::scaled_dot_product_attention(query, key, key, {.causal = true, .scale = 0.5}));
}
