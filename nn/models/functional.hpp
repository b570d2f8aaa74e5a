#pragma once
#include <ktape/nn/models/model.hpp>

namespace ktape::nn {

class LayerGraph;

/// The implementation of a model that is made from symbolic tensors: the model runs by calling its layers
/// again. Classes derive from FunctionalImpl when the graph is known and the training differs:
///
///     struct MineImpl : nn::FunctionalImpl {
///       using nn::FunctionalImpl::FunctionalImpl;
///       std::string class_name() const override { return "Mine"; }  // in files, where it is registered
///       nn::Logs train_step(const nn::Batch& batch) override { ... }
///     };
///     using Mine = nn::ModelOf<MineImpl>;
///     nn::register_object("Mine", [](const nn::Config& config) { return Mine(config); });
///     Mine model(in, out);
///
/// For example:
///
///     struct LoggingImpl : nn::FunctionalImpl {
///       using nn::FunctionalImpl::FunctionalImpl;
///       std::string class_name() const override { return "Logging"; }
///       nn::Logs train_step(const nn::Batch& batch) override {
///         std::cout << "a batch of " << batch.x[0].shape() << "\n";
///         return nn::FunctionalImpl::train_step(batch);
///       }
///     };
///     Tensor in = nn::Input({2});
///     nn::ModelOf<LoggingImpl> model(in, nn::Dense(1)(in));
///     model.compile({.loss = "mse"});
///     model.fit(K::ones({4, 2}), K::ones({4, 1}), {.verbose = 0});
class FunctionalImpl : public ModelImpl {
 public:
  /// Makes a functional model; see Model.
  FunctionalImpl(const TensorList& inputs, const TensorList& outputs, const ModelOptions& options = {});
  /// Makes the model from a config of the form that `get_config` returns. Throws ValueError or TypeError for
  /// another config.
  explicit FunctionalImpl(const Config& config);

  using ModelImpl::call;
  std::vector<Tensor> call(const std::vector<Tensor>& inputs);

  /// Returns the config of Keras 3: {name, trainable, layers with their inbound_nodes, input_layers,
  /// output_layers}. Ops between the layers are operations among the layers. Throws ValueError, naming the op,
  /// for an op that reads a variable or a large constant, or that draws numbers or calls callables.
  Config get_config() const override;
  Value to_value() const override;

  /// Returns the dtype of weights: the model converts inputs to the dtypes of its nn::Input, and the layers
  /// convert them further.
  DType input_dtype() const override { return variable_dtype(); }

  std::vector<Tensor> inputs() const override { return inputs_; }
  std::vector<Tensor> outputs() const override { return outputs_; }
  std::vector<Layer> sublayers() const override;
  std::shared_ptr<CompiledCalls> plans() const override;
  void add_graph_report(const Tensor& value, const std::string& name) override;
  std::vector<std::string> input_names() const override;
  std::vector<std::string> output_names() const override;
  /// Returns the graph to the outputs and to the tensors of add_loss and add_metric.
  const LayerGraph& graph() const { return *graph_; }

 private:
  struct Parts {
    TensorList inputs, outputs;
    ModelOptions options;
  };
  static Parts parts_of(const Config& config);
  explicit FunctionalImpl(const Parts& parts);
  Tensor fitting(const Tensor& x, std::size_t place) const;

  std::vector<Tensor> inputs_, outputs_;
  std::vector<std::string> reports_;         ///< the names of metrics; empty for losses
  std::shared_ptr<const LayerGraph> graph_;  ///< the graph to the outputs and to the reported tensors
};

}  // namespace ktape::nn
