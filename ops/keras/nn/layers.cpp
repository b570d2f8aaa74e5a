#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/linalg/linalg.hpp>
#include <ktape/ops/keras/linalg/products.hpp>
#include <ktape/ops/keras/nn/activations.hpp>
#include <ktape/ops/keras/nn/layers.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/linalg/matmul.hpp>
#include <ktape/ops/nn/attention.hpp>
#include <ktape/ops/nn/convolution.hpp>
#include <ktape/ops/nn/convolution_arguments.hpp>
#include <ktape/ops/nn/normalization.hpp>
#include <ktape/ops/nn/pooling.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <limits>

namespace ktape::ops {

template <class F>
void fields(ConvOptions& options, F&& field) {
  field("strides", options.strides);
  field("padding", options.padding);
  field("data_format", options.data_format);
  field("dilation_rate", options.dilation_rate);
}
template <class F>
void fields(ConvTransposeOptions& options, F&& field) {
  field("strides", options.strides);
  field("padding", options.padding);
  field("output_padding", options.output_padding);
  field("data_format", options.data_format);
  field("dilation_rate", options.dilation_rate);
}

namespace K = backend;
using op_helpers::floating, op_helpers::promoted_floating;

namespace {

/// The layout of inputs with one to three spatial axes.
struct Layout {
  int axes;
  bool first;  ///< channels_first

  int channel_axis() const { return first ? 1 : axes + 1; }
  int spatial_axis(int i) const { return first ? i + 2 : i + 1; }
  std::string name() const { return first ? "channels_first" : "channels_last"; }
};

Layout layout_of(const char* op, const Tensor& inputs, const std::optional<std::string>& data_format) {
  const bool first = K::channels_first(op, data_format);
  const int axes = inputs.ndim() - 2;
  if (axes < 1 || axes > 3)
    fail("[", op, "] inputs must have one, two or three spatial axes: received inputs=", inputs.shape());
  return {axes, first};
}

std::vector<std::int64_t> over_axes(const char* op, const char* name, const Extents& extents, int axes) {
  const std::vector<std::int64_t> each = extents.over(axes);
  if (static_cast<int>(each.size()) != axes)
    fail("[", op, "] ", name, " must have one number for each of ", axes, " axes: received ", each.size());
  return each;
}

/// Returns x with an axis of extent 1 before its only spatial axis.
Tensor as_image(const Tensor& x, const Layout& layout) { return K::expand_dims(x, layout.spatial_axis(0)); }
Tensor from_image(const Tensor& x, const Layout& layout) { return K::squeeze(x, layout.spatial_axis(0)); }
std::vector<std::int64_t> with_one(std::vector<std::int64_t> extents) {
  extents.insert(extents.begin(), 1);
  return extents;
}

Tensor ungrouped_conv(const Tensor& x, const Tensor& kernel, const K::ConvOptions& options, int axes) {
  return axes == 1   ? K::conv1d(x, kernel, options)
         : axes == 2 ? K::conv2d(x, kernel, options)
                     : K::conv3d(x, kernel, options);
}

}  // namespace

Tensor conv(const Tensor& inputs, const Tensor& kernel, const ConvOptions& o) {
  const CalledOp called("conv");
  expect_defined("conv", "inputs, kernel", inputs, kernel);
  const auto [x, k] = promoted_floating("conv", inputs, kernel);
  const Layout layout = layout_of("conv", x, o.data_format);
  if (k.ndim() != x.ndim())
    fail("[conv] the kernel must have the rank of the inputs=", x.shape(), ": received kernel=", k.shape());
  const K::ConvOptions options{.strides = o.strides,
                               .padding = o.padding,
                               .data_format = layout.name(),
                               .dilation_rate = o.dilation_rate};
  const std::int64_t channels = x.shape()[layout.channel_axis()], taken = k.shape()[-2],
                     filters = k.shape()[-1];
  if (channels == None || taken == None) {
    // The number of groups is known when the graph runs; the shape of the result does not depend on the groups.
    const Tensor shape = ungrouped_conv(x, k, options, layout.axes);
    const auto later = [](const ConvOptions& o, const Tensor& x, const Tensor& k) { return conv(x, k, o); };
    return defer_described("conv", {shape.shape(), shape.dtype()}, later, o, x, k);
  }
  const std::int64_t groups = channels > 0 && taken > 0 ? channels / taken : 1;
  if (groups * taken != channels || groups < 1 || filters % groups != 0)
    fail(
        "[conv] the channels of the inputs must be a multiple of those of the kernel, and the filters of "
        "that multiple: "
        "received inputs=",
        x.shape(), ", kernel=", k.shape());
  if (groups == 1) return ungrouped_conv(x, k, options, layout.axes);
  const std::vector<std::int64_t> strides = options.strides.over(layout.axes);
  if (taken == 1 && layout.axes <= 2 && strides.front() == strides.back()) {
    Shape each = k.shape();
    each[-2] = channels, each[-1] = filters / channels;
    return depthwise_conv(x, K::reshape(k, each), o);
  }
  const std::vector<Tensor> xs = K::split(x, groups, layout.channel_axis()), ks = K::split(k, groups, -1);
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < xs.size(); ++i)
    parts.push_back(ungrouped_conv(xs[i], ks[i], options, layout.axes));
  return K::concatenate(parts, layout.channel_axis());
}

