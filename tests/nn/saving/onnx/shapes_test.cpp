#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: shapes") {
  const ktape::Tensor x = counted({2, 3}, "float32");
  CHECK(run_operator("Reshape", {x, longs({0, -1, 1})}).shape() == ktape::Shape{2, 3, 1});
  CHECK(values(run_operator("Slice", {x, longs({-1}), longs({-9}), longs({1}), longs({-2})})) ==
        Values{2, 0, 5, 3});
  CHECK(values(run_operator("Pad", {reals({1, 2, 3}), longs({2, 1})}, onnx_text("mode", "reflect"))) ==
        Values{3, 2, 1, 2, 3, 2});
  CHECK(values(run_operator("Pad", {reals({1, 2, 3}), longs({-1, 1})})) == Values{2, 3, 0});
  CHECK(run_operator("Expand", {x, longs({4, 1, 1})}).shape() == ktape::Shape{4, 2, 3});
  CHECK(values(run_operator("Range", {longs(1), longs(8), longs(3)})) == Values{1, 4, 7});
  CHECK(values(run_operator("Shape", {x}, onnx_integer("start", -1))) == Values{3});
  CHECK_THROWS_WITH_AS(run_operator("Slice", {x, longs({0}), longs({1}), longs({0}), longs({0})}),
                       Contains("a step must not be 0"), ValueError);
}
