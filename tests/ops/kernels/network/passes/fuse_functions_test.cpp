#include "networks.hpp"

#include <doctest/doctest.h>

TEST_CASE("functions move into the node that makes their argument, unless the node has other readers") {
  Network chain{
      {node(Kind::Input), node(Kind::Product, {0}), node(Kind::Function, {1}), node(Kind::Function, {2})},
      {3}};
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