Tensor conv_transpose(const Tensor& inputs, const Tensor& kernel, const ConvTransposeOptions& o) {
  const CalledOp called("conv_transpose");
  expect_defined("conv_transpose", "inputs, kernel", inputs, kernel);
  const auto [x, k] = promoted_floating("conv_transpose", inputs, kernel);
  const Layout layout = layout_of("conv_transpose", x, o.data_format);
  if (k.ndim() != x.ndim())
    fail("[conv_transpose] the kernel must have the rank of the inputs=", x.shape(),
         ": received kernel=", k.shape());
  if (o.padding != "valid" && o.padding != "same")
    fail("[conv_transpose] padding must be \"valid\" or \"same\": received padding=\"", o.padding, '"');
  const auto strides = over_axes("conv_transpose", "strides", o.strides, layout.axes);
  const auto rates = over_axes("conv_transpose", "dilation_rate", o.dilation_rate, layout.axes);
  std::vector<std::int64_t> growth;
  if (o.output_padding)
    growth = over_axes("conv_transpose", "output_padding", *o.output_padding, layout.axes);
  Shape shape = x.shape();
  shape[0] = None;
  shape[layout.channel_axis()] = k.shape()[-2];
  for (int i = 0; i < layout.axes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t n = x.shape()[layout.spatial_axis(i)], s = strides[at],
                       reach = (k.shape()[i] - 1) * rates[at] + 1;
    const bool same = o.padding == "same";
    const std::int64_t grown =
        growth.empty() ? 0 : (n - 1) * s + reach - (same ? 2 * (reach / 2) : 0) + growth[at];
    shape[layout.spatial_axis(i)] = n == None         ? std::int64_t{None}
                                    : !growth.empty() ? grown
                                    : same            ? n * s
                                                      : n * s + std::max<std::int64_t>(reach - s, 0);
  }
  if (shape.count(1) == None) {
    shape[0] = x.shape()[0];
    return defer_described("conv_transpose", {shape, x.dtype()}, conv_transpose, x, k, o);
  }
  if (layout.axes == 3) {
    for (const std::int64_t rate : rates)
      if (rate != 1) fail("[conv_transpose] with three axes dilation_rate must be 1: received ", rate);
    return K::conv3d_transpose(x, k, shape,
                               {.strides = strides, .padding = o.padding, .data_format = layout.name()});
  }
  if (layout.axes == 2)
    return K::conv2d_transpose(
        x, k, shape,
        {.strides = strides, .padding = o.padding, .data_format = layout.name(), .dilation_rate = rates});
  shape.insert(layout.spatial_axis(0), 1);
  const std::vector<std::int64_t> rate(2, rates[0]);
  const Tensor image =
      K::conv2d_transpose(as_image(x, layout), K::expand_dims(k, 0), shape,
                          {.strides = rates[0] > 1 ? std::vector<std::int64_t>{1, 1} : with_one(strides),
                           .padding = o.padding,
                           .data_format = layout.name(),
                           .dilation_rate = rate});
  return from_image(image, layout);
}

