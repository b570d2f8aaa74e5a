#pragma once
#include <ktape/autograd/graph/execution_plan.hpp>
#include <ktape/nn/compiled/compiled_calls.hpp>
#include <ktape/nn/layers/base/layer_call.hpp>

#include <map>

namespace ktape::nn {

/// Returns the shape with a last axis of extent 1 added or removed, as in Keras, if the result is the wanted shape of
/// an input; none otherwise.
std::optional<Shape> adjusted_shape(Shape shape, const Shape& wanted);

/// A node in the drawing of a model's graph: the call of a layer, the call of an op, or an input.
struct GraphNode {
  Layer layer;     ///< undefined for an op
  std::string op;  ///< the name of an op, which no other node of the graph has; empty for a layer
  std::string op_class = "op";  ///< the operation of the op, if there is one
  int call = 0;                 ///< the number of the call among the layer's calls in this graph
  std::vector<Shape> inputs, outputs;
  std::vector<DType> dtypes;  ///< the dtypes of the outputs
  /// For each input, the node that made the input, and the index among the outputs of that node.
  std::vector<std::pair<std::size_t, std::uint32_t>> from;

  std::string name() const { return layer.defined() ? layer.name() : op; }
};

/// The graph from some symbolic tensors to others: the calls of layers, and the ops between them, in the
/// order in which the program wrote them. Immutable: several threads may run one graph.
class LayerGraph {
 public:
  LayerGraph() = default;
  LayerGraph(const LayerGraph&) = delete;
  LayerGraph& operator=(const LayerGraph&) = delete;
  /// Finds the calls between inputs and outputs. Throws ValueError, naming the model, for an input that is
  /// not symbolic or is listed twice, an undefined output, an input that the outputs need and `inputs` lacks,
  /// and two layers with equal names.
  LayerGraph(const std::string& model, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs);

  /// Calls the layers on values, one for each input, and returns the outputs, recorded.
  std::vector<Tensor> run(const std::vector<Tensor>& values) const;

  const std::vector<Tensor>& inputs() const { return inputs_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  /// Returns each layer once, the input layers too.
  const std::vector<Layer>& layers() const { return layers_; }
  /// Returns the inputs and the calls, each after the nodes that make its inputs.
  std::vector<GraphNode> nodes() const;
  /// Returns the name of the layer or the op that made tensors of the graph. Each op has a name that no layer
  /// and no other op of the graph has.
  std::string name_of(const Symbol& symbol) const;
  /// Returns the plans for inference, which may run while the graph lives; null for a graph without calls, and
  /// for callables inside of ops, which read tensors at any time.
  CompiledCalls* plans() const;
  /// Returns whether a callable inside of an op uses symbolic tensors of the graph.
  bool captures() const { return captures_; }
  /// Returns the symbols of the calls, in the order of the calls.
  std::vector<Ref<Symbol>> symbols() const;

 private:
  friend class LayerGraphRun;
  /// The call of a layer in a step.
  struct CallOfStep {
    const LayerCall* call = nullptr;  ///< null for an op
    bool plain = false;               ///< whether the layer has one input and one output
  };

  void add_step(const Ref<Symbol>& symbol);
  void add_layer(const std::string& model, const LayerCall* call);
  void name_ops();
  std::vector<PlannedCall> planned_calls() const;

  std::vector<Tensor> inputs_, outputs_;
  std::vector<Layer> layers_;
  ExecutionPlan plan_;
  std::vector<CallOfStep> calls_;  ///< the call of each step of the plan
  std::map<const Symbol*, std::string> op_names_;
  std::vector<ExecutionPlan::Source> results_;    ///< the slots of the outputs
  mutable std::unique_ptr<CompiledCalls> plans_;  ///< null before the first use
  mutable std::mutex making_plans_;
  bool captures_ = false;  ///< whether a callable inside of an op uses symbolic tensors
};

}  // namespace ktape::nn
