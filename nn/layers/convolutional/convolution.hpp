#pragma once
#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/weighted_layers.hpp>
#include <ktape/ops/arguments/per_axis.hpp>

/// Convolution layers over one, two or three spatial axes. Inputs are (batch, spatial..., channels) or, with
/// "channels_first", (batch, channels, spatial...). Each layer computes activation(convolution + bias). The
/// elements that a window reads, and the number of windows, are described in ops/nn/convolution.hpp. A single
/// number as size, stride or rate holds for each spatial axis.
///
///     nn::Conv2D(16, 3, {.strides = 2, .padding = "same", .activation = "relu"})
///
/// All layers throw ValueError, naming the layer, for sizes, strides and rates below 1, for lists of numbers
/// whose length is not the number of spatial axes, for strides above 1 together with rates above 1, and for
/// unknown names.
namespace ktape::nn {

using backend::PerAxis;

struct ConvOptions {
  ByName by_name = {};
  std::optional<std::int64_t> filters = {};  ///< required: the number of output channels
  PerAxis<std::int64_t> kernel_size = {};    ///< required: the extent of the window along each spatial axis
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";  ///< "valid" or "same"; for Conv1D also "causal"
  std::string data_format = {};   ///< K::image_data_format() by default
  PerAxis<std::int64_t> dilation_rate = 1;
  std::int64_t groups = 1;  ///< filters of group g read the channels of group g only
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, bias_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A convolution over one spatial axis, of sequences (batch, steps, channels). Weights: kernel (size,
/// channels / groups, filters) and bias (filters,). Throws ValueError when `groups` does not divide the
/// number of channels or filters.
///
///     nn::Conv1D layer(4, 3, {.padding = "causal"});
///     std::cout << layer(K::random_normal({2, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class Conv1D : public KernelLayer {
 public:
  explicit Conv1D(const ConvOptions& options);
  Conv1D(std::int64_t filters, const ConvOptions& options)
      : Conv1D(internal::with("Conv1D", "filters", options, &ConvOptions::filters, filters)) {}
  template <class = void>
  Conv1D(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size, const ConvOptions& options = {})
      : Conv1D(filters,
               internal::with("Conv1D", "kernel_size", options, &ConvOptions::kernel_size, kernel_size)) {}
};

/// A convolution over two spatial axes, of images (batch, height, width, channels). Weights: kernel
/// (height, width, channels / groups, filters) and bias (filters,). Throws ValueError when `groups` does
/// not divide the number of channels or filters.
///
///     nn::Conv2D layer(16, 3, {.strides = 2, .padding = "same", .activation = "relu"});
///     std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class Conv2D : public KernelLayer {
 public:
  explicit Conv2D(const ConvOptions& options);
  Conv2D(std::int64_t filters, const ConvOptions& options)
      : Conv2D(internal::with("Conv2D", "filters", options, &ConvOptions::filters, filters)) {}
  template <class = void>
  Conv2D(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size, const ConvOptions& options = {})
      : Conv2D(filters,
               internal::with("Conv2D", "kernel_size", options, &ConvOptions::kernel_size, kernel_size)) {}
};

/// A convolution over three spatial axes, of volumes (batch, depth, height, width, channels). Weights:
/// kernel (depth, height, width, channels / groups, filters) and bias (filters,). Throws ValueError when
/// `groups` does not divide the number of channels or filters.
///
///     nn::Conv3D layer(4, 2);
///     std::cout << layer(K::random_normal({1, 4, 4, 4, 1})).shape()
///               << " weights: " << layer.count_params();
class Conv3D : public KernelLayer {
 public:
  explicit Conv3D(const ConvOptions& options);
  Conv3D(std::int64_t filters, const ConvOptions& options)
      : Conv3D(internal::with("Conv3D", "filters", options, &ConvOptions::filters, filters)) {}
  template <class = void>
  Conv3D(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size, const ConvOptions& options = {})
      : Conv3D(filters,
               internal::with("Conv3D", "kernel_size", options, &ConvOptions::kernel_size, kernel_size)) {}
};

struct ConvTransposeOptions {
  ByName by_name = {};
  std::optional<std::int64_t> filters = {};  ///< required: the number of output channels
  PerAxis<std::int64_t> kernel_size = {};    ///< required: the extent of the window along each spatial axis
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";  ///< "valid" or "same"
  /// The output padding p, which must be below the strides. The formulas for the extents of the output are at
  /// Conv1DTranspose; without a value the formulas without p hold.
  PerAxis<std::int64_t> output_padding = {};
  std::string data_format = {};
  PerAxis<std::int64_t> dilation_rate = 1;
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, bias_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A transposed convolution over one spatial axis, which makes sequences longer: the gradient of the
/// convolution that maps the extents of the output to the extents of the input. With k = (kernel_size - 1)
/// * dilation_rate + 1, an axis of extent n becomes n * stride ("same") or n * stride + max(k - stride, 0)
/// ("valid"). With an output padding p the axis becomes (n - 1) * stride + k - 2 * (k / 2) + p ("same") or
/// (n - 1) * stride + k + p ("valid"). Weights: kernel (size, filters, channels) and bias (filters,).
///
///     nn::Conv1DTranspose layer(4, 3, {.strides = 2, .padding = "same"});
///     std::cout << layer(K::random_normal({2, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class Conv1DTranspose : public KernelLayer {
 public:
  explicit Conv1DTranspose(const ConvTransposeOptions& options);
  Conv1DTranspose(std::int64_t filters, const ConvTransposeOptions& options)
      : Conv1DTranspose(
            internal::with("Conv1DTranspose", "filters", options, &ConvTransposeOptions::filters, filters)) {}
  template <class = void>
  Conv1DTranspose(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size,
                  const ConvTransposeOptions& options = {})
      : Conv1DTranspose(filters, internal::with("Conv1DTranspose", "kernel_size", options,
                                                &ConvTransposeOptions::kernel_size, kernel_size)) {}
};

/// A transposed convolution over two spatial axes, which makes images larger; the formulas for the extents
/// are at Conv1DTranspose. Weights: kernel (height, width, filters, channels) and bias (filters,).
///
///     nn::Conv2DTranspose layer(4, 3, {.strides = 2, .padding = "same"});
///     std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class Conv2DTranspose : public KernelLayer {
 public:
  explicit Conv2DTranspose(const ConvTransposeOptions& options);
  Conv2DTranspose(std::int64_t filters, const ConvTransposeOptions& options)
      : Conv2DTranspose(
            internal::with("Conv2DTranspose", "filters", options, &ConvTransposeOptions::filters, filters)) {}
  template <class = void>
  Conv2DTranspose(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size,
                  const ConvTransposeOptions& options = {})
      : Conv2DTranspose(filters, internal::with("Conv2DTranspose", "kernel_size", options,
                                                &ConvTransposeOptions::kernel_size, kernel_size)) {}
};
/// A transposed convolution over three spatial axes. Throws ValueError for a dilation rate above 1.
///
///     nn::Conv3DTranspose layer(2, 2, {.strides = 2});
///     std::cout << layer(K::random_normal({1, 2, 2, 2, 3})).shape()
///               << " weights: " << layer.count_params();
class Conv3DTranspose : public KernelLayer {
 public:
  explicit Conv3DTranspose(const ConvTransposeOptions& options);
  Conv3DTranspose(std::int64_t filters, const ConvTransposeOptions& options)
      : Conv3DTranspose(
            internal::with("Conv3DTranspose", "filters", options, &ConvTransposeOptions::filters, filters)) {}
  template <class = void>
  Conv3DTranspose(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size,
                  const ConvTransposeOptions& options = {})
      : Conv3DTranspose(filters, internal::with("Conv3DTranspose", "kernel_size", options,
                                                &ConvTransposeOptions::kernel_size, kernel_size)) {}
};

