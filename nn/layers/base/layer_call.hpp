#pragma once
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/layers/base/layer.hpp>

/// The graph of a model: each symbolic tensor refers to the call of the layer that made the tensor.
namespace ktape::nn {

/// A layer's call on symbolic tensors. It belongs to the symbol that waits for it (`Symbol::owner`), which
/// keeps the layer alive; the layer knows its calls only as long as they live.
struct LayerCall {
  Layer layer;
  Symbol* symbol;
  CallArguments arguments;
  std::size_t input_count;  ///< the first operands of the symbol

  LayerCall(Layer layer, Symbol* symbol, CallArguments arguments, std::size_t input_count);
  ~LayerCall();
  LayerCall(const LayerCall&) = delete;
  LayerCall& operator=(const LayerCall&) = delete;

  std::vector<Tensor> inputs() const;
  /// Returns the outputs; empty when the last output tensor is gone.
  std::vector<Tensor> outputs() const;
  /// Returns how many of the symbol's operands a call reads; the others are weights.
  std::size_t operand_count() const;
  /// Returns whether it is a call on one tensor, with no other tensor among its arguments.
  bool plain() const;
};

/// Returns the call that made x; null when no layer did.
const LayerCall* call_of(const Symbol& symbol);
const LayerCall* call_of(const Tensor& x);

/// While one lives, calls of layers are part of a graph, even inside the call of another layer.
class GraphScope {
 public:
  GraphScope();
  ~GraphScope();
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;

 private:
  LayerImpl* before_;
};

/// A symbol that calls a layer when its inputs have values.
class LayerCallSymbol final : public Symbol {
 public:
  /// The operands are the inputs, the tensors among the arguments, and the weights, which gradients reach.
  static Ref<Symbol> make(const Layer& layer, const std::vector<Tensor>& inputs,
                          const CallArguments& arguments);
  void run(const OperandValues& values, Results& results) const override;

 private:
  LayerCallSymbol() : Symbol("layer") {}
};

}  // namespace ktape::nn
