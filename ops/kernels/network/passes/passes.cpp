#include <ktape/ops/kernels/network/passes/passes.hpp>

#include <algorithm>

namespace ktape::kernels {

std::vector<int> count_readers(const Network& network) {
  std::vector<int> readers(network.nodes.size());
  for (const NetworkNode& node : network.nodes)
    for (const int input : node.inputs) ++readers[static_cast<std::size_t>(input)];
  for (const int output : network.outputs) ++readers[static_cast<std::size_t>(output)];
  return readers;
}

void redirect(Network& network, int from, int to) {
  for (NetworkNode& node : network.nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  std::replace(network.outputs.begin(), network.outputs.end(), from, to);
}

void optimize(Network& network) {
  remove_unused(network);
  fold_normalization(network);
  remove_unused(network);
  fuse_functions(network);
  remove_unused(network);
  fuse_sums(network);
  fuse_functions(network);
  remove_unused(network);
  absorb_padding(network);
  remove_unused(network);
}

}  // namespace ktape::kernels
