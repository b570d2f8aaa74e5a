#include <ktape/ops/kernels/network/passes/passes.hpp>

#include <algorithm>
#include <utility>

namespace ktape::kernels {

using Kind = NetworkNode::Kind;

void fuse_sums(Network& network) {
  const std::vector<int> readers = count_readers(network);
  for (NetworkNode& sum : network.nodes) {
    if (sum.kind != Kind::Sum || sum.inputs[0] == sum.inputs[1]) continue;
    // The summand that is computed last takes the sum, because its inputs are alive at the place of the sum.
    int last = std::max(sum.inputs[0], sum.inputs[1]), first = std::min(sum.inputs[0], sum.inputs[1]);
    for (int turn = 0; turn < 2; ++turn, std::swap(last, first)) {
      const NetworkNode& made = network.nodes[static_cast<std::size_t>(last)];
      const bool plain = made.inputs.size() == 1 && made.functions.empty();
      if (!made.multiplies() || !plain || readers[static_cast<std::size_t>(last)] != 1) continue;
      NetworkNode fused = made;
      fused.inputs.push_back(first);
      fused.functions = sum.functions;
      sum = std::move(fused);
      break;
    }
  }
  remove_unused(network);
}

}  // namespace ktape::kernels
