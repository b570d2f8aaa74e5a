#include "run_operator.hpp"

#include <cmath>

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: arithmetic, comparisons and conversions") {
  CHECK(values(run_operator("Div", {ints({7, -7, 6, -6}), ints({2, 2, -3, 3})})) ==
        Values{3, -3, -2, -2});  // towards 0
  CHECK(values(run_operator("Mod", {ints({7, -7}), ints({3, 3})})) == Values{1, 2});
  CHECK(values(run_operator("Mod", {ints({7, -7}), ints({3, 3})}, onnx_integer("fmod", 1))) == Values{1, -1});
  CHECK(values(run_operator("Pow", {reals({2, 3}), longs({3, 2})})) == Values{8, 9});
  CHECK(std::isnan(values(run_operator("Sqrt", {reals({-1, 4})}))[0]));  // K::sqrt gives 0
  CHECK(values(run_operator("Max", {reals({1, 5}), reals({3, 2}), reals({2, 2})})) == Values{3, 5});
  CHECK(values(run_operator("Clip", {reals({-1, 0.5, 9}), reals(0), reals(1)})) == Values{0, 0.5, 1});
  CHECK(run_operator("Cast", {reals({1.7, -1.7})}, onnx_integer("to", 7)).dtype() == "int64");
  CHECK_THROWS_WITH_AS(run_operator("Cast", {reals({1})}, onnx_integer("to", 8)),
                       Contains("received type=string"), ktape::TypeError);
}

TEST_CASE("onnx: the second tensor of opset 6 stands where its axis tells") {
  const ktape::Tensor x = counted({2, 3, 2}, "float32"), y = reals({10, 20, 30});
  const std::string from_1 = onnx_integer("broadcast", 1) + onnx_integer("axis", 1);
  CHECK(values(run_operator("Add", {x, y}, from_1, 6)) ==
        Values{10, 11, 22, 23, 34, 35, 16, 17, 28, 29, 40, 41});
  CHECK(values(run_operator("Sub", {x, reals({0, 100})}, onnx_integer("broadcast", 1), 6)) ==
        Values{0, -99, 2, -97, 4, -95, 6, -93, 8, -91, 10, -89});
  CHECK_THROWS_WITH_AS(run_operator("Add", {x, y}, from_1, 7), doctest::Contains("Add"), ktape::ValueError);
}
