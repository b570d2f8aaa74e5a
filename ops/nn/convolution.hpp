#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/arguments/per_axis.hpp>
#include <ktape/ops/shape_like.hpp>

#include <optional>
#include <string>

/// Convolutions of floating tensors of one dtype (TypeError otherwise), differentiable to any order; float16
/// and bfloat16 are summed in float32. x and the result are (samples, spatial..., channels), or (samples, channels,
/// spatial...) with "channels_first"; kernels are (spatial..., channels, filters) in either case. Position o
/// of the result is the sum of x[o * strides + k * dilation_rate - front] * kernel[k] over the positions k of
/// the kernel, where `front` is the number of zeros before x.
///
/// - padding "valid" uses only windows inside x: ceil((n - reach) / strides) positions, reach = (k - 1) *
///   dilation_rate.
/// - padding "same" gives ceil(n / strides) positions and, where needed, puts zeros around x. The zeros
///   before x are the smaller half.
/// - data_format is image_data_format() when it is not given.
///
/// All convolutions throw ValueError for ranks and channels that do not fit, kernels larger than a valid
/// input, strides and rates below 1, and unknown names; nothing is computed then.
namespace ktape::backend {

struct ConvOptions {
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";  ///< "valid", "same" or, for conv1d, "causal": zeros only before x, so that
                                  ///< no position of the result depends on later positions of x
  std::optional<std::string> data_format = {};
  PerAxis<std::int64_t> dilation_rate = 1;
};
using Conv1dOptions = ConvOptions;
using Conv2dOptions = ConvOptions;
using Conv3dOptions = ConvOptions;

/// Computes a convolution with one, two or three spatial axes:
/// `conv2d(x, kernel, {.strides = 2, .padding = "same"})`. `K.conv1d`, `K.conv2d`, `K.conv3d`.
///
///     std::cout << K::conv1d(K::ones({1, 8, 3}), K::ones({3, 3, 4}),
///                            {.padding = "causal"})
///                      .shape()
///               << "\n";
///     std::cout << K::conv2d(K::ones({1, 8, 8, 3}), K::ones({3, 3, 3, 4}),
///                            {.strides = 2, .padding = "same"})
///                      .shape()
///               << "\n";
///     std::cout
///         << K::conv3d(K::ones({1, 4, 4, 4, 1}), K::ones({2, 2, 2, 1, 5})).shape();
Tensor conv1d(const Tensor& x, const Tensor& kernel, const ConvOptions& options = {});
Tensor conv2d(const Tensor& x, const Tensor& kernel, const ConvOptions& options = {});
Tensor conv3d(const Tensor& x, const Tensor& kernel, const ConvOptions& options = {});

/// Computes the gradient of the convolution that maps a tensor of the output shape to a tensor of the shape
/// of x. The kernel is (spatial..., filters, channels), where channels is the number of channels of x. The
/// output shape follows the data format; a batch extent of None stands for the batch extent of x. As in TF,
/// the rates must be equal, and with rates above 1 the strides are taken as 1. Throws ValueError also for an
/// output shape that the convolution does not map to the shape of x. `K.conv2d_transpose`.
///
///     std::cout << K::conv2d_transpose(K::ones({1, 4, 4, 3}), K::ones({3, 3, 2, 3}),
///                                      {1, 8, 8, 2}, {.strides = 2, .padding = "same"})
///                      .shape();
Tensor conv2d_transpose(const Tensor& x, const Tensor& kernel, const ShapeLike& output_shape,
                        const ConvOptions& options = {});

struct Conv3dTransposeOptions {
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";
  std::optional<std::string> data_format = {};
};

/// Computes the transposed convolution with three spatial axes; see `conv2d_transpose`. There is no dilation.
/// `K.conv3d_transpose`.
///
///     std::cout << K::conv3d_transpose(K::ones({1, 2, 2, 2, 3}),
///                                      K::ones({2, 2, 2, 1, 3}), {1, 4, 4, 4, 1},
///                                      {.strides = 2})
///                      .shape();
Tensor conv3d_transpose(const Tensor& x, const Tensor& kernel, const ShapeLike& output_shape,
                        const Conv3dTransposeOptions& options = {});

/// Convolves each channel with `multiplier` separate filters: the kernel is (height, width, channels,
/// multiplier), and channel c * multiplier + m of the result is channel c of x convolved with filter m.
/// `K.depthwise_conv2d`.
///
///     std::cout
///         << K::depthwise_conv2d(K::ones({1, 5, 5, 3}), K::ones({3, 3, 3, 2})).shape();
Tensor depthwise_conv2d(const Tensor& x, const Tensor& depthwise_kernel, const ConvOptions& options = {});

/// Computes a depthwise convolution and then a convolution with the pointwise kernel (1..., channels *
/// multiplier, filters), which mixes the channels. `K.separable_conv1d` (padding "causal" is not accepted),
/// `K.separable_conv2d`.
///
///     std::cout << K::separable_conv1d(K::ones({1, 5, 3}), K::ones({3, 3, 1}),
///                                      K::ones({1, 3, 8}))
///                      .shape()
///               << " ";
///     std::cout << K::separable_conv2d(K::ones({1, 5, 5, 3}), K::ones({3, 3, 3, 1}),
///                                      K::ones({1, 1, 3, 8}))
///                      .shape();
Tensor separable_conv1d(const Tensor& x, const Tensor& depthwise_kernel, const Tensor& pointwise_kernel,
                        const ConvOptions& options = {});
Tensor separable_conv2d(const Tensor& x, const Tensor& depthwise_kernel, const Tensor& pointwise_kernel,
                        const ConvOptions& options = {});

/// Options of `local_conv1d` and `local_conv2d`.
///
///     std::cout << K::local_conv1d(K::ones({1, 4, 2}), K::ones({3, 4, 5}), 2, 1,
///                                  {.data_format = "channels_last"})
///                      .shape();
struct LocalConvOptions {
  std::optional<std::string> data_format = {};
};

/// Computes a convolution with a separate kernel at each position of the result, without padding. The kernel
/// is (positions, elements of a patch, filters); a patch is flattened as (spatial..., channels), or as
/// (channels, spatial...) with "channels_first". There are kernel.shape[0] positions, the product of
/// `output_shape`. Throws ValueError when the windows of the positions leave the input. `K.local_conv1d`,
/// `K.local_conv2d`.
///
///     std::cout
///         << K::local_conv1d(K::ones({1, 4, 2}), K::ones({3, 4, 5}), 2, 1).shape() << "\n";
///     std::cout << K::local_conv2d(K::ones({1, 3, 3, 1}), K::ones({4, 4, 2}), 2, 1,
///                                  {2, 2})
///                      .shape();
Tensor local_conv1d(const Tensor& inputs, const Tensor& kernel, const PerAxis<std::int64_t>& kernel_size,
                    const PerAxis<std::int64_t>& strides, const LocalConvOptions& options = {});
Tensor local_conv2d(const Tensor& inputs, const Tensor& kernel, const PerAxis<std::int64_t>& kernel_size,
                    const PerAxis<std::int64_t>& strides, const Shape& output_shape,
                    const LocalConvOptions& options = {});

}  // namespace ktape::backend
