#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/internal/slicing.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/convolution.hpp>
#include <ktape/ops/nn/convolution_arguments.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

#include <functional>

namespace ktape::backend {
namespace {

struct LocalConvolution {
  const char* op;
  int dims;
  Shape window, strides, output;
  bool first;  // whether the channels come first
};

/// Throws ValueError for arguments that do not fit; `input` has its channels last.
void check(const LocalConvolution& c, const Shape& input, const Shape& kernel) {
  expect_positive(c.op, "kernel_size", c.window, c.dims);
  expect_positive(c.op, "strides", c.strides, c.dims);
  expect_positive(c.op, "output_shape", with_unknown(c.output, 1), c.dims);
  for (int d = 0; d < c.dims; ++d) {
    if (input[d + 1] == None) continue;
    const std::int64_t room = input[d + 1] - c.window[d];
    if (room < 0 || (c.output[d] - 1) > room / c.strides[d])
      fail("[", c.op, "] the windows must lie in the input: received input=", input,
           " (channels last), kernel_size=", c.window, ", strides=", c.strides, ", output_shape=", c.output);
  }
  const Shape wanted{c.output.count(), where_known(std::multiplies<>(), c.window.count(), input.back()),
                     None};
  if (!compatible(kernel, wanted))
    fail("[", c.op, "] the kernel must be (", wanted[0], ", ", wanted[1],
         ", filters), positions and elements of a patch: received kernel=", kernel);
}

/// Returns, for each place in the window, the elements of x that all positions read there: (places, samples,
/// output..., channels).
Tensor places(const LocalConvolution& c, const Tensor& x) {
  op_helpers::Window part{{0}, {1}, {x.shape()[0]}};
  for (int d = 0; d < c.dims; ++d)
    part.start.push_back(0), part.step.push_back(c.strides[d]), part.size.push_back(c.output[d]);
  part.start.push_back(0), part.step.push_back(1), part.size.push_back(x.shape().back());
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < c.window.count(); ++i) {
    for (std::int64_t d = c.dims - 1, rest = i; d >= 0; rest /= c.window[d--])
      part.start[d + 1] = rest % c.window[d];
    parts.push_back(op_helpers::take(c.op, x, part));
  }
  return stack(parts);
}

Shape result_shape(const Shape& output, std::int64_t samples, std::int64_t filters, bool first) {
  Shape shape{samples};
  for (const std::int64_t n : output) shape.push_back(n);
  shape.insert(first ? 1 : shape.rank(), filters);
  return shape;
}

Tensor local_convolution(LocalConvolution c, const Tensor& inputs, const Tensor& kernel) {
  if (!inputs.dtype().is_floating() || inputs.dtype() != kernel.dtype())
    fail<TypeError>("[", c.op,
                    "] inputs and kernel must have one floating dtype: received inputs=", inputs.dtype(),
                    ", kernel=", kernel.dtype());
  if (inputs.ndim() != c.dims + 2)
    fail("[", c.op, "] inputs must have rank ", c.dims + 2, ": received inputs=", inputs.shape());
  if (kernel.ndim() != 3) fail("[", c.op, "] the kernel must have rank 3: received kernel=", kernel.shape());
  if (c.dims == 1) c.output = {kernel.shape()[0]};
  check(c, channels_last(inputs.shape(), c.first), kernel.shape());
  if (is_symbolic(inputs, kernel)) {
    const OutputInfo result{result_shape(c.output, inputs.shape()[0], kernel.shape()[2], c.first),
                            inputs.dtype()};
    return defer_as({describe(inputs), describe(kernel), describe(c.window), describe(c.strides),
                     describe(c.output), describe(std::string(c.first ? "channels_first" : "channels_last"))},
                    c.op, std::vector{result}, local_convolution, c, inputs, kernel)[0];
  }
  const Tensor x = channels_last(inputs, c.first);
  const std::int64_t samples = x.shape()[0], channels = x.shape().back(), positions = kernel.shape()[0];
  const Tensor parts = reshape(places(c, x), {c.window.count(), samples, positions, channels});
  const Shape order = c.first ? Shape{2, 1, 3, 0} : Shape{2, 1, 0, 3};
  const Tensor patches = reshape(permute_dimensions(parts, order), {positions, samples, kernel.shape()[1]});
  const Shape shape = result_shape(c.output, samples, kernel.shape()[2], false);
  return channels_back(reshape(permute_dimensions(matmul(patches, kernel), {1, 0, 2}), shape), c.first);
}

}  // namespace

Tensor local_conv1d(const Tensor& inputs, const Tensor& kernel, const PerAxis<std::int64_t>& kernel_size,
                    const PerAxis<std::int64_t>& strides, const LocalConvOptions& options) {
  expect_defined("local_conv1d", "inputs, kernel", inputs, kernel);
  constexpr const char* op = "local_conv1d";
  return local_convolution(
      {op, 1, kernel_size.over(1), strides.over(1), {}, channels_first(op, options.data_format)}, inputs,
      kernel);
}

Tensor local_conv2d(const Tensor& inputs, const Tensor& kernel, const PerAxis<std::int64_t>& kernel_size,
                    const PerAxis<std::int64_t>& strides, const Shape& output_shape,
                    const LocalConvOptions& options) {
  expect_defined("local_conv2d", "inputs, kernel", inputs, kernel);
  constexpr const char* op = "local_conv2d";
  return local_convolution(
      {op, 2, kernel_size.over(2), strides.over(2), output_shape, channels_first(op, options.data_format)},
      inputs, kernel);
}

}  // namespace ktape::backend

namespace ktape::nn {
namespace {

Tensor local_conv(const OperationCall& call) {
  const Shape window = call.shape("kernel_size"), strides = call.shape("strides"),
              output = call.shape("output_shape");
  const backend::LocalConvOptions options{.data_format = call.text("data_format")};
  const Tensor inputs = call.tensor("inputs"), kernel = call.tensor("kernel");
  return window.rank() == 1 ? backend::local_conv1d(inputs, kernel, window, strides, options)
                            : backend::local_conv2d(inputs, kernel, window, strides, output, options);
}

}  // namespace

Operations local_convolution_operations() {
  static constexpr Operation rows[] = {
      {"local_conv", "", "inputs, kernel; kernel_size, strides, output_shape, data_format", local_conv,
       "local_conv1d local_conv2d"},
  };
  return rows;
}

}  // namespace ktape::nn
