#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("linear algebra of keras.ops is made of operations") {
  const Tensor x = K::constant({{2., 0.}, {0., 4.}});
  check_same(run("Inv", {{"x", of(x)}}), K::constant({{0.5, 0.}, {0., 0.25}}));
  check_same(run("Det", {{"x", of(x)}}), K::constant(8.));
  check_same(run("Solve", {{"a", of(x)}, {"b", of(K::constant({{2.}, {4.}}))}}), K::constant({{1.}, {1.}}));
}
