#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: gathering and scattering") {
  const ktape::Tensor x = counted({2, 3}, "float32");
  CHECK(values(run_operator("Gather", {x, longs({-1, 0})}, onnx_integer("axis", 1))) == Values{2, 0, 5, 3});
  CHECK(values(run_operator("GatherElements", {x, longs({{1, 0}})})) == Values{3, 1});
  CHECK(values(run_operator("GatherND", {x, longs({{0, 2}, {-1, 0}})})) == Values{2, 3});
  CHECK(values(run_operator("ScatterElements", {reals({1, 2, 3}), longs({2, 0}), reals({9, 8})})) ==
        Values{8, 2, 9});
  CHECK(values(run_operator("ScatterND", {reals({1, 2, 3}), longs({{1}, {1}}), reals({5, 5})},
                            onnx_text("reduction", "add"))) == Values{1, 12, 3});
  CHECK(values(run_operator("Unique", {reals({3, 1, 3, 2})}, onnx_integer("sorted", 0))) == Values{3, 1, 2});
  CHECK_THROWS_WITH_AS(run_operator("Gather", {x, longs({2})}),
                       Contains("indices must be in [-2, 2): received index=2"), ValueError);
  CHECK_THROWS_WITH_AS(run_operator("ScatterElements", {reals({1}), longs({0, 0}), reals({9})}),
                       Contains("[scatter_update] updates must have the shape (2,)"), ValueError);
}
