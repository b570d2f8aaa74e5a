#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: losses") {
  const ktape::Tensor log_probability = reals({{-1, -2}, {-3, -4}});
  CHECK(values(run_operator("NegativeLogLikelihoodLoss", {log_probability, longs({1, 0})})) == Values{2.5});
  CHECK(values(run_operator("NegativeLogLikelihoodLoss", {log_probability, longs({1, 0})},
                            onnx_integer("ignore_index", 0))) == Values{2});
  CHECK(values(run_operator("NegativeLogLikelihoodLoss", {log_probability, longs({1, 0})},
                            onnx_text("reduction", "none"))) == Values{2, 3});
  CHECK_THROWS_WITH_AS(run_operator("NegativeLogLikelihoodLoss", {log_probability, longs({1, 2})}),
                       Contains("a class must be in [0, 2): received 2"), ValueError);
}
