#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/arguments/per_axis.hpp>
#include <ktape/ops/nn/convolution_arguments.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <limits>
#include <tuple>

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

Integers spatial(const Shape& shape, bool first) {
  Integers extents = integers_of(shape);
  extents.erase(extents.begin());
  extents.erase(first ? extents.begin() : extents.end() - 1);
  return extents;
}

/// Returns the extents of windows with their gaps.
Integers reaches(const Shape& window, const Integers& dilation) {
  Integers reach;
  for (std::size_t axis = 0; axis < dilation.size(); ++axis)
    reach.push_back((window[static_cast<int>(axis)] - 1) * dilation[axis] + 1);
  return reach;
}

/// Windows over the spatial axes, whose extents may be unknown.
struct Windows {
  Integers reach, strides, dilation, extents;
  std::string padding;

  /// Returns whether operators pad as the library does by SAME_UPPER: ONNX Runtime refuses windows with gaps, and
  /// strides beyond the window.
  bool simple() const {
    for (std::size_t axis = 0; axis < reach.size(); ++axis)
      if (dilation[axis] > 1 || strides[axis] > reach[axis]) return false;
    return true;
  }
  /// Returns the padding before and after the axes; empty where it depends on extents that are unknown.
  Integers pads() const {
    Integers all(2 * reach.size(), 0);
    for (std::size_t axis = 0; axis < reach.size(); ++axis) {
      if (padding == "causal") all[axis] = reach[axis] - 1;
      if (padding != "same") continue;
      if (extents[axis] == None && strides[axis] > 1) return {};
      // With a stride of 1 the padding is that of any extent.
      const std::int64_t extent = extents[axis] == None ? reach[axis] : extents[axis];
      std::tie(all[axis], all[axis + reach.size()]) = same_padding(extent, reach[axis], strides[axis]);
    }
    return all;
  }
};

/// Pads (samples, channels, spatial...) by "same" for extents that are known when the model runs.
std::string padded(const Translation& t, const std::string& x, const Windows& w, double value) {
  const auto last = static_cast<std::int64_t>(w.reach.size()) + 2;
  const std::string extent = t.node("Shape", {x}, {{"start", std::int64_t{2}}, {"end", last}});
  const auto add = [&](const char* op, const std::string& a, const std::string& b) {
    return t.node(op, {a, b});
  };
  const std::string one = t.graph.integer(1), zero = t.graph.integer(0),
                    strides = t.graph.integers(w.strides);
  const std::string begin =
      add("Mul", add("Div", add("Sub", extent, one), strides), strides);  // of the last window
  const std::string all = add("Max", add("Sub", add("Add", begin, t.graph.integers(w.reach)), extent), zero);
  const std::string before = add("Div", all, t.graph.integer(2)), none = t.graph.integers({0, 0});
  const std::string pads =
      t.node("Concat", {none, before, none, add("Sub", all, before)}, {{"axis", std::int64_t{0}}});
  return t.node("Pad", {x, pads, t.graph.number(value, t.dtype())});
}

/// Adds an operator over windows of `inputs[0]`, with the padding.
std::string windowed(const Translation& t, const char* op, Names inputs, Attributes attributes,
                     const Windows& w) {
  attributes.emplace_back("strides", w.strides);
  if (w.padding == "valid") return t.node(op, inputs, attributes);
  if (w.padding == "same" && w.simple()) {
    attributes.emplace_back("auto_pad", std::string("SAME_UPPER"));
    return t.node(op, inputs, attributes);
  }
  if (const Integers pads = w.pads(); !pads.empty()) {
    attributes.emplace_back("pads", pads);
    return t.node(op, inputs, attributes);
  }
  const std::string x = inputs[0];
  inputs[0] = padded(t, x, w, op == std::string("MaxPool") ? -std::numeric_limits<double>::infinity() : 0);
  const std::string y = t.node(op, inputs, attributes);
  if (op != std::string("AveragePool")) return y;
  // The average of the elements in x: that of all places, divided by the part of the places that are in x.
  const std::string ones = t.node("Expand", {t.graph.number(1, t.dtype()), t.node("Shape", {x})});
  return t.node("Div", {y, t.node(op, {padded(t, ones, w, 0)}, attributes)});
}