Tensor depthwise_conv(const Tensor& inputs, const Tensor& kernel, const ConvOptions& o) {
  const CalledOp called("depthwise_conv");
  expect_defined("depthwise_conv", "inputs, kernel", inputs, kernel);
  const auto [x, k] = promoted_floating("depthwise_conv", inputs, kernel);
  const Layout layout = layout_of("depthwise_conv", x, o.data_format);
  if (layout.axes == 3 || k.ndim() != x.ndim())
    fail("[depthwise_conv] inputs and kernel must have one or two spatial axes: received inputs=", x.shape(),
         ", kernel=", k.shape());
  const auto strides = over_axes("depthwise_conv", "strides", o.strides, layout.axes);
  const auto rates = over_axes("depthwise_conv", "dilation_rate", o.dilation_rate, layout.axes);
  if (layout.axes == 2)
    return K::depthwise_conv2d(
        x, k,
        {.strides = strides, .padding = o.padding, .data_format = layout.name(), .dilation_rate = rates});
  // The image has one row, so that the stride along its height can be any number.
  const std::vector<std::int64_t> both(2, strides[0]);
  return from_image(K::depthwise_conv2d(as_image(x, layout), K::expand_dims(k, 0),
                                        {.strides = both,
                                         .padding = o.padding,
                                         .data_format = layout.name(),
                                         .dilation_rate = with_one(rates)}),
                    layout);
}

Tensor separable_conv(const Tensor& inputs, const Tensor& depthwise_kernel, const Tensor& pointwise_kernel,
                      const ConvOptions& options) {
  const CalledOp called("separable_conv");
  ConvOptions point;
  point.data_format = options.data_format;
  return conv(depthwise_conv(inputs, depthwise_kernel, options), pointwise_kernel, point);
}

namespace {

Tensor pool(const char* op, const Tensor& inputs, const Extents& given_size, const PoolOptions& o,
            const char* mode) {
  const Tensor x = floating(op, inputs, "inputs");
  const Layout layout = layout_of(op, x, o.data_format);
  const auto size = over_axes(op, "pool_size", given_size, layout.axes);
  const auto strides = over_axes(op, "strides", o.strides.value_or(given_size), layout.axes);
  K::PoolOptions options{
      .strides = strides, .padding = o.padding, .data_format = layout.name(), .pool_mode = mode};
  if (layout.axes == 3) return K::pool3d(x, size, options);
  if (layout.axes == 2) return K::pool2d(x, size, options);
  options.strides = with_one(strides);
  return from_image(K::pool2d(as_image(x, layout), with_one(size), options), layout);
}

constexpr std::int64_t most_cells = 1 << 24;

using Reduction = Tensor (*)(const Tensor&, const Axes&, bool);

Tensor adaptive_pool(const char* op, const Tensor& inputs, const Extents& output_size,
                     const AdaptivePoolOptions& o, Reduction reduce) {
  Tensor x = floating(op, inputs, "inputs");
  const Layout layout = layout_of(op, x, o.data_format);
  const auto sizes = over_axes(op, "output_size", output_size, layout.axes);
  for (int i = 0; i < layout.axes; ++i) {
    const int axis = layout.spatial_axis(i);
    const std::int64_t n = x.shape()[axis], m = sizes[static_cast<std::size_t>(i)];
    if (n < 1 || m < 1 || m > most_cells)
      fail("[", op, "] extents must be known and at least 1, and output_size at most ", most_cells,
           ": received inputs=", inputs.shape(), ", output_size=", m);
    std::vector<Tensor> cells;
    for (std::int64_t cell = 0; cell < m; ++cell) {
      std::vector<Index> index(static_cast<std::size_t>(axis), All);
      index.push_back(Slice(cell * n / m, ((cell + 1) * n + m - 1) / m));
      cells.push_back(reduce(K::index(x, Indices(index)), axis, true));
    }
    x = K::concatenate(cells, axis);
  }
  return x;
}

}  // namespace

Tensor max_pool(const Tensor& inputs, const Extents& pool_size, const PoolOptions& options) {
  const CalledOp called("max_pool");
  return pool("max_pool", inputs, pool_size, options, "max");
}
Tensor average_pool(const Tensor& inputs, const Extents& pool_size, const PoolOptions& options) {
  const CalledOp called("average_pool");
  return pool("average_pool", inputs, pool_size, options, "avg");
}
Tensor adaptive_max_pool(const Tensor& inputs, const Extents& output_size,
                         const AdaptivePoolOptions& options) {
  const CalledOp called("adaptive_max_pool");
  return adaptive_pool("adaptive_max_pool", inputs, output_size, options, K::max);
}
Tensor adaptive_average_pool(const Tensor& inputs, const Extents& output_size,
                             const AdaptivePoolOptions& options) {
  const CalledOp called("adaptive_average_pool");
  return adaptive_pool("adaptive_average_pool", inputs, output_size, options, K::mean);
}

