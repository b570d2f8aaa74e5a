#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("mistakes in the arguments of an operation name the operation and the argument") {
  const Tensor x = normal({2, 3, 4}, 4, "float32");
  CHECK_THROWS_WITH_AS(run("GetItem", {{"x", of(x)}, {"key", value("[\"first\"]")}}),
                       Contains("[GetItem] key must be an integer: received \"first\""), ktape::TypeError);
  CHECK_THROWS_WITH_AS(run("Sum", {{"x", of(x)}, {"keepdims", value("1")}}),
                       Contains("[Sum] keepdims must be true or false: received 1"), ktape::TypeError);
  CHECK_THROWS_WITH_AS(
      run("Sum", {{"x", of(x)}, {"axes", value("1")}}),
      Contains("[test] an argument of Sum must be 'x', 'axis' or 'keepdims': received axes=1"), ValueError);
  CHECK_THROWS_WITH_AS(run("Equal", {{"x1", of(x)}}),
                       Contains("[test] Equal must have the argument x2: received none"), ValueError);
  CHECK_THROWS_WITH_AS(run("Equal", {{"x1", of(x)}, {"x2", value("\"zero\"")}}),
                       Contains("[Equal] x2 must be a tensor or a number: received \"zero\""),
                       ktape::TypeError);
  CHECK_THROWS_WITH_AS(run("Concatenate", {{"xs", value("3")}}),
                       Contains("[Concatenate] xs must be tensors: received 3"), ktape::TypeError);
}
