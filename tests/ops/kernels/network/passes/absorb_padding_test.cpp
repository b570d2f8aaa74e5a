#include "networks.hpp"

#include <doctest/doctest.h>

TEST_CASE("convolutions absorb padding; max pooling does so on numbers that are never negative") {
  NetworkNode padding = node(Kind::Padding, {0});
  padding.before = {1, 2}, padding.after = {0, 1};
  NetworkNode strided = node(Kind::Convolution, {1});
  strided.after = {1, 1};
  Network convolution{{node(Kind::Input), padding, strided}, {2}};
  absorb_padding(convolution);
  CHECK(convolution.nodes[2].inputs == std::vector{0});
  CHECK(convolution.nodes[2].before == std::array<std::int64_t, 2>{1, 2});
  CHECK(convolution.nodes[2].after == std::array<std::int64_t, 2>{1, 2});

  const auto pooling_reads = [&](bool relu, std::int64_t window) {
    NetworkNode padded = node(Kind::Padding, {1});
    padded.before = {1, 1};
    NetworkNode pooling = node(Kind::MaxPooling, {2});
    pooling.window = {window, window};
    Network network{{node(Kind::Input), node(Kind::Normalization, {0}), padded, pooling}, {3}};
    if (relu) network.nodes[1].functions = {{ElementFunction::Kind::Relu}};
    absorb_padding(network);
    return network.nodes[3].inputs[0];
  };
  CHECK(pooling_reads(true, 3) == 1);
  CHECK(pooling_reads(true, 1) == 2);
  CHECK(pooling_reads(false, 3) == 2);
}
