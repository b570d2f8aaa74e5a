#pragma once
#include <ktape/nn/models/graph.hpp>
#include <ktape/nn/models/model.hpp>

namespace ktape::nn {

/// A model that is made from symbolic tensors: it runs by calling the layers again.
class FunctionalImpl final : public ModelImpl {
 public:
  FunctionalImpl(std::vector<Tensor> inputs, std::vector<Tensor> outputs, const ModelOptions& options);

  using ModelImpl::call;
  std::vector<Tensor> call(const std::vector<Tensor>& inputs);

  /// Keras 3's: {name, trainable, layers with their inbound_nodes, input_layers, output_layers}. Throws
  /// ValueError, naming it, for an op between layers.
  Config get_config() const override;
  Value to_value() const override;

  std::vector<Tensor> inputs() const override { return inputs_; }
  std::vector<Tensor> outputs() const override { return outputs_; }
  std::vector<Layer> sublayers() const override { return graph_.layers(); }
  void add_graph_report(const Tensor& value, const std::string& name) override;
  std::vector<std::string> input_names() const override;
  std::vector<std::string> output_names() const override;

 private:
  Tensor fitting(const Tensor& x, std::size_t place) const;

  std::vector<Tensor> inputs_, outputs_;
  std::vector<std::string> reports_;  ///< the names of metrics; empty for losses
  LayerGraph graph_;                  ///< to the outputs, then what is reported
};

}  // namespace ktape::nn
