#include <ktape/autograd/symbolic.hpp>
#include <ktape/ops/convolution.hpp>
#include <ktape/ops/convolution_arguments.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::backend {
namespace {

using kernels::Convolution;

Tensor convolution(const ConvolutionArguments& a, const Tensor& x, const Tensor& kernel) {
  expect_images(a.op, x, kernel, a.dims);
  const bool first = channels_first(a.op, a.data_format);
  const Shape input = channels_last(x.shape(), first), &window = kernel.shape();
  if (input.back() != window[a.dims])
    fail("[", a.op, "] the kernel must have x's channels as its axis ", a.dims, ": received x=", x.shape(),
         ", kernel=", window);
  const Convolution c = canonical(a, input, window);
  const Shape shape = result_shape(c, input, window.back());
  check_extents(a.op, shape, x.dtype().size());
  return channels_back(kernels::convolve(channels_last(x, first), kernel, c, shape), first);
}

/// The output shape with its batch, channels last.
Shape expected_output(const ConvolutionArguments& a, const Shape& output_shape, std::int64_t batch,
                      bool first) {
  if (output_shape.rank() != a.dims + 2)
    fail("[", a.op, "] output_shape must have ", a.dims + 2,
         " entries: received output_shape=", output_shape);
  Shape shape = channels_last(output_shape, first);
  if (shape[0] == None) shape[0] = batch;
  if (shape[0] != batch)
    fail("[", a.op, "] output_shape must have x's batch size, ", batch,
         ": received output_shape=", output_shape);
  return shape;
}

Tensor transposed_convolution(const ConvolutionArguments& a, const Tensor& x, const Tensor& kernel,
                              const Shape& output_shape) {
  expect_images(a.op, x, kernel, a.dims);
  const bool first = channels_first(a.op, a.data_format);
  const Shape input = channels_last(x.shape(), first),
              shape = expected_output(a, output_shape, input[0], first), &window = kernel.shape();
  if (input.back() != window.back())
    fail("[", a.op, "] the kernel must have x's channels as its last axis: received x=", x.shape(),
         ", kernel=", window);
  if (shape.back() != window[a.dims])
    fail("[", a.op, "] output_shape must have the channels of the kernel's axis ", a.dims,
         ": received output_shape=", output_shape, ", kernel=", window);
  check_extents(a.op, shape, x.dtype().size());
  const Convolution c = canonical(a, shape, window);
  if (result_shape(c, shape, window.back()) != input)
    fail("[", a.op,
         "] output_shape must be one that the convolution maps to x's: received output_shape=", output_shape,
         ", x=", x.shape(), ", kernel=", window, ", strides=", a.strides, ", padding=\"", a.padding, '"');
  return channels_back(kernels::convolve_transposed(channels_last(x, first), kernel, c, shape), first);
}

/// x has its channels last.
Tensor depthwise(const ConvolutionArguments& a, const Tensor& x, const Tensor& kernel) {
  const Shape& window = kernel.shape();
  if (x.shape().back() != window[a.dims])
    fail("[", a.op, "] the depthwise kernel must have x's channels as its axis ", a.dims,
         ": received x with ", x.shape().back(), " channels, kernel=", window);
  const std::int64_t channels = window[a.dims], multiplier = window[a.dims + 1];
  Shape merged = window;
  merged[a.dims] = 1, merged[a.dims + 1] = channels * multiplier;
  Convolution c = canonical(a, x.shape(), window);
  const Shape shape = result_shape(c, x.shape(), merged.back());
  check_extents(a.op, shape, x.dtype().size());
  // One filter for each channel is what kernels are good at.
  const Tensor repeated = channels > 1 && multiplier > 1 ? repeat_elements(x, multiplier, -1) : x;
  c.groups = repeated.shape().back();
  return kernels::convolve(repeated, reshape(kernel, merged), c, shape);
}

Tensor separable(const ConvolutionArguments& a, const Tensor& x, const Tensor& depthwise_kernel,
                 const Tensor& pointwise_kernel) {
  expect_images(a.op, x, depthwise_kernel, a.dims);
  expect_images(a.op, x, pointwise_kernel, a.dims);
  const bool first = channels_first(a.op, a.data_format);
  const Shape &deep = depthwise_kernel.shape(), &point = pointwise_kernel.shape();
  if (point.count(0, a.dims) != 1 || point[a.dims] != deep[a.dims] * deep[a.dims + 1])
    fail("[", a.op,
         "] the pointwise kernel must be 1 wide, with the depthwise one's channels times multiplier as its "
         "axis ",
         a.dims, ": received pointwise_kernel=", point, ", depthwise_kernel=", deep);
  const Tensor mixed = depthwise(a, channels_last(x, first), depthwise_kernel);
  ConvolutionArguments pointwise{a.op, a.dims, {}, {}, "valid", "channels_last"};
  for (int d = 0; d < a.dims; ++d) pointwise.strides.push_back(1), pointwise.dilation_rate.push_back(1);
  return channels_back(convolution(pointwise, mixed, pointwise_kernel), first);
}

ConvolutionArguments arguments(const char* op, const Conv1dOptions& o) {
  return {op, 1, {o.strides}, {o.dilation_rate}, o.padding, o.data_format};
}
ConvolutionArguments arguments(const char* op, const Conv2dOptions& o) {
  return {op, 2, o.strides, o.dilation_rate, o.padding, o.data_format};
}
ConvolutionArguments arguments(const char* op, const Conv3dOptions& o) {
  return {op, 3, o.strides, o.dilation_rate, o.padding, o.data_format};
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& kernel, const Conv1dOptions& options) {
  if (is_symbolic(x, kernel)) return defer("conv1d", conv1d, x, kernel, options);
  return convolution(arguments("conv1d", options), x, kernel);
}

Tensor conv2d(const Tensor& x, const Tensor& kernel, const Conv2dOptions& options) {
  if (is_symbolic(x, kernel)) return defer("conv2d", conv2d, x, kernel, options);
  return convolution(arguments("conv2d", options), x, kernel);
}

Tensor conv3d(const Tensor& x, const Tensor& kernel, const Conv3dOptions& options) {
  if (is_symbolic(x, kernel)) return defer("conv3d", conv3d, x, kernel, options);
  return convolution(arguments("conv3d", options), x, kernel);
}

Tensor conv2d_transpose(const Tensor& x, const Tensor& kernel, const Shape& output_shape,
                        const Conv2dOptions& options) {
  if (is_symbolic(x, kernel))
    return defer("conv2d_transpose", conv2d_transpose, x, kernel, output_shape, options);
  ConvolutionArguments a = arguments("conv2d_transpose", options);
  expect_positive(a.op, "strides", a.strides, 2);
  expect_positive(a.op, "dilation_rate", a.dilation_rate, 2);
  if (a.dilation_rate[0] != a.dilation_rate[1])
    fail("[conv2d_transpose] dilation_rate must be the same in both directions: received dilation_rate=",
         a.dilation_rate);
  if (a.dilation_rate[0] > 1) a.strides = {1, 1};
  return transposed_convolution(a, x, kernel, output_shape);
}

Tensor conv3d_transpose(const Tensor& x, const Tensor& kernel, const Shape& output_shape,
                        const Conv3dTransposeOptions& options) {
  if (is_symbolic(x, kernel))
    return defer("conv3d_transpose", conv3d_transpose, x, kernel, output_shape, options);
  return transposed_convolution(
      {"conv3d_transpose", 3, options.strides, {1, 1, 1}, options.padding, options.data_format}, x, kernel,
      output_shape);
}

Tensor depthwise_conv2d(const Tensor& x, const Tensor& depthwise_kernel, const Conv2dOptions& options) {
  if (is_symbolic(x, depthwise_kernel))
    return defer("depthwise_conv2d", depthwise_conv2d, x, depthwise_kernel, options);
  const ConvolutionArguments a = arguments("depthwise_conv2d", options);
  expect_images(a.op, x, depthwise_kernel, 2);
  const bool first = channels_first(a.op, a.data_format);
  return channels_back(depthwise(a, channels_last(x, first), depthwise_kernel), first);
}

Tensor separable_conv1d(const Tensor& x, const Tensor& depthwise_kernel, const Tensor& pointwise_kernel,
                        const Conv1dOptions& options) {
  if (is_symbolic(x, depthwise_kernel, pointwise_kernel))
    return defer("separable_conv1d", separable_conv1d, x, depthwise_kernel, pointwise_kernel, options);
  return separable(arguments("separable_conv1d", options), x, depthwise_kernel, pointwise_kernel);
}

Tensor separable_conv2d(const Tensor& x, const Tensor& depthwise_kernel, const Tensor& pointwise_kernel,
                        const Conv2dOptions& options) {
  if (is_symbolic(x, depthwise_kernel, pointwise_kernel))
    return defer("separable_conv2d", separable_conv2d, x, depthwise_kernel, pointwise_kernel, options);
  return separable(arguments("separable_conv2d", options), x, depthwise_kernel, pointwise_kernel);
}

}  // namespace ktape::backend
