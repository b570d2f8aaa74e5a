#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("reductions that Keras writes have the values of their formulas") {
  const Tensor x = normal({2, 3, 4}, 3, "float32");
  check_same(run("Amax", {{"x", of(x)}, {"axis", value("1")}}), K::max(x, 1));
  check_same(run("Amin", {{"x", of(x)}}), K::min(x));
  check_same(run("Max", {{"x", of(x)}, {"axis", value("[0, 1]")}, {"initial", value("0.5")}}),
             K::maximum(K::max(x, {0, 1}), 0.5f));
  check_same(run("Argmax", {{"x", of(x)}}), K::argmax(K::flatten(x)));
  check_same(run("Argmin", {{"x", of(x)}, {"axis", value("1")}, {"keepdims", value("true")}}),
             K::expand_dims(K::argmin(x, 1), 1));
  check_same(run("Argmax", {{"x", of(x)}, {"keepdims", value("true")}}),
             K::reshape(K::argmax(K::flatten(x)), {1, 1, 1}));
  check_same(run("Cumsum", {{"x", of(x)}}), K::cumsum(K::flatten(x)));
  check_same(run("Prod", {{"x", of(x)}, {"dtype", value("\"float64\"")}}), K::cast(K::prod(x), "float64"));
  check_same(run("Norm", {{"x", of(x)}, {"ord", value("2")}, {"axis", value("-1")}}), K::norm(x, -1));
  check_same(run("Norm", {{"x", of(x)}, {"ord", value("1")}, {"axis", value("-1")}}), K::sum(K::abs(x), -1));
  const std::vector<Tensor> moments = all_of("Moments", {{"x", of(x)}, {"axes", value("[0]")}});
  check_same(moments.at(0), K::mean(x, 0));
  check_same(moments.at(1), K::var(x, 0));
  check_same(run("Normalize", {{"x", of(x)}}), K::l2_normalize(x, -1));
  check_same(run("Normalize", {{"x", of(x)}, {"order", value("1")}, {"axis", value("1")}}),
             x / K::sum(K::abs(x), 1, true));
}
