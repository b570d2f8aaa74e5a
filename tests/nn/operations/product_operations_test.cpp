#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("products that Keras writes have the values of their formulas") {
  const Tensor x = normal({2, 3}, 1, "float32"), y = normal({3, 4}, 2, "float32");
  check_same(run("Matmul", {{"x1", of(x)}, {"x2", of(y)}}), K::dot(x, y));
  check_same(run("Dot", {{"x1", of(x)}, {"x2", of(y)}}), K::dot(x, y));
  check_same(run("Einsum", {{"subscripts", value("\"ij,jk->ki\"")}, {"operands", list({x, y})}}),
             K::transpose(K::dot(x, y)));
}
