#pragma once
#include <ktape/nn/models/model.hpp>

#include <string>
#include <utility>
#include <vector>

/// The weights of models as files hold them: all weights, trainable or not, without the variables of metrics
/// and optimizers. Internal: sources only.
namespace ktape::nn::saving {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
using NamedVariables = std::vector<std::pair<std::string, Variable>>;

/// The weights of a layer of a model. The name of a weight is "kernel" or, in a layer of layers, the path to
/// the weight: "forward_lstm/lstm_cell/kernel".
struct LayerWeights {
  std::string layer;
  NamedTensors weights;
};

/// The variables of a layer of a model, under the names of LayerWeights.
struct LayerVariables {
  std::string layer;
  NamedVariables weights;
};

/// Returns the largest number of bytes that the arrays of a model's file can have: the bytes of the weights,
/// times 4 for two moments of the optimizer and an average.
std::uint64_t expected_bytes(const Model& model);

/// Returns the weights in a layer, in the order of `Layer::weights()`, under the names of LayerWeights.
NamedVariables named_weights(const Layer& layer);

/// Returns the layers in a layer, at any depth, under their paths.
std::vector<std::pair<std::string, Layer>> named_layers(const Layer& layer);

/// Returns an entry for each layer of `Model::layers()`, also for layers without weights, and then, for a
/// model that added weights itself, an entry with an empty name. The weights of a layer that is part of two
/// layers stand in both entries. Throws ValueError for a model that is not built.
std::vector<LayerVariables> layer_variables(const Model& model);
/// Returns the values of `layer_variables`.
std::vector<LayerWeights> collect_weights(const Model& model);

/// Assigns the weights of a file to the model. Layers are matched by name; where the names of file and model
/// differ and `by_name` is not set, layers with weights are matched by their order. Weights of a layer are
/// matched by these rules, too. Numbers take the dtypes of the weights. Throws ValueError, naming layer,
/// weight and both shapes, for weights that do not fit, and for a model that is not built; nothing changes
/// then.
void assign_weights(const Model& model, const std::string& path, const std::vector<LayerWeights>& given,
                    const LoadWeightsOptions& options);

/// Returns the weights as a single list of tensors with names "layer/weight", for file formats without
/// layers. `assign_flat_weights` matches by name, or by order if names differ: automatic names such as
/// "dense_3" differ from model to model, but the last parts of the names must be equal.
NamedTensors flat_weights(const Model& model);
NamedVariables flat_variables(const Model& model);
void assign_flat_weights(const Model& model, const std::string& path, const NamedTensors& given,
                         const LoadWeightsOptions& options);

}  // namespace ktape::nn::saving
