#include <ktape/autograd/graph/reach.hpp>

#include <algorithm>

namespace ktape {

Origin origin_of(const Operand& x) {
  if (x.variable.defined()) return {x.variable.stored().node(), 0};
  if (!x.tensor.defined()) return {nullptr, 0};
  const TensorImpl& impl = *x.tensor.get();
  return {impl.symbol ? static_cast<const void*>(impl.symbol.get()) : impl.node.get(), impl.output};
}

std::vector<Ref<Symbol>> reachable_symbols(const std::vector<Tensor>& tensors,
                                           const std::set<SymbolResult>& cuts) {
  std::set<const Symbol*> seen;
  std::vector<Ref<Symbol>> found;
  const auto meet = [&](const Tensor& x) {
    if (is_symbolic(x) && !cuts.count(symbol_result(x)) && seen.insert(x.get()->symbol.get()).second)
      found.push_back(x.get()->symbol);
  };
  for (const Tensor& x : tensors) meet(x);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Ref<Symbol> symbol = found[i];
    for (const Operand& operand : symbol->operands()) meet(operand.tensor);
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a->sequence() < b->sequence(); });
  return found;
}

GradientReach::GradientReach(const std::vector<Tensor>& from, std::uint64_t oldest) : oldest_(oldest) {
  for (const Tensor& x : from) meet(x);
  while (!symbols_.empty()) {
    const Symbol* symbol = symbols_.back();
    symbols_.pop_back();
    for (const Operand& operand : symbol->operands())
      if (operand.differentiable) meet(operand);
  }
  while (!nodes_.empty()) {
    Node* node = nodes_.back();
    nodes_.pop_back();
    node->prepare();
    for (const Edge& edge : node->inputs())
      if (edge.node && reached_.insert({edge.node, edge.output}).second && seen_.insert(edge.node).second)
        nodes_.push_back(edge.node);
  }
}

void GradientReach::meet(const Operand& x) {
  const Origin origin = origin_of(x);
  const Tensor& tensor = x.variable.defined() ? x.variable.stored() : x.tensor;
  if (!origin.first || !tensor.dtype().is_floating() || !reached_.insert(origin).second) return;
  if (!seen_.insert(origin.first).second) return;
  if (!is_symbolic(tensor)) {
    if (oldest_ == 0) nodes_.push_back(tensor.node());
  } else if (tensor.get()->symbol->sequence() > oldest_) {
    symbols_.push_back(tensor.get()->symbol.get());
  }
}

}  // namespace ktape
