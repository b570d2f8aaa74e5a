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

TEST_CASE("onnx: the slopes of opset 6 are those of the channels") {
  const ktape::Tensor x = K::reshape(reals({-1, 2, -3, -4, 5, -6, -7, 8}), {2, 2, 2});
  CHECK(values(run_operator("PRelu", {x, reals({10, 100})}, "", 6)) ==
        Values{-10, 2, -300, -400, 5, -60, -700, 8});
  CHECK(values(run_operator("PRelu", {x, reals({10, 100})}, "", 7)) ==
        Values{-10, 2, -30, -400, 5, -600, -70, 8});
}
