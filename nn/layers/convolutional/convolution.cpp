#include <ktape/autograd/defer.hpp>
#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/nn/layers/convolutional/convolution.hpp>
#include <ktape/nn/layers/convolutional/spatial.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/bias.hpp>
#include <ktape/ops/nn/convolution.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <limits>

namespace ktape::nn {
namespace K = backend;

namespace {

template <class Options>
struct Convolutional : Options {
  std::int64_t filters = 1;
  PerAxis<std::int64_t> kernel_size = 1;
};
using ConvArguments = Convolutional<ConvOptions>;
using TransposeArguments = Convolutional<ConvTransposeOptions>;
using SeparableArguments = Convolutional<SeparableConvOptions>;
struct DepthwiseArguments : DepthwiseConvOptions {
  PerAxis<std::int64_t> kernel_size = 1;
};

template <class Arguments, class F>
void bias_fields(Arguments& a, F&& field) {
  field("activation", a.activation);
  field("use_bias", a.use_bias);
  field("bias_initializer", a.bias_initializer);
  field("bias_regularizer", a.bias_regularizer);
  field("bias_constraint", a.bias_constraint);
  field("activity_regularizer", a.activity_regularizer);
}

template <class Arguments, class F>
void kernel_fields(Arguments& a, F&& field) {
  field("kernel_initializer", a.kernel_initializer);
  field("kernel_regularizer", a.kernel_regularizer);
  field("kernel_constraint", a.kernel_constraint);
}

template <class Arguments, class F>
void depthwise_fields(Arguments& a, F&& field) {
  field("depth_multiplier", a.depth_multiplier);
  field("depthwise_initializer", a.depthwise_initializer);
  field("depthwise_regularizer", a.depthwise_regularizer);
  field("depthwise_constraint", a.depthwise_constraint);
}

template <class F>
void fields(ConvArguments& a, F&& field) {
  field("filters", a.filters);
  window_fields(a, field);
  field("groups", a.groups);
  bias_fields(a, field);
  kernel_fields(a, field);
}

template <class F>
void fields(TransposeArguments& a, F&& field) {
  field("filters", a.filters);
  window_fields(a, field);
  field("output_padding", a.output_padding);
  bias_fields(a, field);
  kernel_fields(a, field);
}

template <class F>
void fields(DepthwiseArguments& a, F&& field) {
  window_fields(a, field);
  depthwise_fields(a, field);
  bias_fields(a, field);
}

template <class F>
void fields(SeparableArguments& a, F&& field) {
  field("filters", a.filters);
  window_fields(a, field);
  depthwise_fields(a, field);
  field("pointwise_initializer", a.pointwise_initializer);
  field("pointwise_regularizer", a.pointwise_regularizer);
  field("pointwise_constraint", a.pointwise_constraint);
  bias_fields(a, field);
}

/// Returns the arguments with one number for each axis and with the data format. Throws ValueError, naming
/// the layer, for values that are not allowed.
template <class Arguments>
Arguments completed(const char* layer, const Arguments& given, int axes, bool causal) {
  const Arguments a = with_window(layer, given, axes, causal);
  if constexpr (requires { a.filters; }) expect_at_least<std::int64_t>(layer, "filters", a.filters, 1);
  if constexpr (requires { a.depth_multiplier; })
    expect_at_least<std::int64_t>(layer, "depth_multiplier", a.depth_multiplier, 1);
  return a;
}

/// Makes a layer of options with filters and kernel_size.
template <class Impl, class Options>
std::shared_ptr<Impl> windowed(const char* layer, const Options& options) {
  return std::make_shared<Impl>(
      Convolutional<Options>{options, internal::given(layer, "filters", options.filters),
                             internal::given(layer, "kernel_size", options.kernel_size)});
}

/// A base class of layers that compute a convolution, then bias and activation.
template <class Arguments>
class ConvolutionalImpl : public LayerWith<Arguments> {
 public:
  ConvolutionalImpl(const char* class_name, const Arguments& given, int axes, bool causal = false)
      : LayerWith<Arguments>(class_name, completed(class_name, given, axes, causal)), axes_(axes) {
    this->activity_regularizer = args.activity_regularizer;
    this->input_spec = {{.ndim = axes + 2}};
  }

  Tensor call(const Tensor& x) final {
    Tensor y = convolve(K::as_dtype(x, this->compute_dtype()));
    if (args.use_bias) y = K::bias_add(y, bias_, {args.data_format});
    return args.activation(y);
  }

