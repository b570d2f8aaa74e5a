#pragma once
#include <ktape/nn/models/graph.hpp>
#include <ktape/nn/models/model.hpp>

namespace ktape::nn {

/// A model that is made from symbolic tensors: it runs by calling the layers again.
class FunctionalImpl final : public ModelImpl {
 public:
  FunctionalImpl(std::vector<Tensor> inputs, std::vector<Tensor> outputs, const ModelOptions& options);

  std::vector<Tensor> call(const std::vector<Tensor>& inputs) override;
  Tensor call(const Tensor& x) override;

  std::vector<Tensor> inputs() const override { return inputs_; }
  std::vector<Tensor> outputs() const override { return outputs_; }
  std::vector<Layer> sublayers() const override { return graph_.layers(); }
  void add_graph_loss(const Tensor& loss) override;

 private:
  Tensor fitting(const Tensor& x, std::size_t place) const;

  std::vector<Tensor> inputs_, outputs_, losses_;
  LayerGraph graph_;  ///< to the outputs, then the losses
};

}  // namespace ktape::nn
