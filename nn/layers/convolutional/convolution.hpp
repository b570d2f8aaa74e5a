#pragma once
#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/layers/base/weighted_layers.hpp>
#include <ktape/ops/per_axis.hpp>

/// Convolutions over one, two or three spatial axes: (batch, spatial..., channels) or, with "channels_first",
/// (batch, channels, spatial...). Each is activation(convolution + bias); which elements a window reads, and
/// how many windows there are, is said in ops/convolution.hpp. One number, as a size or stride, counts for
/// each spatial axis.
///
///     nn::Conv2D(16, 3, {.strides = 2, .padding = "same", .activation = "relu"})
///
/// Throws ValueError, naming the layer, for sizes, strides and rates below 1 or of another number than there
/// are axes, strides together with rates above 1, and unknown names.
namespace ktape::nn {

using backend::PerAxis;

struct ConvOptions {
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";  ///< or "same"; for Conv1D also "causal"
  std::string data_format = {};   ///< K::image_data_format() by default
  PerAxis<std::int64_t> dilation_rate = 1;
  std::int64_t groups = 1;  ///< group g of the filters sees group g of the channels
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, bias_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Weights: kernel (spatial..., channels / groups, filters) and bias (filters,). Throws ValueError for
/// channels or filters that do not divide into the groups.
class Conv1D : public KernelLayer {
 public:
  Conv1D(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size, const ConvOptions& options = {});
};
class Conv2D : public KernelLayer {
 public:
  Conv2D(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size, const ConvOptions& options = {});
};
class Conv3D : public KernelLayer {
 public:
  Conv3D(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size, const ConvOptions& options = {});
};

struct ConvTransposeOptions {
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";              ///< or "same"
  PerAxis<std::int64_t> output_padding = {};  ///< below the strides; by default the output is as below
  std::string data_format = {};
  PerAxis<std::int64_t> dilation_rate = 1;
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, bias_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// The gradient of the convolution that maps the output's extents to the input's. An axis of extent n becomes
/// n * stride ("same") or n * stride + max(k - stride, 0) ("valid"), where k = (kernel_size - 1) *
/// dilation_rate + 1; with an output padding p it becomes (n - 1) * stride + k - 2 * (k / 2) + p ("same") or
/// (n - 1) * stride + k + p ("valid"). Weights: kernel (spatial..., filters, channels) and bias (filters,).
class Conv1DTranspose : public KernelLayer {
 public:
  Conv1DTranspose(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size,
                  const ConvTransposeOptions& options = {});
};
class Conv2DTranspose : public KernelLayer {
 public:
  Conv2DTranspose(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size,
                  const ConvTransposeOptions& options = {});
};
/// Without dilation.
class Conv3DTranspose : public KernelLayer {
 public:
  Conv3DTranspose(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size,
                  const ConvTransposeOptions& options = {});
};

struct DepthwiseConvOptions {
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";      ///< or "same"
  std::int64_t depth_multiplier = 1;  ///< filters for each channel
  std::string data_format = {};
  PerAxis<std::int64_t> dilation_rate = 1;
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  nn::Constraint depthwise_constraint = {}, bias_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Convolves each channel with depth_multiplier filters: output c * depth_multiplier + m is channel c with
/// filter m of that channel. Weights:
/// kernel (spatial..., channels, depth_multiplier) and bias (channels * depth_multiplier,).
class DepthwiseConv1D : public KernelLayer {
 public:
  explicit DepthwiseConv1D(const PerAxis<std::int64_t>& kernel_size,
                           const DepthwiseConvOptions& options = {});
};
class DepthwiseConv2D : public KernelLayer {
 public:
  explicit DepthwiseConv2D(const PerAxis<std::int64_t>& kernel_size,
                           const DepthwiseConvOptions& options = {});
};

struct SeparableConvOptions {
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";  ///< or "same"; for SeparableConv1D also "causal"
  std::string data_format = {};
  PerAxis<std::int64_t> dilation_rate = 1;
  std::int64_t depth_multiplier = 1;
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform", pointwise_initializer = "glorot_uniform",
              bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {}, pointwise_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  nn::Constraint depthwise_constraint = {}, pointwise_constraint = {}, bias_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// A depthwise convolution, then one of size 1 that mixes the channels. Weights: depthwise_kernel
/// (spatial..., channels, depth_multiplier), pointwise_kernel (1..., channels * depth_multiplier, filters)
/// and bias (filters,).
class SeparableConv1D : public Layer {
 public:
  SeparableConv1D(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size,
                  const SeparableConvOptions& options = {});
  Variable depthwise_kernel() const { return weight("depthwise_kernel"); }
  Variable pointwise_kernel() const { return weight("pointwise_kernel"); }
  Variable bias() const { return weight("bias"); }
};
class SeparableConv2D : public Layer {
 public:
  SeparableConv2D(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size,
                  const SeparableConvOptions& options = {});
  Variable depthwise_kernel() const { return weight("depthwise_kernel"); }
  Variable pointwise_kernel() const { return weight("pointwise_kernel"); }
  Variable bias() const { return weight("bias"); }
};

// Keras's longer names.
using Convolution1D = Conv1D;
using Convolution2D = Conv2D;
using Convolution3D = Conv3D;
using Convolution1DTranspose = Conv1DTranspose;
using Convolution2DTranspose = Conv2DTranspose;
using Convolution3DTranspose = Conv3DTranspose;
using SeparableConvolution1D = SeparableConv1D;
using SeparableConvolution2D = SeparableConv2D;

}  // namespace ktape::nn