 protected:
  using LayerWith<Arguments>::args;
  virtual Tensor convolve(const Tensor& x) = 0;

  /// Returns the number of channels of the input, and requires this number of all later inputs.
  std::int64_t channels_of(const Shape& input) {
    const std::int64_t channels = known_channels(this->name(), input, args.data_format);
    this->input_spec = {{.ndim = axes_ + 2, .axes = {{channel_axis(args.data_format), channels}}}};
    return channels;
  }
  Shape kernel_shape(std::int64_t before_last, std::int64_t last) const {
    Shape shape(args.kernel_size.over(axes_));
    shape.push_back(before_last);
    shape.push_back(last);
    return shape;
  }
  void add_bias(std::int64_t filters) {
    if (args.use_bias)
      bias_ = this->add_weight("bias", {filters},
                               {.initializer = args.bias_initializer,
                                .regularizer = args.bias_regularizer,
                                .constraint = args.bias_constraint});
  }
  /// Adds the layer's convolution, bias and activation to a network.
  std::optional<int> plan_images(K::NetworkBuilder& network, int x, const Variable& kernel,
                                 bool depthwise) const {
    if (!plannable()) return {};
    const auto y = network.convolution(x, kernel, bias_, planned_window(), depthwise);
    return y ? plan_activation(network, *y, args.activation) : y;
  }
  /// Adds a depthwise convolution and one of single pixels.
  std::optional<int> plan_separable(K::NetworkBuilder& network, int x, const Variable& depthwise,
                                    const Variable& pointwise) const {
    if (!plannable()) return {};
    const auto y = network.convolution(x, depthwise, Variable(), planned_window(), true);
    const std::vector<std::int64_t> ones(static_cast<std::size_t>(axes_), 1);
    const auto z = y ? network.convolution(*y, pointwise, bias_, {ones, ones, ones}) : y;
    return z ? plan_activation(network, *z, args.activation) : z;
  }
  K::ConvOptions window() const { return {args.strides, args.padding, args.data_format, args.dilation_rate}; }
  int axes() const { return axes_; }

 private:
  bool plannable() const {
    return axes_ <= 2 && args.data_format == "channels_last" && !this->activity_regularizer.defined();
  }
  K::WindowOptions planned_window() const {
    return {args.kernel_size.over(axes_), args.strides.over(axes_), args.dilation_rate.over(axes_),
            args.padding};
  }

  int axes_;
  Variable bias_;
};

// --- Plain -------------------------------------------------------------------------------------------------

class ConvImpl : public ConvolutionalImpl<ConvArguments>, public Planned {
 public:
  ConvImpl(const char* class_name, const ConvArguments& arguments, int axes)
      : ConvolutionalImpl(class_name, arguments, axes, axes == 1) {
    expect_at_least<std::int64_t>(class_name, "groups", args.groups, 1);
    if (args.filters % args.groups != 0)
      fail("[", class_name, "] the filters must divide into the groups: received filters=", args.filters,
           ", groups=", args.groups);
  }

  void build(const Shape& input) override {
    const std::int64_t channels = channels_of(input);
    if (channels % args.groups != 0)
      fail("[", name(), "] the channels must divide into the groups: received shape=", input,
           ", groups=", args.groups);
    kernel_ = add_weight("kernel", kernel_shape(channels / args.groups, args.filters),
                         {.initializer = args.kernel_initializer,
                          .regularizer = args.kernel_regularizer,
                          .constraint = args.kernel_constraint});
    add_bias(args.filters);
  }

  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const final {
    return args.groups == 1 ? plan_images(network, inputs[0], kernel_, false) : std::nullopt;
  }

 protected:
  Tensor convolve(const Tensor& x) override {
    if (args.groups == 1) return convolution(x, kernel_);
    const int axis = channel_axis(args.data_format);
    // With one channel in each group, one depthwise convolution replaces a convolution for each group.
    if (axes() == 2 && args.groups == x.shape()[axis])
      return K::depthwise_conv2d(x, depthwise_kernel(), window());
    const std::vector<Tensor> parts = K::split(x, args.groups, axis),
                              kernels = K::split(kernel_, args.groups, -1);
    std::vector<Tensor> results;
    for (std::size_t g = 0; g < parts.size(); ++g) results.push_back(convolution(parts[g], kernels[g]));
    return K::concatenate(results, axis);
  }

 private:
  Tensor convolution(const Tensor& x, const Tensor& kernel) const {
    return nn::convolution(axes(), x, kernel, window());
  }
  /// Returns the kernel for groups of one channel as (spatial..., channels, filters / channels).
  Tensor depthwise_kernel() const {
    return K::reshape(kernel_, kernel_shape(args.groups, args.filters / args.groups));
  }

