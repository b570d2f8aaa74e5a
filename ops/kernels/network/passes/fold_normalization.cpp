#include <ktape/ops/kernels/network/passes/passes.hpp>

#include <utility>

namespace ktape::kernels {

using Kind = NetworkNode::Kind;

void fold_normalization(Network& network) {
  std::vector<int> readers = count_readers(network);
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    NetworkNode& node = network.nodes[i];
    if (node.kind != Kind::Normalization || !node.functions.empty()) continue;
    const int source = node.inputs[0];
    NetworkNode& before = network.nodes[static_cast<std::size_t>(source)];
    const bool plain = before.inputs.size() == 1 && before.functions.empty();
    if (!before.multiplies() || !plain || readers[static_cast<std::size_t>(source)] != 1) continue;
    before.normalizers.insert(before.normalizers.end(), node.normalizers.begin(), node.normalizers.end());
    node.inputs.clear();
    redirect(network, static_cast<int>(i), source);
    std::swap(readers[i], readers[static_cast<std::size_t>(source)]);
  }
}

}  // namespace ktape::kernels
