#pragma once
#include <ktape/nn/models/model.hpp>

/// Keras's order of the layers and weights of a model. Internal: sources only.
namespace ktape::nn::saving {

/// Returns the layers in the order of Keras's `model.layers`: layers of a model of symbolic tensors by their
/// distance to the outputs, the farthest first, and then by the order of a walk back from the outputs. The
/// order matches the layers of files whose names differ from the model's.
std::vector<Layer> keras_layers(const Model& model);

/// Returns the layer as a model; none for a layer that is not a model.
std::optional<Model> as_model(const Layer& layer);

/// Returns the weights that belong to the layer and not to its sublayers: trainable weights first, whether
/// the layer is frozen or not.
std::vector<Variable> own_weights(const Layer& layer);

}  // namespace ktape::nn::saving
