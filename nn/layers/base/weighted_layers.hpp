#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// Base classes of layers with accessors for common weights, such as `kernel()`. `Layer::weight` finds all
/// weights by name, and throws ValueError for a weight that the layer does not have.
namespace ktape::nn {

/// A layer with a kernel and, unless `use_bias` is false, a bias.
///
///     nn::Dense layer(2, {.kernel_initializer = "ones"});
///     layer(K::ones({1, 3}));
///     std::cout << layer.kernel();
class KernelLayer : public Layer {
 public:
  using Layer::Layer;
  Variable kernel() const { return weight("kernel"); }
  Variable bias() const { return weight("bias"); }
};

/// A layer with a kernel for the inputs and a recurrent kernel for the states.
///
///     nn::SimpleRNNCell cell(2, {.recurrent_initializer = "ones"});
///     cell.apply({K::ones({1, 3}), K::zeros({1, 2})});
///     std::cout << cell.kernel().shape() << "\n" << cell.recurrent_kernel();
class RecurrentKernelLayer : public KernelLayer {
 public:
  using KernelLayer::KernelLayer;
  Variable recurrent_kernel() const { return weight("recurrent_kernel"); }
};

/// A layer that multiplies by the weight gamma if `scale` is true, and adds the weight beta if `center` is
/// true.
///
///     nn::BatchNormalization layer;
///     layer(K::ones({1, 3}));
///     std::cout << layer.gamma();
class ScalingLayer : public Layer {
 public:
  using Layer::Layer;
  Variable gamma() const { return weight("gamma"); }
  Variable beta() const { return weight("beta"); }
};

}  // namespace ktape::nn
