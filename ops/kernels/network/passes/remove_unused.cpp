#include <ktape/ops/kernels/network/passes/passes.hpp>

#include <algorithm>
#include <utility>

namespace ktape::kernels {

void remove_unused(Network& network) {
  std::vector<bool> used(network.nodes.size());
  for (const int output : network.outputs) used[static_cast<std::size_t>(output)] = true;
  for (std::size_t i = network.nodes.size(); i-- > 0;) {
    if (!used[i]) continue;
    for (const int input : network.nodes[i].inputs) used[static_cast<std::size_t>(input)] = true;
  }
  std::vector<int> moved(network.nodes.size(), -1);
  std::vector<NetworkNode> kept;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    if (!used[i] && network.nodes[i].kind != NetworkNode::Kind::Input) continue;
    moved[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(network.nodes[i]));
  }
  const auto move = [&](int& index) { index = moved[static_cast<std::size_t>(index)]; };
  for (NetworkNode& node : kept) std::for_each(node.inputs.begin(), node.inputs.end(), move);
  std::for_each(network.outputs.begin(), network.outputs.end(), move);
  network.nodes = std::move(kept);
}

}  // namespace ktape::kernels
