#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: arithmetic, comparisons and conversions") {
  CHECK(values(run_operator("Div", {ints({7, -7, 6, -6}), ints({2, 2, -3, 3})})) ==
        Values{3, -3, -2, -2});  // towards 0
  CHECK(values(run_operator("Mod", {ints({7, -7}), ints({3, 3})})) == Values{1, 2});
  CHECK(values(run_operator("Mod", {ints({7, -7}), ints({3, 3})}, onnx_integer("fmod", 1))) == Values{1, -1});
  CHECK(values(run_operator("Pow", {reals({2, 3}), longs({3, 2})})) == Values{8, 9});
  CHECK(values(run_operator("Max", {reals({1, 5}), reals({3, 2}), reals({2, 2})})) == Values{3, 5});
  CHECK(values(run_operator("Clip", {reals({-1, 0.5, 9}), reals(0), reals(1)})) == Values{0, 0.5, 1});
  CHECK(run_operator("Cast", {reals({1.7, -1.7})}, onnx_integer("to", 7)).dtype() == "int64");
  CHECK_THROWS_WITH_AS(run_operator("Cast", {reals({1})}, onnx_integer("to", 8)),
                       Contains("received type=string"), ktape::TypeError);
}
