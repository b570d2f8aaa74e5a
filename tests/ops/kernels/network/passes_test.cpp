#include <doctest/doctest.h>
#include <ktape/ops/kernels/network/passes/passes.hpp>

using ktape::kernels::Network, ktape::kernels::NetworkNode, ktape::kernels::ElementFunction;
using Kind = NetworkNode::Kind;

namespace {

NetworkNode node(Kind kind, std::vector<int> inputs = {}) {
  NetworkNode made;
  made.kind = kind, made.inputs = std::move(inputs), made.shape = {1, 4, 4, 8};
  if (kind == Kind::Normalization) made.normalizers = {{0, 1, 2, 3, 1e-3}};
  if (kind == Kind::Function) made.functions = {{ElementFunction::Kind::Relu}};
  return made;
}

std::vector<Kind> kinds(const Network& network) {
  std::vector<Kind> list;
  for (const NetworkNode& each : network.nodes) list.push_back(each.kind);
  return list;
}

}  // namespace

TEST_CASE("a normalization is folded into the only convolution that feeds the normalization") {
  Network chain{{node(Kind::Input), node(Kind::Convolution, {0}), node(Kind::Normalization, {1}),
                 node(Kind::Normalization, {2})},
                {3}};
  fold_normalization(chain);
  remove_unused(chain);
  CHECK(kinds(chain) == std::vector{Kind::Input, Kind::Convolution});
  CHECK(chain.nodes[1].normalizers.size() == 2);
  CHECK(chain.outputs == std::vector{1});

  Network shared{{node(Kind::Input), node(Kind::Convolution, {0}), node(Kind::Normalization, {1})}, {1, 2}};
  fold_normalization(shared);
  CHECK(shared.nodes[1].normalizers.empty());

  // The second normalization must stay, because the first normalization has another reader.
  Network forked{{node(Kind::Input), node(Kind::Convolution, {0}), node(Kind::Normalization, {1}),
                  node(Kind::Normalization, {2})},
                 {2, 3}};
  fold_normalization(forked);
  remove_unused(forked);
  CHECK(kinds(forked) == std::vector{Kind::Input, Kind::Convolution, Kind::Normalization});
}

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

TEST_CASE("a sum becomes a part of the later convolution, at the place of the sum") {
  Network sums{{node(Kind::Input), node(Kind::Convolution, {0}), node(Kind::Convolution, {0}),
                node(Kind::Sum, {2, 1})},
               {3}};
  fuse_sums(sums);
  CHECK(kinds(sums) == std::vector{Kind::Input, Kind::Convolution, Kind::Convolution});
  CHECK(sums.nodes[2].inputs == std::vector{0, 1});

  // The result of a function is no part of a convolution before the sum.
  NetworkNode activated = node(Kind::Convolution, {0});
  activated.functions = {{ElementFunction::Kind::Relu}};
  Network none{{node(Kind::Input), activated, node(Kind::Sum, {0, 1})}, {2}};
  fuse_sums(none);
  CHECK(kinds(none) == std::vector{Kind::Input, Kind::Convolution, Kind::Sum});

  Network twice{{node(Kind::Input), node(Kind::Convolution, {0}), node(Kind::Sum, {1, 1})}, {2}};
  fuse_sums(twice);
  CHECK(kinds(twice) == std::vector{Kind::Input, Kind::Convolution, Kind::Sum});
}

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

TEST_CASE("nodes without readers are removed, inputs are not") {
  Network network{{node(Kind::Input), node(Kind::Input), node(Kind::Softmax, {0}), node(Kind::Softmax, {1}),
                   node(Kind::Softmax, {3})},
                  {4}};
  remove_unused(network);
  CHECK(kinds(network) == std::vector{Kind::Input, Kind::Input, Kind::Softmax, Kind::Softmax});
  CHECK(network.nodes[2].inputs == std::vector{1});
  CHECK(network.outputs == std::vector{3});
}
