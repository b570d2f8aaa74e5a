#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("functions of keras.ops on whole arrays are operations") {
  const Tensor x = K::constant({{1., 2.}, {3., 4.}});
  check_same(run("Tril", {{"x", of(x)}}), K::constant({{1., 0.}, {3., 4.}}));
  check_same(run("Ptp", {{"x", of(x)}, {"axis", value("0")}}), K::constant({2., 2.}));
  check_same(run("Roll", {{"x", of(x)}, {"shift", value("1")}, {"axis", value("1")}}),
             K::constant({{2., 1.}, {4., 3.}}));
}
