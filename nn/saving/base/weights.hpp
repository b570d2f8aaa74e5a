#pragma once
#include <ktape/nn/models/model.hpp>

#include <string>
#include <utility>
#include <vector>

/// The weights of models as files hold them: all weights, also those that are not trained, but not what
/// metrics and optimizers keep. Internal: sources only.
namespace ktape::nn::saving {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
using NamedVariables = std::vector<std::pair<std::string, Variable>>;

/// The weights of a layer of a model, under names of their own: "kernel" or, in a layer of layers, the path
/// to it, "forward_lstm/lstm_cell/kernel".
struct LayerWeights {
  std::string layer;
  NamedTensors weights;
};

/// The same, where the values are.
struct LayerVariables {
  std::string layer;
  NamedVariables weights;
};

/// The bytes that a file for a model can need, whatever it is compressed to: those of its weights, and as
/// many again for each of the two moments that optimizers keep, and for an average.
std::uint64_t expected_bytes(const Model& model);

/// The weights in a layer, in the order of `Layer::weights()`, under the names that LayerWeights has.
NamedVariables named_weights(const Layer& layer);

/// The layers in a layer, at any depth, under their paths.
std::vector<std::pair<std::string, Layer>> named_layers(const Layer& layer);

/// The weights of each layer of `Model::layers()`, those without weights too, and, for a model with weights
/// of its own, behind them an entry with an empty name. A layer that is also in another has its weights in
/// both. Throws ValueError for a model that is not built.
std::vector<LayerVariables> layer_variables(const Model& model);
/// Their values.
std::vector<LayerWeights> collect_weights(const Model& model);

/// Gives the model what a file has. Layers are matched by name, or, unless `by_name` is set and unless both
/// sides have the same names, by their order, passing over those without weights; so are the weights in a
/// layer. Numbers take the dtypes of the weights. Throws ValueError, naming layer, weight and both shapes,
/// for weights that do not fit, and for a model that is not built; nothing changes then.
void assign_weights(const Model& model, const std::string& path, const std::vector<LayerWeights>& given,
                    const LoadWeightsOptions& options);

/// The same for files that are one list of tensors, under "layer/weight". The names decide on the order;
/// where they are others (names that are counted, "dense_3", differ from model to model) the last part must
/// agree.
NamedTensors flat_weights(const Model& model);
NamedVariables flat_variables(const Model& model);
void assign_flat_weights(const Model& model, const std::string& path, const NamedTensors& given,
                         const LoadWeightsOptions& options);

}  // namespace ktape::nn::saving