struct DepthwiseConvOptions {
  ByName by_name = {};
  PerAxis<std::int64_t> kernel_size = {};  ///< required: the extent of the window along each spatial axis
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";      ///< "valid" or "same"
  std::int64_t depth_multiplier = 1;  ///< the number of filters for each channel
  std::string data_format = {};
  PerAxis<std::int64_t> dilation_rate = 1;
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  nn::Constraint depthwise_constraint = {}, bias_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A depthwise convolution over one spatial axis: each channel has separate filters. Output c *
/// depth_multiplier + m is channel c convolved with filter m of this channel. Weights: kernel (size,
/// channels, depth_multiplier) and bias (channels * depth_multiplier,).
///
///     nn::DepthwiseConv1D layer(3, {.depth_multiplier = 2});
///     std::cout << layer(K::random_normal({2, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class DepthwiseConv1D : public KernelLayer {
 public:
  explicit DepthwiseConv1D(const DepthwiseConvOptions& options);
  template <class = void>
  explicit DepthwiseConv1D(const PerAxis<std::int64_t>& kernel_size, const DepthwiseConvOptions& options = {})
      : DepthwiseConv1D(internal::with("DepthwiseConv1D", "kernel_size", options,
                                       &DepthwiseConvOptions::kernel_size, kernel_size)) {}
};

