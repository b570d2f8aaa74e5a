#pragma once
#include <ktape/nn/models/model.hpp>

#include <functional>

namespace ktape::nn {

struct CloneModelOptions {
  /// The layer of the new model for one of the old: itself, to share its weights, or another. By default a
  /// layer of the same config.
  std::function<Layer(const Layer&)> clone_function = {};
};

/// A new model of the same architecture with new initial weights. `clone_function` is asked for each of the
/// model's layers; those of a model inside are the affair of what it returns for that model. Throws
/// ValueError for a part without a config, and for a clone_function with a model class of your own.
/// `keras.models.clone_model`.
///
///     nn::Model smooth = nn::clone_model(model, {.clone_function = [](const nn::Layer& layer) -> nn::Layer {
///       if (layer.class_name() == "ReLU") return nn::Activation("gelu", {.name = layer.name()});
///       return nn::Layer::from_value(layer.to_value());
///     }});
Model clone_model(const Model& model, const CloneModelOptions& options = {});

}  // namespace ktape::nn
