#include <ktape/nn/layers/base/layer_call.hpp>
#include <ktape/nn/models/functional.hpp>
#include <ktape/nn/saving/keras/keras_layers.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace ktape::nn::saving {
namespace {

/// A walk from the outputs of a model back to its inputs.
class KerasOrder {
 public:
  explicit KerasOrder(const Model& model) {
    for (const Tensor& input : model.inputs()) cuts_.insert(symbol_of(input));
    for (const Tensor& output : model.outputs()) visit(symbol_of(output));
    for (auto symbol = finished_.rbegin(); symbol != finished_.rend(); ++symbol) place(*symbol);
  }

  /// Returns the sort key of a layer: its distance to the outputs, then the order of the walk from the
  /// outputs; inputs that lead to no output come last.
  std::pair<int, int> key(const Layer& layer) const {
    const auto found = places_.find(layer.shared().get());
    return found == places_.end() ? std::pair(0, -1) : std::pair(-found->second.depth, found->second.index);
  }

 private:
  struct Place {
    int depth = 0, index = 0;
  };

  static const Symbol* symbol_of(const Tensor& x) { return x.get()->symbol.get(); }
  /// Returns the layer that a symbol calls, or the symbol itself for an op, as the identity of a place in the
  /// walk.
  static const void* owner_of(const Symbol* symbol) {
    const LayerCall* call = call_of(*symbol);
    return call ? static_cast<const void*>(call->layer.shared().get()) : symbol;
  }

  std::vector<const Symbol*> needed(const Symbol* symbol) const {
    std::vector<const Symbol*> needed;
    if (cuts_.contains(symbol)) return needed;
    const LayerCall* call = call_of(*symbol);
    const auto operands = symbol->operands();
    for (const Operand& operand : operands.first(call ? call->operand_count() : operands.size()))
      if (is_symbolic(operand.tensor)) needed.push_back(symbol_of(operand.tensor));
    return needed;
  }

  /// Visits the symbols depth first, without recursion, because models may be deep.
  void visit(const Symbol* output) {
    std::vector<std::pair<const Symbol*, std::vector<const Symbol*>>> path;
    const auto enter = [&](const Symbol* symbol) {
      if (!seen_.insert(symbol).second) return;
      places_.try_emplace(owner_of(symbol), Place{0, static_cast<int>(places_.size())});
      path.emplace_back(symbol, needed(symbol));
      std::reverse(path.back().second.begin(), path.back().second.end());
    };
    enter(output);
    while (!path.empty()) {
      if (path.back().second.empty()) {
        finished_.push_back(path.back().first);
        path.pop_back();
        continue;
      }
      const Symbol* next = path.back().second.back();
      path.back().second.pop_back();
      enter(next);
    }
  }

  void place(const Symbol* symbol) {
    Place& owner = places_.at(owner_of(symbol));
    const int depth = std::max(depths_[symbol], owner.depth);
    owner.depth = depths_[symbol] = depth;
    for (const Symbol* other : needed(symbol)) depths_[other] = std::max(depth + 1, depths_[other]);
  }

  std::set<const Symbol*> cuts_, seen_;
  std::vector<const Symbol*> finished_;
  std::map<const void*, Place> places_;
  std::map<const Symbol*, int> depths_;
};

}  // namespace

std::vector<Layer> keras_layers(const Model& model) {
  std::vector<Layer> layers = model.layers();
  if (!dynamic_cast<const FunctionalImpl*>(&model.impl())) return layers;
  const KerasOrder order(model);
  std::stable_sort(layers.begin(), layers.end(),
                   [&](const Layer& a, const Layer& b) { return order.key(a) < order.key(b); });
  return layers;
}

std::optional<Model> as_model(const Layer& layer) {
  if (!dynamic_cast<const ModelImpl*>(&layer.impl())) return {};
  return Model(layer);
}

std::vector<Variable> own_weights(const Layer& layer) {
  std::vector<Variable> own = layer.weights();
  for (const Layer& inner : layer.impl().sublayers())
    for (const Variable& weight : inner.weights())
      std::erase_if(own, [&](const Variable& other) { return other.is(weight); });
  return own;
}

}  // namespace ktape::nn::saving
