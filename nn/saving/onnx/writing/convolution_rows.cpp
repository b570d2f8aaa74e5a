#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/per_axis.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

bool channels_first(const Translation& t) {
  return (t.call->has("data_format") ? t.call->text("data_format") : K::image_data_format()) ==
         "channels_first";
}

Integers per_axis(const Translation& t, const char* name, int axes) {
  const Value value = t.call->value(name);
  if (value.is_null()) return Integers(static_cast<std::size_t>(axes), 1);
  return value.as<K::PerAxis<std::int64_t>>(t.call->what(name)).over(axes);
}

/// Runs `op`, which takes (samples, channels, spatial...), in the layout of the call.
template <class F>
std::string in_layout(const Translation& t, const Tensor& x, bool first, F op) {
  if (first) return op(t.name(x));
  return t.graph.transposed(op(t.graph.transposed(t.name(x), to_channels_first(x.ndim()))),
                            to_channels_last(x.ndim()));
}

/// Appends the padding: that of TensorFlow is that of SAME_UPPER.
void add_padding(Attributes& attributes, const Translation& t, int axes, const Integers& reach) {
  const std::string padding = t.call->text("padding");
  if (padding == "same") attributes.emplace_back("auto_pad", std::string("SAME_UPPER"));
  if (padding != "causal") return;
  Integers pads(static_cast<std::size_t>(2 * axes), 0);
  for (std::size_t axis = 0; axis < reach.size(); ++axis) pads[axis] = reach[axis] - 1;
  attributes.emplace_back("pads", pads);
}

/// Returns the extents of windows with their gaps.
Integers reaches(const Shape& window, const Integers& dilation) {
  Integers reach;
  for (std::size_t axis = 0; axis < dilation.size(); ++axis)
    reach.push_back((window[static_cast<int>(axis)] - 1) * dilation[axis] + 1);
  return reach;
}

/// Returns the permutation of a kernel (spatial..., in, out) to (out, in, spatial...).
Integers kernel_first(int rank) {
  Integers permutation{rank - 1, rank - 2};
  for (int axis = 0; axis + 2 < rank; ++axis) permutation.push_back(axis);
  return permutation;
}

Attributes window_attributes(const Translation& t, const Tensor& kernel, std::int64_t groups) {
  const int axes = kernel.ndim() - 2;
  const Integers dilation = per_axis(t, "dilation_rate", axes);
  Attributes attributes{
      {"strides", per_axis(t, "strides", axes)}, {"dilations", dilation}, {"group", groups}};
  Integers size = integers_of(kernel.shape());
  size.resize(static_cast<std::size_t>(axes));
  attributes.emplace_back("kernel_shape", size);
  add_padding(attributes, t, axes, reaches(kernel.shape(), dilation));
  return attributes;
}

Names conv(const Translation& t) {
  const Tensor x = t.call->tensor("inputs"), kernel = t.call->tensor("kernel");
  const bool first = channels_first(t);
  const std::int64_t channels = x.shape()[first ? 1 : -1], taken = kernel.shape()[-2];
  if (channels == None || taken == None) t.fail("the number of channels is unknown");
  const Attributes attributes = window_attributes(t, kernel, channels / taken);
  const std::string weights = t.permuted(kernel, kernel_first(kernel.ndim()));
  return {in_layout(t, x, first, [&](const std::string& in) {
    return t.node("Conv", {in, weights}, attributes);
  })};
}

Names depthwise(const Translation& t) {
  const Tensor x = t.call->tensor("inputs"), kernel = t.call->tensor("kernel");
  const bool first = channels_first(t);
  const int rank = kernel.ndim();
  const std::int64_t channels = kernel.shape()[-2], times = kernel.shape()[-1];
  Integers permutation{rank - 2, rank - 1}, shape{channels * times, 1};
  for (int axis = 0; axis + 2 < rank; ++axis)
    permutation.push_back(axis), shape.push_back(kernel.shape()[axis]);
  const std::string weights =
      is_symbolic(kernel)
          ? t.graph.reshaped(t.permuted(kernel, permutation), shape)
          : t.graph.constant(K::reshape(K::permute_dimensions(kernel.detach(), permutation), Shape(shape)),
                             t.translator.hint(kernel));
  const Attributes attributes = window_attributes(t, kernel, channels);
  return {in_layout(t, x, first, [&](const std::string& in) {
    return t.node("Conv", {in, weights}, attributes);
  })};
}

/// The arguments of a transposed convolution along its spatial axes.
struct Transposed {
  Integers strides, dilation;
  bool same, first;
  Integers input, output;  ///< extents
};

