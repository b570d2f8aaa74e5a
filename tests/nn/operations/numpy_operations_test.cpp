#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("element-wise functions of keras.ops are operations") {
  const Tensor x = K::constant({1.5, -2.5}), y = K::constant({2., 2.});
  check_same(run("Floor", {{"x", of(x)}}), K::constant({1., -3.}));
  check_same(run("Ceil", {{"x", of(x)}}), K::constant({2., -2.}));
  check_same(run("FloorDivide", {{"x1", of(x)}, {"x2", value("2.0")}}), K::constant({0., -2.}));
  check_same(run("Mod", {{"x1", of(x)}, {"x2", of(y)}}), K::constant({1.5, 1.5}));
}
