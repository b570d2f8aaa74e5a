#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: quantized tensors") {
  const ktape::Tensor zero = ints(128, "uint8");
  CHECK(values(run_operator("QuantizeLinear", {reals({0, 1, 1.5, 2.5, 1000, -1000}), reals(1), zero})) ==
        Values{128, 129, 130, 130, 255, 0});
  CHECK(values(run_operator("DequantizeLinear", {ints({128, 130}, "uint8"), reals(0.5), zero})) ==
        Values{0, 1});
  CHECK(values(run_operator("MatMulInteger", {ints({{255, 1}}, "uint8"), ints({{2}, {3}}, "uint8"),
                                              ints(1, "uint8")})) == Values{508});
}
