#include <ktape/ops/kernels/network/passes/passes.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace ktape::kernels {

using Kind = NetworkNode::Kind;

namespace {

using Function = ElementFunction::Kind;

bool takes_functions(const NetworkNode& node) {
  return node.multiplies() || node.kind == Kind::Normalization || node.kind == Kind::Function ||
         node.kind == Kind::Sum || node.kind == Kind::Binary;
}

/// Returns b(a(x)) as one function. None where the two could differ by more than the rounding of a result: a sum that is
/// rounded in between may be there for its rounding, and a product may overflow.
std::optional<ElementFunction> composed(const ElementFunction& a, const ElementFunction& b) {
  if (a.kind != b.kind) return {};
  const auto changes_signs = [](const ElementFunction& f) { return std::abs(f.alpha) == 1 && f.beta == 0; };
  switch (a.kind) {
    case Function::Linear:
      if (changes_signs(a)) return ElementFunction{Function::Linear, a.alpha * b.alpha, b.beta};
      if (changes_signs(b)) return ElementFunction{Function::Linear, a.alpha * b.alpha, a.beta * b.alpha};
      if (a.beta == 0 && b.alpha == 1) return ElementFunction{Function::Linear, a.alpha, b.beta};
      return {};
    case Function::Clip: {
      const auto clipped = [&](float x) { return std::min(std::max(x, b.alpha), b.beta); };
      return ElementFunction{Function::Clip, clipped(a.alpha), clipped(a.beta)};
    }
    case Function::Relu:
      if (a.alpha == 0) return a;
      if (b.alpha == 0 && a.alpha > 0) return b;
      return {};
    default:
      return {};
  }
}

void append(std::vector<ElementFunction>& functions, const ElementFunction& f) {
  const auto one = functions.empty() ? std::nullopt : composed(functions.back(), f);
  if (one) functions.back() = *one;
  else functions.push_back(f);
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
    for (const ElementFunction& f : node.functions) append(before.functions, f);
    node.inputs.clear();
    redirect(network, static_cast<int>(i), source);
    std::swap(readers[i], readers[static_cast<std::size_t>(source)]);
  }
}

}  // namespace ktape::kernels
