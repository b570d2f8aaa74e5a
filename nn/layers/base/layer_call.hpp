#pragma once
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/layers/base/layer.hpp>

/// Records of the calls of layers on symbolic tensors: the graph of a model.
namespace ktape::nn {

/// A layer's call on symbolic tensors. The record is owned by the symbol of the call (`Symbol::owner`) and
/// keeps the layer alive. The layer lists the record only as long as the record lives.
struct LayerCall {
  Layer layer;
  Symbol* symbol;
  CallArguments arguments;
  std::size_t input_count;  ///< the number of inputs, which are the first operands of the symbol

  LayerCall(Layer layer, Symbol* symbol, CallArguments arguments, std::size_t input_count);
  ~LayerCall();
  LayerCall(const LayerCall&) = delete;
  LayerCall& operator=(const LayerCall&) = delete;

  std::vector<Tensor> inputs() const;
  /// Returns the outputs; an empty list when the last output has been destroyed.
  std::vector<Tensor> outputs() const;
  /// Returns the number of the symbol's operands that the call reads; the other operands are weights.
  std::size_t operand_count() const;
  /// Returns whether the call has one input and no tensor among the arguments.
  bool plain() const;
};

/// Returns the layer call that made a symbol or a tensor; null when no layer did.
const LayerCall* call_of(const Symbol& symbol);
const LayerCall* call_of(const Tensor& x);

/// Returns the outputs of a call as symbols of the ops inside of the layer, computed from the symbols of the
/// call's inputs in inference. The calls of inner layers are symbols of calls.
std::vector<Tensor> inner_outputs(const LayerCall& call);

/// A scope in which calls of layers on symbolic tensors become part of a graph, even inside the call of
/// another layer.
class GraphScope {
 public:
  GraphScope();
  ~GraphScope();
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;

 private:
  LayerImpl* before_;
};

/// A symbol that calls a layer when the inputs have values.
class LayerCallSymbol final : public Symbol {
 public:
  /// Makes the symbol of a call. The operands are the inputs, the tensors among the arguments, and the
  /// weights, so that gradients reach the weights.
  static Ref<Symbol> make(const Layer& layer, const std::vector<Tensor>& inputs,
                          const CallArguments& arguments);
  void run(const OperandValues& values, Results& results) const override;
  static std::vector<Tensor> inner_outputs(const LayerCall& call);

 private:
  LayerCallSymbol() : Symbol("layer") {}
};

}  // namespace ktape::nn