Moments moments(const Tensor& given, const Axes& axes, bool keepdims) {
  const CalledOp called("moments");
  const Tensor x = floating("moments", given);
  if (!x.dtype().is_half()) return {K::mean(x, axes, keepdims), K::var(x, axes, keepdims)};
  // Keras clips both half precisions to the range of float16.
  const double most = op_helpers::largest_number(DType::Float16);
  const auto narrowed = [&](const Tensor& moment) {
    return K::cast(K::clip(moment, -most, most), x.dtype());
  };
  const Tensor values = K::cast(x, DType::Float32);
  return {narrowed(K::mean(values, axes, keepdims)), narrowed(K::var(values, axes, keepdims))};
}

Tensor normalize(const Tensor& given, const Axes& axis, double order, std::optional<double> epsilon) {
  const CalledOp called("normalize");
  const Tensor x = floating("normalize", given);
  const Tensor length = order == 2 ? K::norm(x, axis, true) : norm(x, order, axis, true);
  return x / K::maximum(length, epsilon.value_or(K::epsilon()));
}

Tensor batch_normalization(const Tensor& given, const Tensor& mean, const Tensor& variance, int given_axis,
                           const Tensor& offset, const Tensor& scale, double epsilon) {
  const CalledOp called("batch_normalization");
  expect_defined("batch_normalization", "x, mean, variance", given, mean, variance);
  const std::vector<Tensor> all = op_helpers::together({given, mean, variance, offset, scale});
  const Tensor x = floating("batch_normalization", all[0]);
  const int axis = canonical_axis("batch_normalization", given_axis, x.ndim());
  const auto along = [&](const Tensor& vector, const char* name) {
    if (vector.ndim() != 1 || !compatible(vector.shape()[0], x.shape()[axis]))
      fail("[batch_normalization] ", name, " must have one number for each position of axis ", axis,
           " of x=", x.shape(), ": received ", name, '=', vector.shape());
    std::vector<std::int64_t> shape(static_cast<std::size_t>(x.ndim()), 1);
    shape[static_cast<std::size_t>(axis)] = -1;
    return K::reshape(K::as_dtype(vector, x.dtype()), Shape(shape));
  };
  Tensor factor = rsqrt(along(all[2], "variance") + epsilon);
  if (scale.defined()) factor = factor * along(all[4], "scale");
  const Tensor out = (x - along(all[1], "mean")) * factor;
  return offset.defined() ? out + along(all[3], "offset") : out;
}

namespace {

/// Returns x / sqrt(variance + epsilon) * gamma in the dtype of x, computed in at least float32.
Tensor scaled_by_variance(const Tensor& x, const Tensor& gamma, const LayerNormalizationOptions& o) {
  const Tensor wide = K::as_dtype(x, op_helpers::common_dtype(x.dtype(), DType::Float32));
  Tensor out = wide * rsqrt(K::var(wide, o.axis, true) + o.epsilon.value_or(K::epsilon()));
  if (gamma.defined()) {
    const unsigned axes = canonical_axes("layer_normalization", o.axis, x.ndim());
    Shape along, own;
    for (int d = 0; d < x.ndim(); ++d) {
      along.push_back(axes >> d & 1 ? x.shape()[d] : 1);
      if (axes >> d & 1) own.push_back(x.shape()[d]);
    }
    if (!compatible(gamma.shape(), own))
      fail("[layer_normalization] gamma must have the shape ", own,
           " of the normalized axes: received gamma=", gamma.shape());
    out = out * K::reshape(K::as_dtype(gamma, out.dtype()), along);
  }
  return K::as_dtype(out, x.dtype());
}

}  // namespace

