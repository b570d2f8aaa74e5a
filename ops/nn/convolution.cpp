#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/nn/convolution.hpp>
#include <ktape/ops/nn/convolution_arguments.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <functional>

namespace ktape::backend {

template <class F>
void fields(ConvolutionArguments& options, F&& field) {
  field("strides", options.strides);
  field("dilation_rate", options.dilation_rate);
  field("padding", options.padding);
  field("data_format", options.data_format);
}
namespace {

using op_helpers::Convolution;

/// Returns shape and dtype of a convolution's result, from the shape with channels last. Throws ValueError
/// when the result does not fit in memory.
OutputInfo result_of(const ConvolutionArguments& a, const Shape& shape, const Tensor& x) {
  check_extents(a.op, shape, x.dtype().size(), true);
  return {channels_back(shape, channels_first(a.op, a.data_format)), x.dtype()};
}

Tensor convolution(const ConvolutionArguments& a, const Tensor& x, const Tensor& kernel) {
  expect_images(a.op, x, kernel, a.dims);
  const bool first = channels_first(a.op, a.data_format);
  const Shape input = channels_last(x.shape(), first), &window = kernel.shape();
  if (!compatible(input.back(), window[a.dims]))
    fail("[", a.op, "] the kernel must have x's channels as its axis ", a.dims, ": received x=", x.shape(),
         ", kernel=", window);
  const Convolution c = canonical(a, input, window);
  const Shape shape = result_shape(c, input, window.back());
  const OutputInfo result = result_of(a, shape, x);
  if (is_symbolic(x, kernel)) return defer_described(a.op, result, convolution, a, x, kernel);
  return channels_back(op_helpers::convolve(channels_last(x, first), kernel, c, shape), first);
}

/// Returns the output shape with its batch, channels last.
Shape expected_output(const ConvolutionArguments& a, const ShapeLike& output_shape, std::int64_t batch,
                      bool first) {
  const Shape& given = output_shape.known();
  if (given.rank() != a.dims + 2)
    fail("[", a.op, "] output_shape must have ", a.dims + 2, " entries: received output_shape=", given);
  Shape shape = channels_last(given, first);
  shape[0] = merged(shape[0], batch);
  if (!compatible(shape[0], batch))
    fail("[", a.op, "] output_shape must have x's batch size, ", batch, ": received output_shape=", given);
  if (!output_shape.waits() && std::count(shape.begin() + 1, shape.end(), std::int64_t{None}) > 0)
    fail("[", a.op, "] output_shape may be None for the batch only: received output_shape=", given);
  return shape;
}

Tensor transposed_convolution(const ConvolutionArguments& a, const Tensor& x, const Tensor& kernel,
                              const ShapeLike& output_shape) {
  expect_images(a.op, x, kernel, a.dims);
  const bool first = channels_first(a.op, a.data_format);
  const Shape &given = output_shape.known(), &window = kernel.shape();
  const Shape input = channels_last(x.shape(), first);
  Shape shape = expected_output(a, output_shape, input[0], first);
  if (!compatible(input.back(), window.back()))
    fail("[", a.op, "] the kernel must have x's channels as its last axis: received x=", x.shape(),
         ", kernel=", window);
  if (!compatible(shape.back(), window[a.dims]))
    fail("[", a.op, "] output_shape must have the channels of the kernel's axis ", a.dims,
         ": received output_shape=", given, ", kernel=", window);
  shape[-1] = merged(shape.back(), window[a.dims]);
  const OutputInfo result = result_of(a, shape, x);
  const Convolution c = canonical(a, shape, window);
  if (!compatible(result_shape(c, shape, window.back()), input))
    fail("[", a.op,
         "] output_shape must be one that the convolution maps to x's: received output_shape=", given,
         ", x=", x.shape(), ", kernel=", window, ", strides=", a.strides, ", padding=\"", a.padding, '"');
  if (is_symbolic(x, kernel) || output_shape.waits())
    return defer_described(a.op, result, transposed_convolution, a, x, kernel, output_shape);
  return channels_back(op_helpers::convolve_transposed(channels_last(x, first), kernel, c, shape), first);
}

Tensor depthwise(const ConvolutionArguments& a, const Tensor& x, const Tensor& kernel) {
  expect_images(a.op, x, kernel, a.dims);
  const bool first = channels_first(a.op, a.data_format);
  const Shape input = channels_last(x.shape(), first), &window = kernel.shape();
  if (!compatible(input.back(), window[a.dims]))
    fail("[", a.op, "] the depthwise kernel must have x's channels as its axis ", a.dims,
         ": received x with ", input.back(), " channels, kernel=", window);
  const std::int64_t channels = merged(window[a.dims], input.back()), multiplier = window[a.dims + 1];
  Shape filters = window;
  filters[a.dims] = 1, filters[a.dims + 1] = where_known(std::multiplies<>(), channels, multiplier);
  Convolution c = canonical(a, input, window);
  const Shape shape = result_shape(c, input, filters.back());
  const OutputInfo result = result_of(a, shape, x);
  if (is_symbolic(x, kernel)) return defer_described(a.op, result, depthwise, a, x, kernel);
  // The kernels are fast for one filter per channel: with several filters, each channel is repeated.
  const Tensor last = channels_last(x, first);
  const Tensor repeated = channels > 1 && multiplier > 1 ? repeat_elements(last, multiplier, -1) : last;
  c.groups = repeated.shape().back();
  return channels_back(op_helpers::convolve(repeated, reshape(kernel, filters), c, shape), first);
}

/// Returns a symbolic tensor for a variable, so that a deferred op reads the value of the variable when the
/// graph runs.
Tensor read_later(const Tensor& x) {
  if (!variable_of(x).defined()) return x;
  return defer(
      "variable", {x.shape(), x.dtype()}, [](const Tensor& x) { return x; }, x);
}

Tensor separable(const ConvolutionArguments& a, const Tensor& x, const Tensor& depthwise_kernel,
                 const Tensor& pointwise_kernel) {
  expect_images(a.op, x, depthwise_kernel, a.dims);
  expect_images(a.op, x, pointwise_kernel, a.dims);
  const bool first = channels_first(a.op, a.data_format);
  const Shape &deep = depthwise_kernel.shape(), &point = pointwise_kernel.shape();
  if (!compatible(point.count(0, a.dims), 1) ||
      !compatible(point[a.dims], where_known(std::multiplies<>(), deep[a.dims], deep[a.dims + 1])))
    fail("[", a.op,
         "] the pointwise kernel must be 1 wide, with the depthwise one's channels times multiplier as its "
         "axis ",
         a.dims, ": received pointwise_kernel=", point, ", depthwise_kernel=", deep);
  const bool waits = is_symbolic(x, depthwise_kernel, pointwise_kernel);
  const auto operand = [=](const Tensor& t) { return waits ? read_later(t) : t; };
  ConvolutionArguments deeply = a, pointwise{a.op, a.dims, {}, {}, "valid", "channels_last"};
  deeply.data_format = "channels_last";
  const Tensor mixed = depthwise(deeply, channels_last(operand(x), first), operand(depthwise_kernel));
  for (int d = 0; d < a.dims; ++d) pointwise.strides.push_back(1), pointwise.dilation_rate.push_back(1);
  return channels_back(convolution(pointwise, mixed, pointwise_kernel), first);
}

ConvolutionArguments arguments(const char* op, int dims, const ConvOptions& o) {
  return {op,
          dims,
          o.strides.over(dims),
          o.dilation_rate.over(dims),
          o.padding,
          o.data_format.value_or(image_data_format())};
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& kernel, const ConvOptions& options) {
  expect_defined("conv1d", "x, kernel", x, kernel);
  return convolution(arguments("conv1d", 1, options), x, kernel);
}

Tensor conv2d(const Tensor& x, const Tensor& kernel, const ConvOptions& options) {
  expect_defined("conv2d", "x, kernel", x, kernel);
  return convolution(arguments("conv2d", 2, options), x, kernel);
}

Tensor conv3d(const Tensor& x, const Tensor& kernel, const ConvOptions& options) {
  expect_defined("conv3d", "x, kernel", x, kernel);
  return convolution(arguments("conv3d", 3, options), x, kernel);
}

Tensor conv2d_transpose(const Tensor& x, const Tensor& kernel, const ShapeLike& output_shape,
                        const ConvOptions& options) {
  expect_defined("conv2d_transpose", "x, kernel", x, kernel);
  ConvolutionArguments a = arguments("conv2d_transpose", 2, options);
  expect_positive(a.op, "strides", a.strides, 2);
  expect_positive(a.op, "dilation_rate", a.dilation_rate, 2);
  if (a.dilation_rate[0] != a.dilation_rate[1])
    fail("[conv2d_transpose] dilation_rate must be the same in both directions: received dilation_rate=",
         a.dilation_rate);
  if (a.dilation_rate[0] > 1) a.strides = {1, 1};
  return transposed_convolution(a, x, kernel, output_shape);
}

Tensor conv3d_transpose(const Tensor& x, const Tensor& kernel, const ShapeLike& output_shape,
                        const Conv3dTransposeOptions& options) {
  expect_defined("conv3d_transpose", "x, kernel", x, kernel);
  const std::string format = options.data_format.value_or(image_data_format());
  return transposed_convolution(
      {"conv3d_transpose", 3, options.strides.over(3), {1, 1, 1}, options.padding, format}, x, kernel,
      output_shape);
}

Tensor depthwise_conv2d(const Tensor& x, const Tensor& depthwise_kernel, const ConvOptions& options) {
  expect_defined("depthwise_conv2d", "x, depthwise_kernel", x, depthwise_kernel);
  return depthwise(arguments("depthwise_conv2d", 2, options), x, depthwise_kernel);
}

Tensor separable_conv1d(const Tensor& x, const Tensor& depthwise_kernel, const Tensor& pointwise_kernel,
                        const ConvOptions& options) {
  expect_defined("separable_conv1d", "x, depthwise_kernel, pointwise_kernel", x, depthwise_kernel,
                 pointwise_kernel);
  return separable(arguments("separable_conv1d", 1, options), x, depthwise_kernel, pointwise_kernel);
}

Tensor separable_conv2d(const Tensor& x, const Tensor& depthwise_kernel, const Tensor& pointwise_kernel,
                        const ConvOptions& options) {
  expect_defined("separable_conv2d", "x, depthwise_kernel, pointwise_kernel", x, depthwise_kernel,
                 pointwise_kernel);
  return separable(arguments("separable_conv2d", 2, options), x, depthwise_kernel, pointwise_kernel);
}

}  // namespace ktape::backend

namespace ktape::nn {
namespace {

Tensor conv_transpose(const OperationCall& call) {
  const Tensor x = call.tensor("x"), kernel = call.tensor("kernel");
  const auto extents = [&](const char* name) {
    return call.value(name).as<backend::PerAxis<std::int64_t>>(call.what(name));
  };
  const std::string padding = call.text("padding"), format = call.text("data_format");
  const Shape shape = call.shape("output_shape");
  if (x.ndim() == 4)
    return backend::conv2d_transpose(x, kernel, shape,
                                     {.strides = extents("strides"),
                                      .padding = padding,
                                      .data_format = format,
                                      .dilation_rate = extents("dilation_rate")});
  return backend::conv3d_transpose(
      x, kernel, shape, {.strides = extents("strides"), .padding = padding, .data_format = format});
}

}  // namespace

Operations convolution_operations() {
  static constexpr Operation rows[] = {
      {"conv_transpose", "", "x, kernel; output_shape, strides, padding, data_format, dilation_rate",
       conv_transpose, "conv2d_transpose conv3d_transpose"},
  };
  return rows;
}

}  // namespace ktape::nn
