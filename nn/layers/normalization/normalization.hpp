#pragma once
#include <ktape/nn/layers/base/weighted_layers.hpp>

/// Normalization layers of Keras. The output has the shape and the mask of the input. Each layer throws
/// ValueError for an axis that the input does not have, and for an unknown extent of an axis whose extent a
/// weight needs.
///
///     nn::LayerNormalization({.axis = -1})
namespace ktape::nn {

struct BatchNormalizationOptions {
  int axis = -1;           ///< the axis of the channels
  double momentum = 0.99;  ///< the factor of the moving statistics in a training step
  double epsilon = 1e-3;   ///< added to the variance
  bool center = true;      ///< whether the layer has the weight beta
  bool scale = true;       ///< whether the layer has the weight gamma
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Initializer moving_mean_initializer = "zeros", moving_variance_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  nn::Constraint beta_constraint = {}, gamma_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Batch normalization: gamma * (x - mean) / sqrt(variance + epsilon) + beta for each channel. In training,
/// mean and population variance are computed from the batch, and each moving statistic becomes moving *
/// momentum + batch * (1 - momentum). In inference, and while `trainable` is false, the layer uses the moving
/// statistics. With a mask, only the unmasked steps enter the statistics of a batch, whatever the others hold.
/// Weights of shape (channels,): gamma, beta, moving_mean, moving_variance.
///
///     nn::BatchNormalization layer;
///     std::cout << layer(K::constant({{1., 2.}, {3., 4.}}));
class BatchNormalization : public ScalingLayer {
 public:
  explicit BatchNormalization(const BatchNormalizationOptions& options = {});
  Variable moving_mean() const { return weight("moving_mean"); }
  Variable moving_variance() const { return weight("moving_variance"); }
};

struct LayerNormalizationOptions {
  Axes axis = -1;         ///< the axes of mean and variance, and of gamma and beta
  double epsilon = 1e-3;  ///< added to the variance
  bool center = true;     ///< whether the layer has the weight beta
  bool scale = true;      ///< whether the layer has the weight gamma
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  nn::Constraint beta_constraint = {}, gamma_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Layer normalization: gamma * (x - mean) / sqrt(variance + epsilon) + beta, with the mean and the
/// population variance along `axis`. The shape of gamma and beta holds the extents of `axis` in ascending
/// order of the axes.
///
///     nn::LayerNormalization layer, plain({.center = false, .scale = false});
///     std::cout << layer(K::constant({{1., 2., 3.}}))
///               << " weights: " << layer.count_params() << "\n"
///               << plain(K::constant({{1., 2., 3.}}))
///               << " weights: " << plain.count_params();
class LayerNormalization : public ScalingLayer {
 public:
  explicit LayerNormalization(const LayerNormalizationOptions& options = {});
};

struct GroupNormalizationOptions {
  std::int64_t groups = 32;  ///< the number of groups; -1 makes each channel a group
  int axis = -1;             ///< the axis of the channels
  double epsilon = 1e-3;     ///< added to the variance
  bool center = true;        ///< whether the layer has the weight beta
  bool scale = true;         ///< whether the layer has the weight gamma
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  nn::Constraint beta_constraint = {}, gamma_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Group normalization: gamma * (x - mean) / sqrt(variance + epsilon) + beta. Neighbouring channels form a
/// group; mean and population variance are taken over the channels of a group and all axes except the batch
/// axis and `axis`. gamma and beta have shape (channels,). Throws ValueError unless the number of channels is
/// a multiple of the number of groups.
///
///     nn::GroupNormalization layer({.groups = 2});
///     std::cout << layer(K::random_normal({2, 4, 4, 6})).shape()
///               << " weights: " << layer.count_params();
class GroupNormalization : public ScalingLayer {
 public:
  explicit GroupNormalization(const GroupNormalizationOptions& options = {});
};

struct RMSNormalizationOptions {
  Axes axis = -1;         ///< the axes of the mean, and of the weight scale
  double epsilon = 1e-6;  ///< added to the mean square
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// RMS normalization: scale * x / sqrt(mean(x^2) + epsilon), with the mean along `axis`. The shape of the
/// weight scale holds the extents of `axis` in ascending order of the axes.
///
///     nn::RMSNormalization layer, rough({.epsilon = 1});
///     Tensor x = K::constant({{1., 2., 3.}});
///     std::cout << layer(x) << "\n" << rough(x);
class RMSNormalization : public Layer {
 public:
  explicit RMSNormalization(const RMSNormalizationOptions& options = {});
  Variable scale() const { return weight("scale"); }
};

struct UnitNormalizationOptions {
  Axes axis = -1;  ///< the axes of the norm
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Unit normalization: x / max(norm, 1e-12), with the Euclidean norm along `axis`. For float16 the norm is at
/// least sqrt(1e-7), because float16 rounds 1e-24 to 0.
///
///     nn::UnitNormalization rows, all({.axis = {1, 2}});
///     Tensor x = K::constant({{{3., 4.}, {5., 12.}}});
///     std::cout << rows(x) << "\n" << all(x);
class UnitNormalization : public Layer {
 public:
  explicit UnitNormalization(const UnitNormalizationOptions& options = {});
};

}  // namespace ktape::nn