Tensor layer_normalization(const Tensor& given, const Tensor& gamma, const Tensor& beta,
                           const LayerNormalizationOptions& options) {
  const CalledOp called("layer_normalization");
  const Tensor x = floating("layer_normalization", given);
  if (options.rms_scaling) {
    const op_helpers::Operands both = op_helpers::together(x, gamma);
    return scaled_by_variance(both.x, both.y, options);
  }
  const auto weight = [&](const Tensor& w) { return w.defined() ? K::as_dtype(w, x.dtype()) : w; };
  return K::layer_normalization(x, weight(gamma), weight(beta),
                                {.axis = options.axis, .epsilon = options.epsilon.value_or(K::epsilon())});
}

Tensor rms_normalization(const Tensor& given, const Tensor& given_scale, const Axes& axis,
                         std::optional<double> epsilon) {
  const CalledOp called("rms_normalization");
  expect_defined("rms_normalization", "x", given);
  const op_helpers::Operands operands = op_helpers::together(given, given_scale);
  const Tensor x = floating("rms_normalization", operands.x);
  const Tensor out = x * rsqrt(K::mean(K::square(x), axis, true) + epsilon.value_or(K::epsilon()));
  return given_scale.defined() ? out * K::as_dtype(operands.y, x.dtype()) : out;
}

namespace {

/// Returns the mask of a query that sees no later key, (queries, keys).
Tensor causal_mask(const Tensor& query, const Tensor& key) {
  const std::int64_t queries = query.shape()[1], keys = key.shape()[1];
  if (queries == None || keys == None)
    fail("[dot_product_attention] with a bias, is_causal needs known numbers of steps: received query=",
         query.shape(), ", key=", key.shape());
  return tri(queries, keys, 0, DType::Bool);
}

Tensor attention_with_bias(const Tensor& query, const Tensor& key, const Tensor& value,
                           const DotProductAttentionOptions& o) {
  Tensor scores = einsum("btnh,bsnh->bnts", {query, key});
  const Tensor width = K::cast(K::index(K::shape(query), -1), scores.dtype());
  scores = o.scale ? scores * *o.scale : scores * rsqrt(width);
  if (o.attn_logits_soft_cap) scores = K::tanh(scores / *o.attn_logits_soft_cap) * *o.attn_logits_soft_cap;
  if (o.bias.defined()) scores = scores + K::as_dtype(o.bias, scores.dtype());
  Tensor seen = o.mask.defined() ? K::as_dtype(o.mask, DType::Bool) : Tensor();
  if (o.is_causal) seen = seen.defined() ? seen & causal_mask(query, key) : causal_mask(query, key);
  if (!seen.defined()) return einsum("bnts,bsnh->btnh", {softmax(scores), value});
  const Tensor weights = K::where(seen, softmax(K::where(seen, scores, -INFINITY)), 0);
  const auto swapped = [](const Tensor& x) { return K::permute_dimensions(x, {0, 2, 1, 3}); };
  const op_helpers::Operands both = op_helpers::promoted("dot_product_attention", weights, swapped(value));
  return swapped(op_helpers::weighed_sum(both.x, both.y));
}

}  // namespace

Tensor dot_product_attention(const Tensor& given_query, const Tensor& given_key, const Tensor& given_value,
                             const DotProductAttentionOptions& o) {
  const CalledOp called("dot_product_attention");
  expect_defined("dot_product_attention", "query, key, value", given_query, given_key, given_value);
  const std::vector<Tensor> all =
      op_helpers::promoted("dot_product_attention", "query", {given_query, given_key, given_value});
  const auto in_floating = [](const Tensor& x) { return floating("dot_product_attention", x); };
  const Tensor query = in_floating(all[0]), key = in_floating(all[1]), value = in_floating(all[2]);
  if (query.ndim() != 4 || key.ndim() != 4 || value.ndim() != 4)
    fail("[dot_product_attention] tensors must be (batch, time, heads, width): received query=",
         query.shape(), ", key=", key.shape(), ", value=", value.shape());
  const Shape scores{merged(query.shape()[0], key.shape()[0]), merged(query.shape()[2], key.shape()[2]),
                     query.shape()[1], key.shape()[1]};
  for (const auto& [name, given] : {std::pair<const char*, const Tensor&>{"bias", o.bias}, {"mask", o.mask}})
    if (given.defined() && !broadcasts_to(given.shape(), scores))
      fail("[dot_product_attention] ", name, " must broadcast to (batch, heads, queries, keys) ", scores,
           ": received ", name, '=', given.shape());
  if (o.flash_attention.value_or(false) && (o.bias.defined() || o.attn_logits_soft_cap))
    fail("[dot_product_attention] flash_attention must not have a bias or attn_logits_soft_cap: received ",
         o.bias.defined() ? "bias=" + to_string(o.bias.shape())
                          : "attn_logits_soft_cap=" + std::to_string(*o.attn_logits_soft_cap));
  if (o.bias.defined() || o.attn_logits_soft_cap) return attention_with_bias(query, key, value, o);
  return K::scaled_dot_product_attention(
      query, key, value, {.mask = o.mask, .causal = o.is_causal, .scale = o.scale, .heads_last = true});
}

}  // namespace ktape::ops