/// Returns the permutation of a kernel (spatial..., in, out) to (out, in, spatial...).
Integers kernel_first(int rank) {
  Integers permutation{rank - 1, rank - 2};
  for (int axis = 0; axis + 2 < rank; ++axis) permutation.push_back(axis);
  return permutation;
}

/// The arguments of a convolution.
struct ConvolutionCall {
  Tensor x, kernel;
  Integers strides, dilation;
  std::string padding;
  bool first;
};

ConvolutionCall convolution_of(const Translation& t) {
  const Tensor kernel = Translation::known(t.call->tensor("kernel"));
  const int axes = kernel.ndim() - 2;
  return {t.call->tensor("inputs"),     kernel,
          per_axis(t, "strides", axes), per_axis(t, "dilation_rate", axes),
          t.call->text("padding"),      channels_first(t)};
}

/// Adds the node Conv for a kernel in ONNX's order.
std::string convolved(const Translation& t, const ConvolutionCall& c, const std::string& in,
                      const std::string& weights, std::int64_t groups) {
  Integers size = integers_of(c.kernel.shape());
  size.resize(c.strides.size());
  return windowed(t, "Conv", {in, weights},
                  {{"dilations", c.dilation}, {"group", groups}, {"kernel_shape", size}},
                  {reaches(c.kernel.shape(), c.dilation), c.strides, c.dilation,
                   spatial(c.x.shape(), c.first), c.padding});
}

Names plain(const Translation& t, const ConvolutionCall& c) {
  const std::int64_t channels = c.x.shape()[c.first ? 1 : -1], taken = c.kernel.shape()[-2];
  if (channels == None || taken == None) t.fail("the number of channels is unknown");
  const std::string weights = t.permuted(c.kernel, kernel_first(c.kernel.ndim()));
  return {in_layout(t, c.x, c.first,
                    [&](const std::string& in) { return convolved(t, c, in, weights, channels / taken); })};
}

Names depthwise(const Translation& t, const ConvolutionCall& c) {
  const int rank = c.kernel.ndim();
  const std::int64_t channels = c.kernel.shape()[-2], times = c.kernel.shape()[-1];
  Integers permutation{rank - 2, rank - 1}, shape{channels * times, 1};
  for (int axis = 0; axis + 2 < rank; ++axis)
    permutation.push_back(axis), shape.push_back(c.kernel.shape()[axis]);
  const std::string weights =
      is_symbolic(c.kernel)
          ? t.graph.reshaped(t.permuted(c.kernel, permutation), shape)
          : t.derived(c.kernel, "depthwise", [&] {
              return K::reshape(K::permute_dimensions(c.kernel.detach(), permutation), Shape(shape));
            });
  return {in_layout(t, c.x, c.first,
                    [&](const std::string& in) { return convolved(t, c, in, weights, channels); })};
}

/// Translates one of the two convolutions of a separable one: the depthwise convolution, or the pointwise one, whose
/// filters are as many as the channels of the result.
Names separable(const Translation& t) {
  const std::vector<DescribedArgument>* const described = described_arguments(t.symbol);
  const auto* const a = described ? std::any_cast<K::ConvolutionArguments>(&described->at(0).value) : nullptr;
  if (!a) t.fail("its arguments are not recorded");
  const ConvolutionCall c{
      t.operand(0), Translation::known(t.operand(1)),  integers_of(a->strides), integers_of(a->dilation_rate),
      a->padding,   a->data_format == "channels_first"};
  const std::int64_t channels = t.result().shape[c.first ? 1 : -1];
  return channels == c.kernel.shape()[-1] ? plain(t, c) : depthwise(t, c);
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
  const bool first = channels_first(t);
  const Integers size = per_axis(t, "pool_size", axes), ones(size.size(), 1);
  const Windows windows{size, t.call->has("strides") ? per_axis(t, "strides", axes) : size, ones,
                        spatial(x.shape(), first), t.call->text("padding")};
  return {in_layout(t, x, first, [&](const std::string& in) {
    return windowed(t, op, {in}, {{"kernel_shape", size}}, windows);
  })};
}