  Variable kernel_;
};

struct Conv1DImpl final : ConvImpl {
  explicit Conv1DImpl(const ConvArguments& arguments) : ConvImpl("Conv1D", arguments, 1) {}
};
struct Conv2DImpl final : ConvImpl {
  explicit Conv2DImpl(const ConvArguments& arguments) : ConvImpl("Conv2D", arguments, 2) {}
};
struct Conv3DImpl final : ConvImpl {
  explicit Conv3DImpl(const ConvArguments& arguments) : ConvImpl("Conv3D", arguments, 3) {}
};

// --- Transposed --------------------------------------------------------------------------------------------

/// Returns the extent of an output axis for an input axis of extent n; None for an unknown n.
std::int64_t transposed_extent(std::int64_t n, std::int64_t kernel, std::int64_t stride, bool same,
                               std::optional<std::int64_t> output_padding) {
  if (n == None) return None;
  const std::int64_t more = !output_padding
                                ? same ? 0 : std::max<std::int64_t>(kernel - stride, 0)
                                : kernel - (same ? 2 * (kernel / 2) : 0) + *output_padding - stride;
  std::int64_t extent;
  // On overflow the result is an extent that no tensor can have.
  return __builtin_mul_overflow(n, stride, &extent) || __builtin_add_overflow(extent, more, &extent)
             ? std::numeric_limits<std::int64_t>::max()
             : extent;
}

class ConvTransposeImpl : public ConvolutionalImpl<TransposeArguments> {
 public:
  ConvTransposeImpl(const char* class_name, const TransposeArguments& arguments, int axes)
      : ConvolutionalImpl(class_name, with_padding(class_name, arguments, axes), axes) {
    const std::vector<std::int64_t> rates = args.dilation_rate.over(axes);
    if (axes == 3 && std::any_of(rates.begin(), rates.end(), [](std::int64_t rate) { return rate > 1; }))
      fail("[", class_name, "] dilation_rate must be 1: received dilation_rate=", Value(args.dilation_rate));
  }

  void build(const Shape& input) override {
    kernel_ = add_weight("kernel", kernel_shape(args.filters, channels_of(input)),
                         {.initializer = args.kernel_initializer,
                          .regularizer = args.kernel_regularizer,
                          .constraint = args.kernel_constraint});
    add_bias(args.filters);
  }

 protected:
  Tensor convolve(const Tensor& x) override {
    const Shape shape = output_shape(x.shape());
    const bool unknown = std::find(shape.begin() + 1, shape.end(), None) != shape.end();
    if (unknown && is_symbolic(x))  // K's transposed convolutions need the output's extents
      return defer(
          "conv_transpose", {shape, x.dtype()},
          [this, held = shared_from_this()](const Tensor& x, const Tensor&) { return convolve(x); }, x,
          kernel_);
    if (axes() == 2) return K::conv2d_transpose(x, kernel_, shape, window());
    if (axes() == 3)
      return K::conv3d_transpose(x, kernel_, shape, {args.strides, args.padding, args.data_format});
    // The sequence becomes an image of height 1.
    const int height = first_spatial_axis(args.data_format);
    Shape image = shape;
    image.insert(height, 1);
    const std::int64_t stride = args.strides.over(1)[0], rate = args.dilation_rate.over(1)[0];
    const Tensor y = K::conv2d_transpose(K::expand_dims(x, height), K::expand_dims(kernel_, 0), image,
                                         {{1, stride}, args.padding, args.data_format, {rate, rate}});
    return K::squeeze(y, height);
  }

 private:
  static TransposeArguments with_padding(const char* layer, TransposeArguments a, int axes) {
    if (a.output_padding.over(axes).empty()) return a;
    a.output_padding = expanded(layer, "output_padding", a.output_padding, axes, 0);
    const std::vector<std::int64_t> paddings = a.output_padding.over(axes),
                                    strides = expanded(layer, "strides", a.strides, axes).over(axes);
    for (std::size_t axis = 0; axis < paddings.size(); ++axis)
      if (paddings[axis] >= strides[axis])
        fail("[", layer,
             "] output_padding must be below the strides: received output_padding=", Value(a.output_padding),
             ", strides=", Value(strides));
    return a;
  }