/// A depthwise convolution over two spatial axes: each channel of the images has separate filters, as in
/// DepthwiseConv1D. Weights: kernel (height, width, channels, depth_multiplier) and bias (channels *
/// depth_multiplier,).
///
///     nn::DepthwiseConv2D layer(3, {.depth_multiplier = 2});
///     std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class DepthwiseConv2D : public KernelLayer {
 public:
  explicit DepthwiseConv2D(const DepthwiseConvOptions& options);
  template <class = void>
  explicit DepthwiseConv2D(const PerAxis<std::int64_t>& kernel_size, const DepthwiseConvOptions& options = {})
      : DepthwiseConv2D(internal::with("DepthwiseConv2D", "kernel_size", options,
                                       &DepthwiseConvOptions::kernel_size, kernel_size)) {}
};

struct SeparableConvOptions {
  ByName by_name = {};
  std::optional<std::int64_t> filters = {};  ///< required: the number of output channels
  PerAxis<std::int64_t> kernel_size = {};    ///< required: the extent of the window along each spatial axis
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";  ///< "valid" or "same"; for SeparableConv1D also "causal"
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
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A separable convolution over one spatial axis: a depthwise convolution, then a convolution of size 1
/// that mixes the channels. Weights: depthwise_kernel (size, channels, depth_multiplier), pointwise_kernel
/// (1, channels * depth_multiplier, filters) and bias (filters,).
///
///     nn::SeparableConv1D layer(8, 3, {.padding = "same"});
///     std::cout << layer(K::random_normal({2, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class SeparableConv1D : public Layer {
 public:
  explicit SeparableConv1D(const SeparableConvOptions& options);
  SeparableConv1D(std::int64_t filters, const SeparableConvOptions& options)
      : SeparableConv1D(
            internal::with("SeparableConv1D", "filters", options, &SeparableConvOptions::filters, filters)) {}
  template <class = void>
  SeparableConv1D(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size,
                  const SeparableConvOptions& options = {})
      : SeparableConv1D(filters, internal::with("SeparableConv1D", "kernel_size", options,
                                                &SeparableConvOptions::kernel_size, kernel_size)) {}
  Variable depthwise_kernel() const { return weight("depthwise_kernel"); }
  Variable pointwise_kernel() const { return weight("pointwise_kernel"); }
  Variable bias() const { return weight("bias"); }
};

/// A separable convolution over two spatial axes: a depthwise convolution, then a convolution of size 1
/// that mixes the channels. Weights: depthwise_kernel (height, width, channels, depth_multiplier),
/// pointwise_kernel (1, 1, channels * depth_multiplier, filters) and bias (filters,).
///
///     nn::SeparableConv2D layer(8, 3, {.strides = 2, .depth_multiplier = 2});
///     std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class SeparableConv2D : public Layer {
 public:
  explicit SeparableConv2D(const SeparableConvOptions& options);
  SeparableConv2D(std::int64_t filters, const SeparableConvOptions& options)
      : SeparableConv2D(
            internal::with("SeparableConv2D", "filters", options, &SeparableConvOptions::filters, filters)) {}
  template <class = void>
  SeparableConv2D(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size,
                  const SeparableConvOptions& options = {})
      : SeparableConv2D(filters, internal::with("SeparableConv2D", "kernel_size", options,
                                                &SeparableConvOptions::kernel_size, kernel_size)) {}
  Variable depthwise_kernel() const { return weight("depthwise_kernel"); }
  Variable pointwise_kernel() const { return weight("pointwise_kernel"); }
  Variable bias() const { return weight("bias"); }
};

// Longer names of the layers in Keras.
using Convolution1D = Conv1D;
using Convolution2D = Conv2D;
using Convolution3D = Conv3D;
using Convolution1DTranspose = Conv1DTranspose;
using Convolution2DTranspose = Conv2DTranspose;
using Convolution3DTranspose = Conv3DTranspose;
using SeparableConvolution1D = SeparableConv1D;
using SeparableConvolution2D = SeparableConv2D;

}  // namespace ktape::nn
