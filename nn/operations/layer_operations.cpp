#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/attention.hpp>
#include <ktape/ops/nn/convolution.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <cmath>

/// Functions of keras.ops.nn that layers compute, too.
namespace ktape::nn {
namespace K = backend;

namespace {

double epsilon_of(const OperationCall& call) {
  return call.has("epsilon") ? call.number("epsilon") : K::epsilon();
}

/// Returns a parameter with an axis for each axis of x: the extents of x along `axes`, and 1 elsewhere.
Tensor along(const Tensor& parameter, const Tensor& x, const Axes& axes) {
  const unsigned bits = canonical_axes("reshape", axes, x.ndim());
  Shape shape = x.shape();
  for (int d = 0; d < x.ndim(); ++d)
    if (!(bits >> d & 1)) shape[d] = 1;
  return K::reshape(parameter, shape);
}

Tensor layer_norm(const OperationCall& call) {
  if (call.flag("rms_scaling")) fail("[LayerNorm] rms_scaling must be false: received rms_scaling=true");
  const Tensor x = call.tensor("x");
  const Axes axes = call.axes("axis");
  const Tensor centred = x - K::mean(x, axes, true);
  Tensor out = centred / K::sqrt(K::mean(K::square(centred), axes, true) + epsilon_of(call));
  if (call.has("gamma")) out = out * along(call.tensor("gamma"), x, axes);
  return call.has("beta") ? out + along(call.tensor("beta"), x, axes) : out;
}

Tensor rms_norm(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  const Axes axes = call.axes("axis");
  const Tensor out = x / K::sqrt(K::mean(K::square(x), axes, true) + epsilon_of(call));
  return call.has("scale") ? out * along(call.tensor("scale"), x, axes) : out;
}

Tensor batch_norm(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  const Axes axis = call.axis();
  const auto parameter = [&](const char* name) { return along(call.tensor(name), x, axis); };
  Tensor out = (x - parameter("mean")) / K::sqrt(parameter("variance") + call.number("epsilon"));
  if (call.has("scale")) out = out * parameter("scale");
  return call.has("offset") ? out + parameter("offset") : out;
}

Tensor attention(const OperationCall& call) {
  for (const char* name : {"bias", "attn_logits_soft_cap"})
    if (call.has(name)) fail("[DotProductAttention] ", name, " must be null");
  K::AttentionOptions options{.causal = call.flag("is_causal"), .heads_last = true};
  if (call.has("mask")) options.mask = call.tensor("mask");
  if (call.has("scale")) options.scale = call.number("scale");
  return K::scaled_dot_product_attention(call.tensor("query"), call.tensor("key"), call.tensor("value"),
                                         options);
}

K::ConvOptions conv_options(const OperationCall& call) {
  K::ConvOptions options{
      .strides = call.value("strides").as<K::PerAxis<std::int64_t>>(call.what("strides")),
      .padding = call.text("padding"),
      .data_format = {},
      .dilation_rate = call.value("dilation_rate").as<K::PerAxis<std::int64_t>>(call.what("dilation_rate"))};
  if (call.has("data_format")) options.data_format = call.text("data_format");
  return options;
}

Tensor separable_conv(const OperationCall& call) {
  const Tensor x = call.tensor("inputs");
  const auto function = x.ndim() == 3 ? K::separable_conv1d : K::separable_conv2d;
  return function(x, call.tensor("depthwise_kernel"), call.tensor("pointwise_kernel"), conv_options(call));
}

/// Returns the output shape of a transposed convolution, as TensorFlow infers the shape.
Shape transposed_shape(const Tensor& x, const Tensor& kernel, const K::ConvOptions& options) {
  const int dims = x.ndim() - 2;
  const bool first = options.data_format.value_or(K::image_data_format()) == "channels_first";
  const std::vector<std::int64_t> strides = options.strides.over(dims),
                                  dilations = options.dilation_rate.over(dims);
  Shape shape = x.shape();
  shape[first ? 1 : dims + 1] = kernel.shape()[dims];
  for (int d = 0; d < dims; ++d) {
    const auto at = static_cast<std::size_t>(d);
    std::int64_t& extent = shape[d + (first ? 2 : 1)];
    if (extent == None) continue;
    const std::int64_t window = (kernel.shape()[d] - 1) * dilations[at] + 1;
    extent = extent * strides[at] +
             (options.padding == "valid" ? std::max<std::int64_t>(window - strides[at], 0) : 0);
  }
  return shape;
}

Tensor conv_transpose(const OperationCall& call) {
  const Tensor x = call.tensor("inputs"), kernel = call.tensor("kernel");
  const K::ConvOptions options = conv_options(call);
  if (call.has("output_padding"))
    fail("[ConvTranspose] output_padding must be null: received output_padding=",
         call.value("output_padding"));
  if (x.ndim() != 4 && x.ndim() != 5)
    fail("[ConvTranspose] inputs must have rank 4 or 5: received inputs=", x.shape());
  const Shape shape = transposed_shape(x, kernel, options);
  if (x.ndim() == 4) return K::conv2d_transpose(x, kernel, shape, options);
  return K::conv3d_transpose(
      x, kernel, shape,
      {.strides = options.strides, .padding = options.padding, .data_format = options.data_format});
}

/// Moves blocks of channels to blocks of pixels, or back.
Tensor blocks(const OperationCall& call, bool to_space) {
  const bool first = call.text("data_format") == "channels_first";
  Tensor x = call.tensor("x");
  if (x.ndim() != 4) fail("[", call.operation().name, "] x must have rank 4: received x=", x.shape());
  if (first) x = K::permute_dimensions(x, {0, 2, 3, 1});
  const std::int64_t n = call.integer("block_size"), height = x.shape()[1], width = x.shape()[2];
  const std::int64_t channels = x.shape()[3];
  if (to_space) {
    const Tensor parts = K::reshape(x, {-1, height, width, n, n, channels / (n * n)});
    x = K::reshape(K::permute_dimensions(parts, {0, 1, 3, 2, 4, 5}),
                   {-1, height * n, width * n, channels / (n * n)});
  } else {
    const Tensor parts = K::reshape(x, {-1, height / n, n, width / n, n, channels});
    x = K::reshape(K::permute_dimensions(parts, {0, 1, 3, 2, 4, 5}),
                   {-1, height / n, width / n, channels * n * n});
  }
  return first ? K::permute_dimensions(x, {0, 3, 1, 2}) : x;
}

Tensor psnr(const OperationCall& call) {
  const Tensor error = K::mean(K::square(call.tensor("x1") - call.tensor("x2")));
  return 20 * std::log10(call.number("max_val")) - K::log(error) * (10 / std::log(10.));
}

Tensor converted(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  return call.has("dtype") ? K::cast(x, *call.dtype()) : x;
}

}  // namespace

void add_layer_operations(std::vector<Operation>& all) {
  const std::vector<Operation> operations{
      {"LayerNorm", "nn", "x, gamma=null, beta=null; axis=-1, epsilon=null, rms_scaling=false", layer_norm},
      {"RMSNorm", "nn", "x, scale=null; axis=-1, epsilon=null", rms_norm},
      {"BatchNorm", "nn", "x, mean, variance, offset=null, scale=null; axis, epsilon=0.001", batch_norm},
      {"DotProductAttention", "nn",
       "query, key, value, bias=null, mask=null, scale=null; is_causal=false, flash_attention=null, "
       "attn_logits_soft_cap=null",
       attention},
      {"SeparableConv", "nn",
       "inputs, depthwise_kernel, pointwise_kernel; strides=1, padding=\"valid\", data_format=null, "
       "dilation_rate=1",
       separable_conv},
      {"ConvTranspose", "nn",
       "inputs, kernel; strides=1, padding=\"valid\", output_padding=null, data_format=null, dilation_rate=1",
       conv_transpose},
      {"DepthToSpace", "nn", "x; block_size, data_format=\"channels_last\"",
       [](const OperationCall& call) { return blocks(call, true); }},
      {"SpaceToDepth", "nn", "x; block_size, data_format=\"channels_last\"",
       [](const OperationCall& call) { return blocks(call, false); }},
      {"PSNR", "nn", "x1, x2; max_val", psnr},
      {"StopGradient", "core", "variable;",
       [](const OperationCall& call) { return K::stop_gradient(call.tensor("variable")); }},
      {"ConvertToTensor", "core", "x; dtype=null, sparse=null, ragged=null", converted},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace ktape::nn
