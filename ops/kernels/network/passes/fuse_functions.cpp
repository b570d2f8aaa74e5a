#include <ktape/ops/kernels/network/passes/passes.hpp>

#include <utility>

namespace ktape::kernels {

using Kind = NetworkNode::Kind;

namespace {

bool takes_functions(const NetworkNode& node) {
  return node.multiplies() || node.kind == Kind::Normalization || node.kind == Kind::Function ||
         node.kind == Kind::Sum || node.kind == Kind::Binary;
}

}  // namespace

void fuse_functions(Network& network) {
  std::vector<int> readers = count_readers(network);
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    NetworkNode& node = network.nodes[i];
    if (node.kind != Kind::Function) continue;
    const int source = node.inputs[0];
    NetworkNode& before = network.nodes[static_cast<std::size_t>(source)];
    if (!takes_functions(before) || readers[static_cast<std::size_t>(source)] != 1) continue;
    before.functions.insert(before.functions.end(), node.functions.begin(), node.functions.end());
    node.inputs.clear();
    redirect(network, static_cast<int>(i), source);
    std::swap(readers[i], readers[static_cast<std::size_t>(source)]);
  }
}

}  // namespace ktape::kernels
