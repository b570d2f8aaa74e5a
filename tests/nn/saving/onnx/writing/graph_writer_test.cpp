#include <ktape/nn/saving/onnx/writing/graph_writer.hpp>
#include <ktape/ops/operators.hpp>

#include "../../../../ops/check.hpp"

using ktape::Tensor;
using ktape::nn::onnx::GraphWriter, ktape::nn::onnx::Names;

TEST_CASE("onnx: pairs of transpositions vanish, and equal ones are one node") {
  GraphWriter graph(18);
  const std::string x = graph.unique("x"), y = graph.transposed(x, {0, 3, 1, 2});
  CHECK(graph.transposed(y, {0, 2, 3, 1}) == x);
  CHECK(graph.transposed(x, {0, 3, 1, 2}) == y);
  CHECK(graph.transposed(x, {0, 1, 2, 3}) == x);
  CHECK(graph.all_nodes().size() == 1);
}

TEST_CASE("onnx: names and initializers occur once") {
  GraphWriter graph(18);
  CHECK(graph.unique("x") == "x");
  CHECK(graph.unique("x") == "x_1");
  CHECK(graph.integers({1, 2}) == graph.integers({1, 2}));
  CHECK(graph.number(0.5, "float32") != graph.number(0.5, "float64"));
  const Tensor weight = normal({2, 3});
  CHECK(graph.constant(weight, "w") == "w");
  CHECK(graph.constant(weight, "other") == "w");
  int made = 0;
  const auto make = [&] { return ++made, weight * 2; };
  CHECK(graph.derived(weight, "doubled", make, "d") == graph.derived(weight, "doubled", make, "d"));
  CHECK(made == 1);
}

TEST_CASE("onnx: unused nodes and initializers are removed, and outputs get their names") {
  GraphWriter graph(18);
  const std::string x = graph.unique("x"), out = graph.unique("out"), same = graph.unique("same");
  const std::string y = graph.node("Add", {x, graph.constant(normal({2}), "used")});
  graph.node("Mul", {x, graph.constant(normal({2}), "unused")});
  CHECK(graph.set_output(y, out));
  CHECK(!graph.set_output(x, same));  // an input keeps its name
  graph.remove_unused({out, same});
  REQUIRE(graph.all_nodes().size() == 2);
  CHECK(graph.all_nodes()[0].outputs == Names{out});
  CHECK(graph.all_nodes()[1].op == "Identity");
  REQUIRE(graph.initializers().size() == 1);
  CHECK(graph.initializers()[0].first == "used");
}
