#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// Layers whose weights have well-known names; `Layer::weight` finds the others, and says what is wrong where
/// a layer has no such weight.
namespace ktape::nn {

/// A layer with a kernel and, unless `use_bias` is false, a bias.
class KernelLayer : public Layer {
 public:
  using Layer::Layer;
  Variable kernel() const { return weight("kernel"); }
  Variable bias() const { return weight("bias"); }
};

/// A layer with a kernel for its inputs and one for its states.
class RecurrentKernelLayer : public KernelLayer {
 public:
  using KernelLayer::KernelLayer;
  Variable recurrent_kernel() const { return weight("recurrent_kernel"); }
};

/// A layer that multiplies by gamma, with `scale`, and adds beta, with `center`.
class ScalingLayer : public Layer {
 public:
  using Layer::Layer;
  Variable gamma() const { return weight("gamma"); }
  Variable beta() const { return weight("beta"); }
};

}  // namespace ktape::nn
