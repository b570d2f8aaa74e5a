#pragma once
#include <ktape/nn/models/model.hpp>

#include <functional>

namespace ktape::nn {

struct CloneModelOptions {
  /// Returns the layer of the new model for a layer of the old model: the old layer, to share its weights, or
  /// another layer. The default makes a new layer from the old layer's config.
  std::function<Layer(const Layer&)> clone_function = {};
};

/// Returns a new model with the architecture of a model and new initial weights. `clone_function` is called
/// for each layer of the model; for a model inside the model `clone_function` is called once, with the inner
/// model. Throws ValueError for a layer without a config, and for a clone_function together with a model
/// class of a user. Mirrors `keras.models.clone_model`.
///
///     nn::Sequential model({nn::Dense(1, {.input_shape = {2}}), nn::ReLU()});
///     auto smooth = [](const nn::Layer& layer) -> nn::Layer {
///       if (layer.class_name() == "ReLU") return nn::Activation("gelu");
///       return nn::Layer::from_value(layer.to_value());
///     };
///     for (const nn::Model& copy :
///          {nn::clone_model(model), nn::clone_model(model, {.clone_function = smooth})})
///       std::cout << copy.layers()[0].class_name() << " "
///                 << copy.layers()[1].class_name() << "\n";
Model clone_model(const Model& model, const CloneModelOptions& options = {});

}  // namespace ktape::nn
