#pragma once
#include <ktape/nn/models/model.hpp>

/// Keras's order of the layers and weights of a model. Internal: sources only.
namespace ktape::nn::saving {

/// Returns the layers in the order of Keras's `model.layers`: those of a model made from symbolic tensors by
/// their distance to the outputs, the farthest first, and by the order in which they are met on the way back.
/// Files whose layers have other names than the model's are matched by it.
std::vector<Layer> keras_layers(const Model& model);

/// Returns whether a layer is a model; such a one.
std::optional<Model> as_model(const Layer& layer);

/// The weights that are the layer's own, not those of layers in it: trainable ones first, whether it is
/// frozen or not.
std::vector<Variable> own_weights(const Layer& layer);

}  // namespace ktape::nn::saving
