#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// A layer of ConvNeXt. Internal: sources only.
namespace ktape::nn {

class ClassRegistry;

struct LayerScaleOptions {
  double init_values = 1e-6;  ///< initial value of the factors; small, so that a new block changes little
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// x * gamma, with a factor for each of the last axis's channels. Weight: gamma (projection_dim,).
/// `keras.applications.convnext.LayerScale`.
class LayerScale : public Layer {
 public:
  explicit LayerScale(std::int64_t projection_dim, const LayerScaleOptions& options = {});
};

void add_application_layers(ClassRegistry& registry);

}  // namespace ktape::nn