/// Returns the activation of a layer's config at x.
std::string activated(const Translation& t, const Config& config, const std::string& x) {
  if (config.get("activation") == Value("linear")) return x;
  const Tensor before = make_placeholder(t.result().shape, t.dtype(), "convolved");
  t.translator.set_name(before, x);
  const ActivationFunction activation = config.at("activation").as<ActivationFunction>("activation");
  return t.name(activation(before));
}

/// Adds the bias and the activation of a layer to the result of its convolution.
std::string finished(const Translation& t, const Config& config, bool first, std::string y) {
  const std::vector<Variable> weights = t.layer->layer.weights();
  if (weights.size() > 1) {
    const Tensor bias = weights[1].value();
    Shape shape(std::vector<std::int64_t>(static_cast<std::size_t>(t.result().shape.rank()), 1));
    shape[first ? 1 : -1] = bias.size();
    y = t.node("Add", {y, t.derived(bias, "broadcast", [&] { return K::reshape(bias.detach(), shape); })});
  }
  return activated(t, config, y);
}

/// Translates a grouped convolution as one node; the layer itself computes the groups one after another.
Names grouped_layer(const Translation& t) {
  const Config config = t.layer->layer.get_config();
  if (config.at("groups").integer() == 1) return {};
  const Tensor x = t.layer->inputs()[0], kernel = t.layer->layer.weights().at(0).value();
  if (x.dtype() != t.dtype() || kernel.dtype() != t.dtype()) return {};  // mixed precision
  const int axes = x.ndim() - 2;
  const ConvolutionCall c{x,
                          kernel,
                          config.at("strides").as<K::PerAxis<std::int64_t>>("strides").over(axes),
                          config.at("dilation_rate").as<K::PerAxis<std::int64_t>>("dilation_rate").over(axes),
                          config.at("padding").string(),
                          config.at("data_format") == Value("channels_first")};
  return {finished(t, config, c.first, plain(t, c)[0])};
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
  return {finished(t, config, a.first, conv_transpose(t, x, t.layer->layer.weights().at(0).value(), a))};
}

// --- Resizing ---------------------------------------------------------------------------------------------

/// Makes an axis of images longer by linear interpolation. The operator takes the axes of images last.
Names resized(const Translation& t) {
  const Tensor x = t.call->tensor("x");
  const int axis = t.call->axis();
  std::vector<float> scales(4, 1);
  scales[axis == 1 ? 2 : 3] = static_cast<float>(t.call->integer("factor"));
  const std::string factors = t.graph.constant(
      Tensor::from_buffer(scales.data(), scales.size() * sizeof(float), {4}, DType::Float32));
  return {in_layout(t, x, axis == 3, [&](const std::string& in) {
    const std::string numbers = t.graph.cast(in, x.dtype(), t.dtype());
    return t.node(
        "Resize", {numbers, "", factors},
        {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("half_pixel")}});
  })};
}

/// Adds the columns of patches up to images.
Names folded(const Translation& t) {
  if (t.graph.opset() < 18) t.fail("the operator Col2Im needs the opset 18");
  const Integers kernel = per_axis(t, "kernel_size", 2), padding = per_axis(t, "padding", 2);
  Integers pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  return {t.node(
      "Col2Im", {t("x"), t.graph.integers(per_axis(t, "output_size", 2)), t.graph.integers(kernel)},
      {{"dilations", per_axis(t, "dilation", 2)}, {"pads", pads}, {"strides", per_axis(t, "stride", 2)}})};
}

