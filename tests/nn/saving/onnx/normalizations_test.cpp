#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: normalizations") {
  const ktape::Tensor x = reals({{1, 3}, {2, 6}}), one = K::ones({2}), zero = K::zeros({2});
  CHECK(values(run_operator("LayerNormalization", {x, one, zero}))[1] == doctest::Approx(1).epsilon(1e-4));
  CHECK(values(run_operator("BatchNormalization", {x, one, one, one, one}))[3] ==
        doctest::Approx(6).epsilon(1e-4));
  CHECK(values(run_operator("BatchNormalization", {x, one, zero, zero, one},
                            onnx_integer("training_mode", 1)))[2] == doctest::Approx(1).epsilon(1e-4));
  CHECK(values(run_operator("LpNormalization", {reals({{3, 4}})}))[0] == doctest::Approx(0.6));
  CHECK_THROWS_WITH_AS(
      run_operator("GroupNormalization", {K::ones({1, 3, 2}), one, one}, onnx_integer("num_groups", 2), 21),
      Contains("num_groups must divide the channels, 3"), ValueError);
}
