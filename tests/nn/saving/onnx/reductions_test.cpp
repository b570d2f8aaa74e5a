#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: reductions") {
  const ktape::Tensor x = counted({2, 3}, "float32");
  CHECK(values(run_operator("ReduceSum", {x, longs({1})}, onnx_integer("keepdims", 0))) == Values{3, 12});
  CHECK(values(run_operator("ReduceMax", {x}, onnx_integers("axes", {0}))) == Values{3, 4, 5});
  CHECK(values(run_operator("ReduceSum", {x}, onnx_integer("noop_with_empty_axes", 1))) == values(x));
  CHECK(values(run_operator("ArgMax", {reals({1, 3, 3})}, onnx_integer("select_last_index", 1))) ==
        Values{2});
  CHECK(values(run_operator("CumSum", {reals({1, 2, 3}), ints(0)},
                            onnx_integer("exclusive", 1) + onnx_integer("reverse", 1))) == Values{5, 3, 0});
  CHECK(values(run_operator("TopK", {reals({3, 1, 2}), longs({2})}, onnx_integer("largest", 0))) ==
        Values{1, 2});
  CHECK_THROWS_WITH_AS(run_operator("TopK", {reals({3, 1, 2}), longs({4})}),
                       Contains("k must be a number of at most 3"), ValueError);
  CHECK_THROWS_WITH_AS(run_operator("ReduceMax", {x}, onnx_integers("axes", {2})),
                       Contains("an axis must be in [-2, 2): received axis=2"), ValueError);
}
