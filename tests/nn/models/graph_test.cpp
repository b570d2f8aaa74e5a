#include "../../in_threads.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/models/graph.hpp>

#include "../../close.hpp"
#include "../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;
using nn::LayerGraph;

namespace {

/// Two inputs, a layer that is called on both, an op, and a layer of two inputs.
struct Branches {
  const Tensor a = nn::Input({3}, {.name = "a"}), b = nn::Input({3}, {.name = "b"});
  const nn::Dense shared{2, {.name = "shared"}};
  const Tensor left = shared(a), right = K::relu(shared(b));
  const Tensor sum = nn::Add({.name = "sum"})({left, right});
  const LayerGraph graph{"m", {a, b}, {sum, left}};
};

}  // namespace

TEST_CASE_FIXTURE(Branches, "a graph runs layers and ops on values") {
  const Tensor x = normal({4, 3}, 1, "float32"), y = normal({4, 3}, 2, "float32");
  const std::vector<Tensor> got = graph.run({x, y});
  REQUIRE(got.size() == 2);
  CHECK(values(got[0]) == values(shared(x) + K::relu(shared(y))));
  CHECK(values(got[1]) == values(shared(x)));
  const auto slopes = ktape::gradients(K::sum(graph.run({x, y})[0]), shared.weights());
  CHECK(close(slopes[1], K::constant({4.f, 4.f}) + K::sum(K::cast(shared(y) > 0, "float32"), 0),
              {.atol = 1e-6}));
}

TEST_CASE_FIXTURE(Branches, "a graph lists each layer once, and its nodes in the order of the program") {
  std::vector<std::string> layers, nodes;
  for (const nn::Layer& layer : graph.layers()) layers.push_back(layer.name());
  CHECK(layers == std::vector<std::string>{"a", "b", "shared", "sum"});
  const std::vector<nn::GraphNode> all = graph.nodes();
  for (const nn::GraphNode& node : all) nodes.push_back(node.name() + std::to_string(node.call));
  CHECK(nodes == std::vector<std::string>{"a0", "b0", "shared0", "shared1", "relu0", "sum0"});
  CHECK(all[3].from == std::vector<std::pair<std::size_t, std::uint32_t>>{{1, 0}});
  CHECK(all[5].from == std::vector<std::pair<std::size_t, std::uint32_t>>{{2, 0}, {4, 0}});
  CHECK(all[5].inputs == std::vector<Shape>{{None, 2}, {None, 2}});
  CHECK(all[4].outputs == std::vector<Shape>{{None, 2}});
  CHECK(all[4].dtypes == std::vector<ktape::DType>{"float32"});
  CHECK_FALSE(all[4].layer.defined());
  CHECK(graph.symbols().size() == 4);
}

TEST_CASE_FIXTURE(Branches,
                  "a graph may begin in the middle of another graph, and end at the input of that graph") {
  const LayerGraph upper("upper", {left, right}, {sum, left});
  const Tensor x = normal({2, 2}, 1, "float32"), y = normal({2, 2}, 2, "float32");
  const std::vector<Tensor> got = upper.run({x, y});
  CHECK(values(got[0]) == values(x + y));
  CHECK(values(got[1]) == values(x));
  CHECK(upper.layers().size() == 1);
}

TEST_CASE("a layer of several outputs, of which one is used twice and one never") {
  const Tensor in = nn::Input({5, 3});
  const std::vector<Tensor> states = nn::LSTM(2, {.return_state = true}).apply(in);
  const LayerGraph graph("m", {in}, {states[2], nn::Subtract()({states[2], states[0]}), states[2]});
  const Tensor x = normal({4, 5, 3}, 1, "float32");
  const std::vector<Tensor> got = graph.run({x});
  const std::vector<Tensor> direct = graph.layers()[1].apply(x);
  CHECK(values(got[0]) == values(direct[2]));
  CHECK(values(got[1]) == values(direct[2] - direct[0]));
  CHECK(values(got[2]) == values(direct[2]));
}

TEST_CASE("a callable inside of an op reads symbolic tensors of the graph") {
  const Tensor in = nn::Input({3});
  const Tensor scale = nn::Dense(3, {.name = "scale"})(in);
  const Tensor mapped = K::map_fn([&](const Tensor& row) { return row * K::sum(scale); }, in);
  const LayerGraph graph("m", {in}, {mapped});
  const Tensor x = normal({2, 3}, 1, "float32");
  CHECK(close(graph.run({x})[0], x * K::sum(graph.layers().back()(x)), {.rtol = 1e-5}));
}

TEST_CASE_FIXTURE(Branches, "several threads run one graph") {
  const Tensor x = normal({4, 3}, 1, "float32"), y = normal({4, 3}, 2, "float32");
  const Values expected = values(graph.run({x, y})[0]);
  std::vector<Values> got(4);
  in_threads(4, [&](int i) { got[static_cast<std::size_t>(i)] = values(graph.run({x, y})[0]); });
  for (const Values& each : got) CHECK(each == expected);
}

TEST_CASE_FIXTURE(Branches, "inputs and outputs without a graph are errors that name the model") {
  const auto check = [](const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                        const char* text) {
    CHECK_THROWS_WITH_AS(LayerGraph("m", inputs, outputs), text, ValueError);
  };
  check({a}, {sum},
        "[m] the outputs need the input 'b', which must be among the inputs: received 1 inputs without it");
  check({a, b, a}, {sum}, "[m] an input must be named once: received it twice");
  check({K::ones({1, 3}), b}, {sum},
        "[m] an input must be symbolic, as nn::Input makes it: received a tensor with a value, or None");
  check({Tensor()}, {sum},
        "[m] an input must be symbolic, as nn::Input makes it: received a tensor with a value, or None");
  check({a, b}, {K::ones({1})},
        "[m] an output must be made from the inputs: received a tensor with a value, or None");
  check({a, b}, {nn::Dense(1, {.name = "shared"})(sum)},
        "[m] layers must have different names: received two layers named 'shared'");
}