// --- Local ------------------------------------------------------------------------------------------------

/// Translates a convolution with a kernel for each position: the patches of all positions times the kernels.
Names locally_connected(const Translation& t) {
  const Tensor x = t.layer->inputs()[0];
  const Config config = t.layer->layer.get_config();
  const int axes = x.ndim() - 2;
  const bool first = config.at("data_format") == Value("channels_first");
  const Integers window = config.at("kernel_size").as<K::PerAxis<std::int64_t>>("kernel_size").over(axes),
                 strides = config.at("strides").as<K::PerAxis<std::int64_t>>("strides").over(axes);
  const Integers output = spatial(t.result().shape, first);
  if (std::find(output.begin(), output.end(), None) != output.end()) t.fail("the extents are unknown");
  const std::vector<Variable> weights = t.layer->layer.weights();
  const Tensor kernel = weights.at(0).value();
  const std::int64_t positions = kernel.shape()[0], channels = x.shape()[first ? 1 : -1],
                     filters = kernel.shape()[2], places = kernel.shape()[1] / channels;
  const std::string in = t.graph.cast(t.name(x), x.dtype(), t.dtype());
  const std::string last = first ? t.graph.transposed(in, to_channels_last(x.ndim())) : in;
  Integers along;
  for (int axis = 1; axis <= axes; ++axis) along.push_back(axis);
  Names parts;
  for (std::int64_t place = 0; place < places; ++place) {
    Integers begin(window.size()), end(window.size());
    std::int64_t rest = place;
    for (std::size_t d = window.size(); d-- > 0; rest /= window[d]) {
      begin[d] = rest % window[d];
      end[d] = begin[d] + (output[d] - 1) * strides[d] + 1;
    }
    const std::string part = t.node("Slice", {last, t.graph.integers(begin), t.graph.integers(end),
                                              t.graph.integers(along), t.graph.integers(strides)});
    parts.push_back(t.graph.reshaped(part, {-1, positions, 1, channels}));
  }
  std::string patches = t.node("Concat", parts, {{"axis", std::int64_t{2}}});
  if (first) patches = t.graph.transposed(patches, {0, 1, 3, 2});
  patches = t.graph.transposed(t.graph.reshaped(patches, {-1, positions, places * channels}), {1, 0, 2});
  const std::string products =
      t.graph.transposed(t.node("MatMul", {patches, t.weight(weights[0])}), {1, 0, 2});
  Integers shape{-1};
  shape.insert(shape.end(), output.begin(), output.end());
  shape.push_back(filters);
  std::string y = t.graph.reshaped(products, shape);
  if (weights.size() > 1) y = t.node("Add", {y, t.weight(weights[1])});
  if (first) y = t.graph.transposed(y, to_channels_first(x.ndim()));
  return {activated(t, config, y)};
}

}  // namespace

void add_convolution_rows(RowTable& rows) {
  rows["Conv"] = [](const Translation& t) { return plain(t, convolution_of(t)); };
  rows["DepthwiseConv"] = [](const Translation& t) { return depthwise(t, convolution_of(t)); };
  rows["conv_transpose"] = conv_transpose_of_k;
  rows["MaxPool"] = [](const Translation& t) { return pool(t, "MaxPool"); };
  rows["resize_images"] = resized, rows["Fold"] = folded;
  rows["AveragePool"] = [](const Translation& t) { return pool(t, "AveragePool"); };
}

void add_convolution_symbols(RowTable& rows) {
  for (const char* op : {"separable_conv1d", "separable_conv2d"}) rows[op] = separable;
}

void add_convolution_layers(RowTable& rows) {
  for (const char* name : {"LocallyConnected1D", "LocallyConnected2D"}) rows[name] = locally_connected;
  for (const char* name : {"Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"})
    rows[name] = transposed_layer;
  for (const char* name : {"Conv1D", "Conv2D", "Conv3D"}) rows[name] = grouped_layer;
}

}  // namespace ktape::nn::onnx
