#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("operations with indices that Keras writes have the values of their formulas") {
  const Tensor x = normal({2, 3, 4}, 4, "float32"), rows = K::constant({2, 0}, {.dtype = "int32"});
  check_same(run("Take", {{"x", of(x)}, {"indices", of(rows)}, {"axis", value("1")}}),
             K::stack({x[{All, 2}], x[{All, 0}]}, 1));
  check_same(run("Take", {{"x", of(x)}, {"indices", value("2")}, {"axis", value("-1")}}), x[{Ellipsis, 2}]);
  check_same(run("Take", {{"x", of(x)}, {"indices", of(rows)}}), K::gather(K::flatten(x), rows));
  const Tensor hot = run("OneHot", {{"x", of(rows)}, {"num_classes", value("3")}, {"axis", value("0")}});
  check_same(hot, K::transpose(K::one_hot(rows, 3)));
  check_same(run("Sort", {{"x", of(x)}, {"axis", value("null")}}), K::sort(K::flatten(x)));
  check_same(run("GetItem", {{"x", of(x)},
                             {"key", value("[null, \"...\", {\"start\": 1, \"stop\": null, \"step\": 2}]")}}),
             x[{NewAxis, Ellipsis, Slice(1, ktape::None, 2)}]);
  check_same(run("GetItem", {{"x", of(x)}, {"key", value("1")}}), x[1]);
}
