#include "networks.hpp"

#include <doctest/doctest.h>

TEST_CASE("all passes together leave one convolution of a residual block for each kernel") {
  // relu(normalization(convolution(relu(normalization(convolution(padding(x)))))) + x)
  Network block{{node(Kind::Input), node(Kind::Padding, {0}), node(Kind::Convolution, {1}),
                 node(Kind::Normalization, {2}), node(Kind::Function, {3}), node(Kind::Convolution, {4}),
                 node(Kind::Normalization, {5}), node(Kind::Sum, {0, 6}), node(Kind::Function, {7})},
                {8}};
  optimize(block);
  CHECK(kinds(block) == std::vector{Kind::Input, Kind::Convolution, Kind::Convolution});
  CHECK(block.nodes[2].inputs == std::vector{1, 0});
  CHECK(block.nodes[2].normalizers.size() == 1);
  CHECK(block.nodes[2].functions.size() == 1);
  CHECK(block.outputs == std::vector{2});
}

TEST_CASE("an output counts as a reader, and readers can be redirected") {
  Network network{{node(Kind::Input), node(Kind::Softmax, {0}), node(Kind::Sum, {1, 1})}, {1, 2}};
  CHECK(count_readers(network) == std::vector{1, 3, 1});
  redirect(network, 1, 0);
  CHECK(network.nodes[2].inputs == std::vector{0, 0});
  CHECK(network.outputs == std::vector{0, 2});
}
