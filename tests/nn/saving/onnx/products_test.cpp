#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: products") {
  const ktape::Tensor a = reals({{1, 2}, {3, 4}});
  CHECK(values(run_operator("MatMul", {a, reals({1, 1})})) == Values{3, 7});
  CHECK(values(run_operator("Gemm", {a, a, reals({1, 0})}, onnx_integer("transA", 1))) ==
        Values{11, 14, 15, 20});
  CHECK(values(run_operator("Einsum", {a, a}, onnx_text("equation", "ij,ij->i"))) == Values{5, 25});
  CHECK(values(run_operator("Det", {a}))[0] == doctest::Approx(-2));
  CHECK_THROWS_WITH_AS(run_operator("Gemm", {a, reals({1, 2})}), Contains("A and B must be matrices"),
                       ValueError);
}
