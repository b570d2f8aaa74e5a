#include "networks.hpp"

#include <doctest/doctest.h>

TEST_CASE("functions move into the node that makes their argument, unless the node has other readers") {
  Network chain{
      {node(Kind::Input), node(Kind::Product, {0}), node(Kind::Function, {1}), node(Kind::Function, {2})},
      {3}};
  chain.nodes[3].functions = {{ElementFunction::Kind::Tanh}};
  fuse_functions(chain);
  remove_unused(chain);
  CHECK(kinds(chain) == std::vector{Kind::Input, Kind::Product});
  CHECK(chain.nodes[1].functions.size() == 2);

  Network forked{
      {node(Kind::Input), node(Kind::Product, {0}), node(Kind::Function, {1}), node(Kind::Function, {2})},
      {2, 3}};
  fuse_functions(forked);
  remove_unused(forked);
  CHECK(kinds(forked) == std::vector{Kind::Input, Kind::Product, Kind::Function});
  CHECK(forked.outputs == std::vector{1, 2});
}

TEST_CASE("functions move into sums and other functions of two tensors") {
  for (const Kind kind : {Kind::Sum, Kind::Binary}) {
    Network network{{node(Kind::Input), node(Kind::Input), node(kind, {0, 1}), node(Kind::Function, {2})},
                    {3}};
    fuse_functions(network);
    remove_unused(network);
    CHECK(kinds(network) == std::vector{Kind::Input, Kind::Input, kind});
    CHECK(network.nodes[2].functions.size() == 1);
  }
  Network none{{node(Kind::Input), node(Kind::Softmax, {0}), node(Kind::Function, {1})}, {2}};
  fuse_functions(none);
  CHECK(none.nodes[2].functions.size() == 1);
  CHECK(none.outputs == std::vector{2});
}

namespace {

using Function = ElementFunction::Kind;

/// Returns the functions that remain of a chain behind a product.
std::vector<ElementFunction> fused(const std::vector<ElementFunction>& chain) {
  Network network{{node(Kind::Input), node(Kind::Product, {0})}, {static_cast<int>(chain.size()) + 1}};
  for (std::size_t i = 0; i < chain.size(); ++i) {
    network.nodes.push_back(node(Kind::Function, {static_cast<int>(i) + 1}));
    network.nodes.back().functions = {chain[i]};
  }
  fuse_functions(network);
  remove_unused(network);
  REQUIRE(network.nodes.size() == 2);
  return network.nodes[1].functions;
}

bool is_one(const std::vector<ElementFunction>& functions, const ElementFunction& f) {
  return functions.size() == 1 && functions[0].kind == f.kind && functions[0].alpha == f.alpha &&
         functions[0].beta == f.beta;
}

}  // namespace

TEST_CASE("two functions become one where the result stays the same") {
  const auto linear = [](float factor, float offset) {
    return ElementFunction{Function::Linear, factor, offset};
  };
  CHECK(is_one(fused({linear(.5F, 0), linear(1, -1)}), linear(.5F, -1)));
  CHECK(is_one(fused({linear(.5F, 0), linear(1, 0), linear(1, 3)}), linear(.5F, 3)));
  CHECK(is_one(fused({linear(-1, 0), linear(2, 3)}), linear(-2, 3)));
  CHECK(is_one(fused({linear(2, 3), linear(-1, 0)}), linear(-2, -3)));
  CHECK(fused({linear(1, 8388608), linear(1, -8388608)}).size() == 2);  // rounds to whole numbers
  CHECK(fused({linear(1e30F, 0), linear(1e-30F, 0)}).size() == 2);      // may overflow
  CHECK(fused({linear(1, 3), linear(2, 0)}).size() == 2);

  const auto clip = [](float least, float most) { return ElementFunction{Function::Clip, least, most}; };
  CHECK(is_one(fused({clip(0, 6), clip(0, 1)}), clip(0, 1)));
  CHECK(is_one(fused({clip(0, 1), clip(-1, 6)}), clip(0, 1)));
  CHECK(is_one(fused({clip(0, 1), clip(2, 6)}), clip(2, 2)));  // all numbers become 2
  CHECK(is_one(fused({clip(2, 6), clip(0, 1)}), clip(1, 1)));
  CHECK(is_one(fused({clip(-1, 1), clip(0, 6)}), clip(0, 1)));

  const auto relu = [](float slope) { return ElementFunction{Function::Relu, slope}; };
  CHECK(is_one(fused({relu(0), relu(.5F)}), relu(0)));
  CHECK(is_one(fused({relu(.5F), relu(0)}), relu(0)));
  CHECK(fused({relu(-.5F), relu(0)}).size() == 2);
  CHECK(fused({relu(.5F), relu(.25F)}).size() == 2);
  CHECK(fused({{Function::Elu, 1}, {Function::Elu, 2}}).size() == 2);
  CHECK(fused({clip(0, 6), relu(0), clip(0, 1)}).size() == 3);
}
