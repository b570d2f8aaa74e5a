#include "networks.hpp"

#include <doctest/doctest.h>

TEST_CASE("nodes without readers are removed, inputs are not") {
  Network network{{node(Kind::Input), node(Kind::Input), node(Kind::Softmax, {0}), node(Kind::Softmax, {1}),
                   node(Kind::Softmax, {3})},
                  {4}};
  remove_unused(network);
  CHECK(kinds(network) == std::vector{Kind::Input, Kind::Input, Kind::Softmax, Kind::Softmax});
  CHECK(network.nodes[2].inputs == std::vector{1});
  CHECK(network.outputs == std::vector{3});
}