namespace ktape::ops {
template <class F>
void fields(PoolOptions& options, F&& field) {
  field("strides", options.strides);
  field("padding", options.padding);
  field("data_format", options.data_format);
}
}  // namespace ktape::ops

namespace ktape::ops {
template <class F>
void fields(AdaptivePoolOptions& options, F&& field) {
  field("data_format", options.data_format);
}
}  // namespace ktape::ops

namespace ktape::ops {
template <class F>
void fields(LayerNormalizationOptions& options, F&& field) {
  field("axis", options.axis);
  field("epsilon", options.epsilon);
  field("rms_scaling", options.rms_scaling);
}
}  // namespace ktape::ops

namespace ktape::ops {
template <class F>
void fields(DotProductAttentionOptions& options, F&& field) {
  field("bias", options.bias);
  field("mask", options.mask);
  field("scale", options.scale);
  field("is_causal", options.is_causal);
  field("flash_attention", options.flash_attention);
  field("attn_logits_soft_cap", options.attn_logits_soft_cap);
}
}  // namespace ktape::ops

namespace ktape::nn {

Operations keras_layer_operations() {
  static constexpr const char* convolution =
      "inputs, kernel; strides=1, padding=\"valid\", data_format=null, dilation_rate=1";
  static constexpr const char* pooling =
      "inputs; pool_size, strides=null, padding=\"valid\", data_format=null";
  static constexpr const char* adaptive_pooling = "inputs; output_size, data_format=null";
  static constexpr Operation rows[] = {
      {"Conv", "nn", convolution, calls<ops::conv>, "conv conv1d conv2d conv3d"},
      {"DepthwiseConv", "nn", convolution, calls<ops::depthwise_conv>, "depthwise_conv2d"},
      {"SeparableConv", "nn",
       "inputs, depthwise_kernel, pointwise_kernel; strides=1, padding=\"valid\", data_format=null, "
       "dilation_rate=1",
       calls<ops::separable_conv>},
      {"ConvTranspose", "nn",
       "inputs, kernel; strides=1, padding=\"valid\", output_padding=null, data_format=null, dilation_rate=1",
       calls<ops::conv_transpose>, "conv_transpose"},
      {"MaxPool", "nn", pooling, calls<ops::max_pool>, "-"},
      {"AveragePool", "nn", pooling, calls<ops::average_pool>, "-"},
      {"AdaptiveMaxPool", "nn", adaptive_pooling, calls<ops::adaptive_max_pool>},
      {"AdaptiveAveragePool", "nn", adaptive_pooling, calls<ops::adaptive_average_pool>},
      {"LayerNorm", "nn", "x, gamma=null, beta=null; axis=-1, epsilon=null, rms_scaling=false",
       calls<ops::layer_normalization>, "layer_normalization", "x, gamma, beta"},
      {"RMSNorm", "nn", "x, scale=null; axis=-1, epsilon=null", calls<ops::rms_normalization>},
      {"BatchNorm", "nn", "x, mean, variance, offset=null, scale=null; axis, epsilon=0.001",
       calls<ops::batch_normalization>},
      {"Normalize", "nn", "x; axis=-1, order=2, epsilon=null", calls<ops::normalize>, "-"},
      {"Moments", "nn", "x; axes, keepdims=false, synchronized=false", calls<ops::moments>, "-"},
      {"DotProductAttention", "nn",
       "query, key, value, bias=null, mask=null, scale!=null; is_causal=false, flash_attention=null, "
       "attn_logits_soft_cap=null",
       calls<ops::dot_product_attention>, "scaled_dot_product_attention",
       "query, key, value, mask, scale, is_causal"},
  };
  return rows;
}

}  // namespace ktape::nn