  Shape output_shape(const Shape& input) const {
    const std::vector<std::int64_t> size = args.kernel_size.over(axes()), strides = args.strides.over(axes()),
                                    rates = args.dilation_rate.over(axes()),
                                    paddings = args.output_padding.over(axes());
    Shape shape = input;
    shape[channel_axis(args.data_format)] = args.filters;
    for (std::size_t axis = 0; axis < size.size(); ++axis) {
      std::int64_t& extent = shape[first_spatial_axis(args.data_format) + static_cast<int>(axis)];
      extent =
          transposed_extent(extent, (size[axis] - 1) * rates[axis] + 1, strides[axis], args.padding == "same",
                            paddings.empty() ? std::nullopt : std::optional(paddings[axis]));
    }
    return shape;
  }

  Variable kernel_;
};

struct Conv1DTransposeImpl final : ConvTransposeImpl {
  explicit Conv1DTransposeImpl(const TransposeArguments& arguments)
      : ConvTransposeImpl("Conv1DTranspose", arguments, 1) {}
};
struct Conv2DTransposeImpl final : ConvTransposeImpl {
  explicit Conv2DTransposeImpl(const TransposeArguments& arguments)
      : ConvTransposeImpl("Conv2DTranspose", arguments, 2) {}
};
struct Conv3DTransposeImpl final : ConvTransposeImpl {
  explicit Conv3DTransposeImpl(const TransposeArguments& arguments)
      : ConvTransposeImpl("Conv3DTranspose", arguments, 3) {}
};

// --- Depthwise ---------------------------------------------------------------------------------------------

class DepthwiseImpl : public ConvolutionalImpl<DepthwiseArguments>, public Planned {
 public:
  using ConvolutionalImpl::ConvolutionalImpl;

  void build(const Shape& input) override {
    const std::int64_t channels = channels_of(input);
    kernel_ = add_weight("kernel", kernel_shape(channels, args.depth_multiplier),
                         {.initializer = args.depthwise_initializer,
                          .regularizer = args.depthwise_regularizer,
                          .constraint = args.depthwise_constraint});
    add_bias(channels * args.depth_multiplier);
  }

  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const final {
    return plan_images(network, inputs[0], kernel_, true);
  }

 protected:
  Tensor convolve(const Tensor& x) override {
    if (axes() == 2) return K::depthwise_conv2d(x, kernel_, window());
    const int height = first_spatial_axis(args.data_format);
    const std::int64_t stride = args.strides.over(1)[0], rate = args.dilation_rate.over(1)[0];
    const Tensor y = K::depthwise_conv2d(K::expand_dims(x, height), K::expand_dims(kernel_, 0),
                                         {{stride, stride}, args.padding, args.data_format, {rate, rate}});
    return K::squeeze(y, height);
  }

 private:
  Variable kernel_;
};

struct DepthwiseConv1DImpl final : DepthwiseImpl {
  explicit DepthwiseConv1DImpl(const DepthwiseArguments& arguments)
      : DepthwiseImpl("DepthwiseConv1D", arguments, 1) {}
};
struct DepthwiseConv2DImpl final : DepthwiseImpl {
  explicit DepthwiseConv2DImpl(const DepthwiseArguments& arguments)
      : DepthwiseImpl("DepthwiseConv2D", arguments, 2) {}
};

// --- Separable ---------------------------------------------------------------------------------------------

class SeparableImpl : public ConvolutionalImpl<SeparableArguments>, public Planned {
 public:
  using ConvolutionalImpl::ConvolutionalImpl;

  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const final {
    return plan_separable(network, inputs[0], depthwise_, pointwise_);
  }

  void build(const Shape& input) override {
    const std::int64_t channels = channels_of(input);
    Shape pointwise = kernel_shape(channels * args.depth_multiplier, args.filters);
    std::fill_n(pointwise.begin(), axes(), 1);
    depthwise_ = add_weight("depthwise_kernel", kernel_shape(channels, args.depth_multiplier),
                            {.initializer = args.depthwise_initializer,
                             .regularizer = args.depthwise_regularizer,
                             .constraint = args.depthwise_constraint});
    pointwise_ = add_weight("pointwise_kernel", pointwise,
                            {.initializer = args.pointwise_initializer,
                             .regularizer = args.pointwise_regularizer,
                             .constraint = args.pointwise_constraint});
    add_bias(args.filters);
  }

 protected:
  Tensor convolve(const Tensor& x) override {
    if (axes() == 2) return K::separable_conv2d(x, depthwise_, pointwise_, window());
    if (args.padding != "causal") return K::separable_conv1d(x, depthwise_, pointwise_, window());
    K::ConvOptions valid = window();
    valid.padding = "valid";
    return K::separable_conv1d(with_causal_padding(x), depthwise_, pointwise_, valid);
  }