/// Adds a ConvTranspose, whose result without padding is cut, or lengthened by zeros, to the wanted extents.
std::string conv_transpose(const Translation& t, const Tensor& x, const Tensor& kernel, const Transposed& a) {
  const auto axes = a.strides.size();
  Integers before, after, more;
  const Integers reach = reaches(kernel.shape(), a.dilation);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t whole = (a.input[axis] - 1) * a.strides[axis] + reach[axis];
    before.push_back(a.same ? same_padding(a.output[axis], reach[axis], a.strides[axis]).first : 0);
    const std::int64_t left = whole - before.back() - a.output[axis];
    after.push_back(std::max<std::int64_t>(left, 0)), more.push_back(std::max<std::int64_t>(-left, 0));
  }
  before.insert(before.end(), after.begin(), after.end());
  Attributes attributes{{"strides", a.strides}, {"dilations", a.dilation}, {"pads", before}};
  Integers size = integers_of(kernel.shape());
  size.resize(axes);
  attributes.emplace_back("kernel_shape", size);
  // The output padding of ONNX is below the stride; beyond, zeros follow.
  Integers zeros(2 * (axes + 2), 0);
  bool longer = false;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t most = a.strides[axis] - 1;
    if (more[axis] > most) zeros[axes + 4 + axis] = more[axis] - most, more[axis] = most, longer = true;
  }
  attributes.emplace_back("output_padding", more);
  const std::string weights = t.permuted(kernel, kernel_first(kernel.ndim()));
  return in_layout(t, x, a.first, [&](const std::string& in) {
    const std::string y = t.node("ConvTranspose", {in, weights}, attributes);
    return longer ? t.node("Pad", {y, t.graph.integers(zeros)}) : y;
  });
}

Integers spatial(const Shape& shape, bool first) {
  Integers extents = integers_of(shape);
  extents.erase(extents.begin());
  extents.erase(first ? extents.begin() : extents.end() - 1);
  return extents;
}

Names conv_transpose_of_k(const Translation& t) {
  const Tensor x = t.call->tensor("x"), kernel = t.call->tensor("kernel");
  const int axes = kernel.ndim() - 2;
  Transposed a{per_axis(t, "strides", axes),
               per_axis(t, "dilation_rate", axes),
               t.call->text("padding") == "same",
               channels_first(t),
               {},
               {}};
  a.input = spatial(x.shape(), a.first), a.output = spatial(t.result().shape, a.first);
  if (std::find(a.output.begin(), a.output.end(), None) != a.output.end()) t.fail("the extents are unknown");
  return {conv_transpose(t, x, kernel, a)};
}

Names pool(const Translation& t, const char* op) {
  const Tensor x = t.call->tensor("inputs");
  const int axes = x.ndim() - 2;
  const Integers size = per_axis(t, "pool_size", axes);
  Attributes attributes{{"kernel_shape", size},
                        {"strides", t.call->has("strides") ? per_axis(t, "strides", axes) : size}};
  if (t.call->text("padding") == "same") attributes.emplace_back("auto_pad", std::string("SAME_UPPER"));
  return {in_layout(t, x, channels_first(t),
                    [&](const std::string& in) { return t.node(op, {in}, attributes); })};
}

/// Translates a layer with unknown spatial extents; the padding does not depend on them. The layer computes the
/// extents of the output from those of the input; another layer is translated by its ops.
Names transposed_layer(const Translation& t) {
  const Tensor x = t.layer->inputs()[0];
  const Config config = t.layer->layer.get_config();
  const int axes = x.ndim() - 2;
  Transposed a{config.at("strides").as<K::PerAxis<std::int64_t>>("strides").over(axes),
               config.at("dilation_rate").as<K::PerAxis<std::int64_t>>("dilation_rate").over(axes),
               config.at("padding") == Value("same"),
               config.at("data_format") == Value("channels_first"),
               {},
               {}};
  const Integers given = spatial(x.shape(), a.first);
  if (std::find(given.begin(), given.end(), None) == given.end()) return {};
  Shape sample = x.shape();
  for (std::int64_t& extent : sample)
    if (extent == None) extent = 7;
  a.input = spatial(sample, a.first),
  a.output = spatial(t.layer->layer.compute_output_shape(sample), a.first);
  const std::vector<Variable> weights = t.layer->layer.weights();
  const std::string y = conv_transpose(t, x, weights.at(0).value(), a);
  std::string z = y;
  if (weights.size() > 1) {
    Integers shape(static_cast<std::size_t>(x.ndim()), 1);
    shape[a.first ? 1 : shape.size() - 1] = -1;
    z = t.node("Add", {y, t.graph.reshaped(t.name(weights[1].value()), shape)});
  }
  if (config.get("activation") == Value("linear")) return {z};
  const Tensor before = make_placeholder(t.result().shape, t.dtype(), "convolved");
  t.translator.set_name(before, z);
  const ActivationFunction activation = config.at("activation").as<ActivationFunction>("activation");
  return {t.name(activation(before))};
}

}  // namespace

void add_convolution_rows(RowTable& rows) {
  rows["Conv"] = conv, rows["DepthwiseConv"] = depthwise, rows["conv_transpose"] = conv_transpose_of_k;
  rows["MaxPool"] = [](const Translation& t) { return pool(t, "MaxPool"); };
  rows["AveragePool"] = [](const Translation& t) { return pool(t, "AveragePool"); };
}

void add_convolution_layers(RowTable& rows) {
  for (const char* name : {"Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"})
    rows[name] = transposed_layer;
}

}  // namespace ktape::nn::onnx
