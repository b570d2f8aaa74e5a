#include <ktape/ops/kernels/network/passes.hpp>

#include <algorithm>
#include <utility>

namespace ktape::kernels {

using Kind = NetworkNode::Kind;

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

void fuse_functions(Network& network) {
  std::vector<int> readers = count_readers(network);
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    NetworkNode& node = network.nodes[i];
    if (node.kind != Kind::Function) continue;
    const int source = node.inputs[0];
    NetworkNode& before = network.nodes[static_cast<std::size_t>(source)];
    const bool takes =
        before.multiplies() || before.kind == Kind::Normalization || before.kind == Kind::Function;
    if (!takes || readers[static_cast<std::size_t>(source)] != 1) continue;
    before.functions.insert(before.functions.end(), node.functions.begin(), node.functions.end());
    node.inputs.clear();
    redirect(network, static_cast<int>(i), source);
    std::swap(readers[i], readers[static_cast<std::size_t>(source)]);
  }
}

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
    if (!used[i] && network.nodes[i].kind != Kind::Input) continue;
    moved[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(network.nodes[i]));
  }
  const auto move = [&](int& index) { index = moved[static_cast<std::size_t>(index)]; };
  for (NetworkNode& node : kept) std::for_each(node.inputs.begin(), node.inputs.end(), move);
  std::for_each(network.outputs.begin(), network.outputs.end(), move);
  network.nodes = std::move(kept);
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