 private:
  /// Returns x with zeros before the first position, so that no position of the result depends on later
  /// positions of x.
  Tensor with_causal_padding(const Tensor& x) const {
    std::vector<K::PaddingPair> paddings(3, K::PaddingPair(0));
    const std::int64_t reach = (args.kernel_size.over(1)[0] - 1) * args.dilation_rate.over(1)[0];
    paddings[static_cast<std::size_t>(first_spatial_axis(args.data_format))] = {reach, 0};
    return K::pad(x, paddings);
  }

  Variable depthwise_, pointwise_;
};

struct SeparableConv1DImpl final : SeparableImpl {
  explicit SeparableConv1DImpl(const SeparableArguments& arguments)
      : SeparableImpl("SeparableConv1D", arguments, 1, true) {}
};
struct SeparableConv2DImpl final : SeparableImpl {
  explicit SeparableConv2DImpl(const SeparableArguments& arguments)
      : SeparableImpl("SeparableConv2D", arguments, 2) {}
};

}  // namespace

Conv1D::Conv1D(const ConvOptions& options) : KernelLayer(windowed<Conv1DImpl>("Conv1D", options)) {}
Conv2D::Conv2D(const ConvOptions& options) : KernelLayer(windowed<Conv2DImpl>("Conv2D", options)) {}
Conv3D::Conv3D(const ConvOptions& options) : KernelLayer(windowed<Conv3DImpl>("Conv3D", options)) {}

Conv1DTranspose::Conv1DTranspose(const ConvTransposeOptions& options)
    : KernelLayer(windowed<Conv1DTransposeImpl>("Conv1DTranspose", options)) {}
Conv2DTranspose::Conv2DTranspose(const ConvTransposeOptions& options)
    : KernelLayer(windowed<Conv2DTransposeImpl>("Conv2DTranspose", options)) {}
Conv3DTranspose::Conv3DTranspose(const ConvTransposeOptions& options)
    : KernelLayer(windowed<Conv3DTransposeImpl>("Conv3DTranspose", options)) {}

DepthwiseConv1D::DepthwiseConv1D(const DepthwiseConvOptions& options)
    : KernelLayer(std::make_shared<DepthwiseConv1DImpl>(DepthwiseArguments{
          options, internal::given("DepthwiseConv1D", "kernel_size", options.kernel_size)})) {}
DepthwiseConv2D::DepthwiseConv2D(const DepthwiseConvOptions& options)
    : KernelLayer(std::make_shared<DepthwiseConv2DImpl>(DepthwiseArguments{
          options, internal::given("DepthwiseConv2D", "kernel_size", options.kernel_size)})) {}

SeparableConv1D::SeparableConv1D(const SeparableConvOptions& options)
    : Layer(windowed<SeparableConv1DImpl>("SeparableConv1D", options)) {}
SeparableConv2D::SeparableConv2D(const SeparableConvOptions& options)
    : Layer(windowed<SeparableConv2DImpl>("SeparableConv2D", options)) {}

void add_convolution_layers(ClassRegistry& registry) {
  add_layer<Conv1DImpl, ConvArguments>(registry, "Conv1D", {"Convolution1D"});
  add_layer<Conv2DImpl, ConvArguments>(registry, "Conv2D", {"Convolution2D"});
  add_layer<Conv3DImpl, ConvArguments>(registry, "Conv3D", {"Convolution3D"});
  add_layer<Conv1DTransposeImpl, TransposeArguments>(registry, "Conv1DTranspose", {"Convolution1DTranspose"});
  add_layer<Conv2DTransposeImpl, TransposeArguments>(registry, "Conv2DTranspose", {"Convolution2DTranspose"});
  add_layer<Conv3DTransposeImpl, TransposeArguments>(registry, "Conv3DTranspose", {"Convolution3DTranspose"});
  add_layer<DepthwiseConv1DImpl, DepthwiseArguments>(registry, "DepthwiseConv1D");
  add_layer<DepthwiseConv2DImpl, DepthwiseArguments>(registry, "DepthwiseConv2D");
  add_layer<SeparableConv1DImpl, SeparableArguments>(registry, "SeparableConv1D", {"SeparableConvolution1D"});
  add_layer<SeparableConv2DImpl, SeparableArguments>(registry, "SeparableConv2D", {"SeparableConvolution2D"});
}

}  // namespace ktape::nn
