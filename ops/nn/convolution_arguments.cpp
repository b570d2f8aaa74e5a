#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/nn/convolution_arguments.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::backend {
namespace {

/// The placement of an axis of the result on the input; the padding before the axis is 0 for unknown extents.
struct Placement {
  std::int64_t positions, front;
};

Placement place(const ConvolutionArguments& a, std::int64_t extent, std::int64_t window, std::int64_t stride,
                std::int64_t rate) {
  const bool valid = a.padding == "valid";
  if (window == None || extent == None) {
    const auto all = [stride](std::int64_t n) { return (n + stride - 1) / stride; };
    return {valid ? std::int64_t{None} : where_known(all, extent), 0};
  }
  const std::int64_t reach = (window - 1) * rate + 1, all = (extent + stride - 1) / stride;
  if (a.padding == "causal") return {all, reach - 1};
  if (valid) return {extent < reach ? 0 : (extent - reach) / stride + 1, 0};
  return {all, std::max<std::int64_t>(0, (all - 1) * stride + reach - extent) / 2};
}

void expect_padding(const ConvolutionArguments& a) {
  const bool causal = std::string_view(a.op) == "conv1d";
  if (a.padding != "valid" && a.padding != "same" && !(causal && a.padding == "causal"))
    fail("[", a.op, "] padding must be \"valid\"", causal ? ", \"same\" or \"causal\"" : " or \"same\"",
         ": received padding=\"", a.padding, '"');
}

Shape channels_pattern(int rank, bool to_end) {
  Shape pattern{0};
  for (int d = 2; d < rank; ++d) pattern.push_back(to_end ? d : d - 1);
  pattern.insert(to_end ? rank - 1 : 1, to_end ? 1 : rank - 1);
  return pattern;
}

}  // namespace

bool channels_first(const char* op, const std::optional<std::string>& data_format) {
  const std::string format = data_format.value_or(image_data_format());
  if (format != "channels_last" && format != "channels_first")
    fail("[", op, "] data_format must be \"channels_last\" or \"channels_first\": received data_format=\"",
         format, '"');
  return format == "channels_first";
}

void expect_positive(const char* op, const char* name, const Shape& numbers, int dims) {
  if (numbers.rank() != dims ||
      std::any_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n < 1; }))
    fail("[", op, "] ", name, " must be ", dims, dims == 1 ? " number" : " numbers",
         " of at least 1: received ", name, "=", ktape::numbers(numbers));
}

void expect_images(const char* op, const Tensor& x, const Tensor& kernel, int dims) {
  if (!x.dtype().is_floating() || x.dtype() != kernel.dtype())
    fail<TypeError>("[", op, "] x and the kernel must have one floating dtype: received x=", x.dtype(),
                    ", kernel=", kernel.dtype());
  if (x.ndim() != dims + 2 || kernel.ndim() != dims + 2)
    fail("[", op, "] x and the kernel must have rank ", dims + 2, ": received x=", x.shape(),
         ", kernel=", kernel.shape());
}

Tensor channels_last(const Tensor& x, bool first) {
  return first ? permute_dimensions(x, channels_pattern(x.ndim(), true)) : x;
}
Tensor channels_back(const Tensor& x, bool first) {
  return first ? permute_dimensions(x, channels_pattern(x.ndim(), false)) : x;
}
Shape channels_last(const Shape& shape, bool first) {
  Shape out = shape;
  if (first) out.erase(1), out.push_back(shape[1]);
  return out;
}

Shape channels_back(const Shape& shape, bool first) {
  Shape out = shape;
  if (first) out.erase(out.rank() - 1), out.insert(1, shape.back());
  return out;
}

op_helpers::Convolution canonical(const ConvolutionArguments& a, const Shape& input, const Shape& window) {
  expect_positive(a.op, "strides", a.strides, a.dims);
  expect_positive(a.op, "dilation_rate", a.dilation_rate, a.dims);
  expect_padding(a);
  op_helpers::Convolution c{a.op};
  for (int d = 0; d < a.dims; ++d) {
    const auto at = static_cast<std::size_t>(3 - a.dims + d);
    c.input[at] = input[d + 1], c.window[at] = window[d], c.strides[at] = a.strides[d],
    c.dilation[at] = a.dilation_rate[d];
    if (window[d] < 1 && window[d] != None)
      fail("[", a.op, "] the kernel must have extents of at least 1: received kernel=", window);
    // The bound keeps later sums from overflowing; a larger window or stride covers no more of the input.
    constexpr std::int64_t far = std::int64_t{1} << 31;
    if (c.strides[at] >= far || c.dilation[at] >= far || c.window[at] >= far)
      fail("[", a.op, "] strides and dilation_rate must be below 2 ** 31: received strides=", a.strides,
           ", dilation_rate=", a.dilation_rate);
    const auto [positions, front] = place(a, input[d + 1], window[d], a.strides[d], a.dilation_rate[d]);
    if (a.padding == "valid" && positions == 0)
      fail("[", a.op, "] the kernel, dilated, must not be larger than the input: received input=", input,
           ", kernel=", window, ", dilation_rate=", a.dilation_rate);
    c.output[at] = positions, c.padding[at] = front;
  }
  return c;
}

Shape result_shape(const op_helpers::Convolution& c, const Shape& input, std::int64_t filters) {
  Shape shape{input[0]};
  for (int d = 5 - input.rank(); d < 3; ++d) shape.push_back(c.output[static_cast<std::size_t>(d)]);
  shape.push_back(filters);
  return shape;
}

}  // namespace ktape::backend
