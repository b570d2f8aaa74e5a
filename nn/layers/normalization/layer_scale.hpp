#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// LayerScale, a layer of ConvNeXt. Internal: sources only.
namespace ktape::nn {

class ClassRegistry;

struct LayerScaleOptions {
  /// The initial value of the factors. A small value lets a new block change its input only little.
  double init_values = 1e-6;
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that multiplies each channel (last axis) by a factor: x * gamma. Weight: gamma (projection_dim,).
/// `keras.applications.convnext.LayerScale`.
class LayerScale : public Layer {
 public:
  explicit LayerScale(std::int64_t projection_dim, const LayerScaleOptions& options = {});
};

void add_application_layers(ClassRegistry& registry);

}  // namespace ktape::nn
