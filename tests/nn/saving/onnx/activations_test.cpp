#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: activations") {
  CHECK(values(run_operator("LeakyRelu", {reals({-100, 2})})) == Values{-1, 2});
  CHECK(values(run_operator("HardSwish", {reals({-4, 0, 3})})) == Values{0, 0, 3});
  CHECK(values(run_operator("Hardmax", {reals({{1, 3, 3}, {2, 1, 0}})})) == Values{0, 1, 0, 1, 0, 0});
  CHECK(values(run_operator("Softmax", {K::zeros({2, 2, 2})}, "", 17)) == Values(8, 0.5));
  CHECK(values(run_operator("Softmax", {K::zeros({2, 2, 2})}, "", 11)) ==
        Values(8, 0.25));  // axes 1 and 2 together
}
