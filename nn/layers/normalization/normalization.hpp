#pragma once
#include <ktape/nn/layers/base/weighted_layers.hpp>

/// Layers that bring their input to a common scale. The output has the shape of the input; masks pass. An
/// axis that the input does not have, or whose extent is unknown where weights need it, is a ValueError.
namespace ktape::nn {

struct BatchNormalizationOptions {
  int axis = -1;           ///< the axis of the channels
  double momentum = 0.99;  ///< how much of a moving statistic stays in each step
  double epsilon = 1e-3;   ///< added to the variance
  bool center = true;      ///< whether there is a beta
  bool scale = true;       ///< whether there is a gamma
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Initializer moving_mean_initializer = "zeros", moving_variance_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  nn::Constraint beta_constraint = {}, gamma_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// gamma * (x - mean) / sqrt(variance + epsilon) + beta for each channel. In training, mean and population
/// variance are those of the batch, and the moving ones become moving * momentum + batch * (1 - momentum); in
/// inference, and while the layer is frozen, the moving ones are used. With a mask only the steps that count
/// are in the statistics of a batch. Weights of shape (channels,): gamma, beta, moving_mean, moving_variance.
class BatchNormalization : public ScalingLayer {
 public:
  explicit BatchNormalization(const BatchNormalizationOptions& options = {});
  Variable moving_mean() const { return weight("moving_mean"); }
  Variable moving_variance() const { return weight("moving_variance"); }
};

struct LayerNormalizationOptions {
  Axes axis = -1;         ///< the axes of a group, and of gamma and beta
  double epsilon = 1e-3;  ///< added to the variance
  bool center = true;     ///< whether there is a beta
  bool scale = true;      ///< whether there is a gamma
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  nn::Constraint beta_constraint = {}, gamma_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// gamma * (x - mean) / sqrt(variance + epsilon) + beta with the mean and population variance along the axes.
/// gamma and beta have the extents of the axes, in ascending order.
class LayerNormalization : public ScalingLayer {
 public:
  explicit LayerNormalization(const LayerNormalizationOptions& options = {});
};

struct GroupNormalizationOptions {
  std::int64_t groups = 32;  ///< -1: each channel is a group
  int axis = -1;             ///< the axis of the channels
  double epsilon = 1e-3;     ///< added to the variance
  bool center = true;        ///< whether there is a beta
  bool scale = true;         ///< whether there is a gamma
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  nn::Constraint beta_constraint = {}, gamma_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// As LayerNormalization, for groups of neighbouring channels: the statistics are over the channels of a
/// group and all axes but the first. gamma and beta have one element for each channel. Throws ValueError
/// unless the channels divide into the groups.
class GroupNormalization : public ScalingLayer {
 public:
  explicit GroupNormalization(const GroupNormalizationOptions& options = {});
};

struct RMSNormalizationOptions {
  Axes axis = -1;
  double epsilon = 1e-6;  ///< added to the mean square
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// scale * x / sqrt(mean(x^2) + epsilon) with the mean along the axes, whose extents the weight scale has.
class RMSNormalization : public Layer {
 public:
  explicit RMSNormalization(const RMSNormalizationOptions& options = {});
  Variable scale() const { return weight("scale"); }
};

struct UnitNormalizationOptions {
  Axes axis = -1;
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// x / max(norm, 1e-12) with the Euclidean norm along the axes.
class UnitNormalization : public Layer {
 public:
  explicit UnitNormalization(const UnitNormalizationOptions& options = {});
};

}  // namespace ktape::nn
