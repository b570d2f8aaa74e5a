#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: arguments of nodes") {
  CHECK_THROWS_WITH_AS(run_operator("Add", {reals({1})}),
                       Contains("the input 1 must be given: received 1 inputs in the node 'y' (Add)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(run_operator("Loop", {longs(1), longs(1)}),
                       Contains("the attribute must be a graph: received body"), ValueError);
  CHECK_THROWS_WITH_AS(run_operator("Reshape", {reals({1}), reals({1})}),
                       Contains("numbers must be integers: received dtype=float32"), ktape::TypeError);
}
