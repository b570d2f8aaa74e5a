#pragma once
#include <ktape/ktape.hpp>
#include <ktape/nn/saving/keras/keras_layers.hpp>

#include <algorithm>

#include "../../ops/check.hpp"

/// Helpers for the tests of applications: the names of layers and weights.
namespace networks {

namespace nn = ktape::nn;
using namespace nn::applications;

using Names = std::vector<std::string>;

/// Returns the names of the layers in the order of Keras's `model.layers`.
inline Names layer_names(const nn::Model& model) {
  Names names;
  for (const nn::Layer& layer : nn::saving::keras_layers(model)) names.push_back(layer.name());
  return names;
}

/// Returns the names from a name on.
inline Names names_from(const Names& names, const std::string& first, std::size_t count) {
  const auto begin = std::find(names.begin(), names.end(), first);
  return {begin, begin + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(count), names.end() - begin)};
}

inline bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

inline Names weight_names(const nn::Layer& layer) {
  Names names;
  for (const ktape::Variable& weight : layer.weights()) names.push_back(weight.name());
  return names;
}

/// Returns a small network of any size.
inline nn::Model small_mobilenet(const std::string& weights = "", std::int64_t classes = 5) {
  return MobileNetV2({.input_shape = {32, 32, 3}, .alpha = 0.35, .weights = weights, .classes = classes});
}

}  // namespace networks
