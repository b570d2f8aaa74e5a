#include <ktape/ops/kernels/network/passes/passes.hpp>

#include <algorithm>

namespace ktape::kernels {

using Kind = NetworkNode::Kind;

namespace {

bool never_negative(const NetworkNode& node) {
  if (node.functions.empty()) return false;
  const ElementFunction& last = node.functions.back();
  return (last.kind == ElementFunction::Kind::Relu && last.alpha == 0) ||
         (last.kind == ElementFunction::Kind::Clip && last.alpha >= 0) ||
         last.kind == ElementFunction::Kind::Sigmoid;
}

/// Returns whether each window of a pooling without padding would still contain an element of the image.
bool keeps_an_element(const NetworkNode& pooling, const NetworkNode& padding) {
  for (std::size_t d = 0; d < 2; ++d)
    if (std::max(padding.before[d], padding.after[d]) >= pooling.window[d]) return false;
  return true;
}

bool absorbs(const Network& network, const NetworkNode& node, const NetworkNode& padding) {
  if (node.kind == Kind::Convolution) return true;
  return node.kind == Kind::MaxPooling && keeps_an_element(node, padding) &&
         node.before == std::array<std::int64_t, 2>{} && node.after == std::array<std::int64_t, 2>{} &&
         never_negative(network.nodes[static_cast<std::size_t>(padding.inputs[0])]);
}

}  // namespace

void absorb_padding(Network& network) {
  for (NetworkNode& node : network.nodes) {
    while (!node.inputs.empty()) {
      const NetworkNode& padding = network.nodes[static_cast<std::size_t>(node.inputs[0])];
      if (padding.kind != Kind::Padding || !absorbs(network, node, padding)) break;
      for (std::size_t d = 0; d < 2; ++d)
        node.before[d] += padding.before[d], node.after[d] += padding.after[d];
      node.inputs[0] = padding.inputs[0];
    }
  }
}

}  // namespace ktape::kernels
