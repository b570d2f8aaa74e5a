#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/per_axis.hpp>
#include <ktape/ops/shape_like.hpp>

#include <optional>
#include <string>

/// Convolutions of floating tensors of one dtype (TypeError otherwise), differentiable to any order; float16
/// is computed in float32. x is (samples, spatial..., channels), or with "channels_first" (samples, channels,
/// spatial...), and so is the result; kernels are (spatial..., channels, filters) in either case. Position o
/// of the result is the sum over the kernel's places k of x[o * strides + k * dilation_rate - front] *
/// kernel[k].
///
/// padding "valid" uses only whole windows: ceil((n - reach) / strides) positions, reach = (k - 1) *
/// dilation_rate. "same" has ceil(n / strides) positions and, where needed, zeros around x, the smaller half
/// of them in front. data_format is image_data_format() when it is not given.
///
/// All throw ValueError for ranks and channels that do not fit, kernels larger than a valid input, strides
/// and rates below 1, and unknown names; nothing is computed then.
namespace ktape::backend {

struct ConvOptions {
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";  ///< or "same"; for conv1d also "causal": zeros in front only, so that no
                                  ///< position sees later ones
  std::optional<std::string> data_format = {};
  PerAxis<std::int64_t> dilation_rate = 1;
};
using Conv1dOptions = ConvOptions;
using Conv2dOptions = ConvOptions;
using Conv3dOptions = ConvOptions;

/// `conv2d(x, kernel, {.strides = 2, .padding = "same"})`; one, two or three spatial axes. `K.conv1d`,
/// `K.conv2d`, `K.conv3d`.
Tensor conv1d(const Tensor& x, const Tensor& kernel, const ConvOptions& options = {});
Tensor conv2d(const Tensor& x, const Tensor& kernel, const ConvOptions& options = {});
Tensor conv3d(const Tensor& x, const Tensor& kernel, const ConvOptions& options = {});

/// The gradient of the convolution that maps a tensor of the output shape to one of x's; the kernel is
/// (spatial..., filters, channels), seen from x. The output shape follows the data format; its batch may be
/// None, for x's. As in TF, the rates must be equal and with rates above 1 the strides are taken as 1. Also
/// throws ValueError for an output shape that the convolution does not map back to x's. `K.conv2d_transpose`.
Tensor conv2d_transpose(const Tensor& x, const Tensor& kernel, const ShapeLike& output_shape,
                        const ConvOptions& options = {});

struct Conv3dTransposeOptions {
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";
  std::optional<std::string> data_format = {};
};

/// The same with three spatial axes and no dilation. `K.conv3d_transpose`.
Tensor conv3d_transpose(const Tensor& x, const Tensor& kernel, const ShapeLike& output_shape,
                        const Conv3dTransposeOptions& options = {});

/// Each channel convolved with `multiplier` filters of its own: the kernel is (height, width, channels,
/// multiplier), and channel c * multiplier + m of the result is channel c with filter m.
/// `K.depthwise_conv2d`.
Tensor depthwise_conv2d(const Tensor& x, const Tensor& depthwise_kernel, const ConvOptions& options = {});

/// A depthwise convolution, then one with the pointwise kernel (1..., channels * multiplier, filters), which
/// mixes the channels. `K.separable_conv1d` (padding "causal" is not for it), `K.separable_conv2d`.
Tensor separable_conv1d(const Tensor& x, const Tensor& depthwise_kernel, const Tensor& pointwise_kernel,
                        const ConvOptions& options = {});
Tensor separable_conv2d(const Tensor& x, const Tensor& depthwise_kernel, const Tensor& pointwise_kernel,
                        const ConvOptions& options = {});

struct LocalConvOptions {
  std::optional<std::string> data_format = {};
};

/// A convolution with another kernel at each position of the result, without padding: the kernel is
/// (positions, elements of a patch, filters); a patch is flattened as (spatial..., channels), or with
/// "channels_first" as (channels, spatial...). There are kernel.shape[0] positions, the product of
/// `output_shape`. Throws ValueError when their windows leave the input. `K.local_conv1d`, `K.local_conv2d`.
Tensor local_conv1d(const Tensor& inputs, const Tensor& kernel, const PerAxis<std::int64_t>& kernel_size,
                    const PerAxis<std::int64_t>& strides, const LocalConvOptions& options = {});
Tensor local_conv2d(const Tensor& inputs, const Tensor& kernel, const PerAxis<std::int64_t>& kernel_size,
                    const PerAxis<std::int64_t>& strides, const Shape& output_shape,
                    const LocalConvOptions& options = {});

}  // namespace ktape::backend
