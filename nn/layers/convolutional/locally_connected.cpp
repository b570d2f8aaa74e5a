#include <ktape/nn/layers/convolutional/locally_connected.hpp>
#include <ktape/nn/layers/convolutional/spatial.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/convolution.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn {
namespace K = backend;

namespace {

struct LocallyConnectedArguments : LocallyConnectedOptions {
  std::int64_t filters = 1;
  PerAxis<std::int64_t> kernel_size = 1;
};

template <class F>
void fields(LocallyConnectedArguments& a, F&& field) {
  field("filters", a.filters);
  field("kernel_size", a.kernel_size);
  field("strides", a.strides);
  field("padding", a.padding);
  field("data_format", a.data_format);
  field("activation", a.activation);
  field("use_bias", a.use_bias);
  field("kernel_initializer", a.kernel_initializer);
  field("bias_initializer", a.bias_initializer);
  field("kernel_regularizer", a.kernel_regularizer);
  field("bias_regularizer", a.bias_regularizer);
  field("activity_regularizer", a.activity_regularizer);
  field("kernel_constraint", a.kernel_constraint);
  field("bias_constraint", a.bias_constraint);
  field("implementation", a.implementation);
}

class LocallyConnectedImpl : public LayerWith<LocallyConnectedArguments> {
 public:
  LocallyConnectedImpl(const char* class_name, int axes, const LocallyConnectedArguments& arguments)
      : LayerWith(class_name, completed(class_name, axes, arguments)), axes_(axes) {
    activity_regularizer = args.activity_regularizer;
    input_spec = {{.ndim = axes + 2}};
  }

  void build(const Shape& input) override {
    const std::vector<std::int64_t> size = args.kernel_size.over(axes_), strides = args.strides.over(axes_);
    std::int64_t patch = known_channels(name(), input, args.data_format);
    positions_ = Shape();
    for (int axis = 0; axis < axes_; ++axis) {
      const auto at = static_cast<std::size_t>(axis);
      const std::int64_t extent = input[first_spatial_axis(args.data_format) + axis];
      if (extent == None || extent < size[at])
        fail("[", name(), "] the spatial extents must be known and hold a window: received shape=", input,
             ", kernel_size=", Value(args.kernel_size));
      positions_.push_back((extent - size[at]) / strides[at] + 1);
      patch *= size[at];
    }
    kernel_ = add_weight("kernel", {positions_.count(), patch, args.filters},
                         {.initializer = args.kernel_initializer,
                          .regularizer = args.kernel_regularizer,
                          .constraint = args.kernel_constraint});
    if (!args.use_bias) return;
    Shape bias = positions_;
    bias.push_back(args.filters);
    bias_ = add_weight("bias", bias,
                       {.initializer = args.bias_initializer,
                        .regularizer = args.bias_regularizer,
                        .constraint = args.bias_constraint});
  }

  Tensor call(const Tensor& x) override {
    const K::LocalConvOptions options{args.data_format};
    const Tensor z = K::as_dtype(x, this->compute_dtype());
    Tensor y = axes_ == 1 ? K::local_conv1d(z, kernel_, args.kernel_size, args.strides, options)
                          : K::local_conv2d(z, kernel_, args.kernel_size, args.strides, positions_, options);
    if (args.use_bias) y = y + bias();
    return args.activation(y);
  }

 private:
  static LocallyConnectedArguments completed(const char* layer, int axes, LocallyConnectedArguments a) {
    a.kernel_size = expanded(layer, "kernel_size", a.kernel_size, axes);
    a.strides = expanded(layer, "strides", a.strides, axes);
    a.data_format = data_format(layer, a.data_format);
    expect_at_least<std::int64_t>(layer, "filters", a.filters, 1);
    if (a.padding != "valid")
      fail("[", layer, "] padding must be \"valid\": received padding=\"", a.padding, '"');
    return a;
  }

  /// Returns the bias with the axes in the order of the data format.
  Tensor bias() const {
    if (args.data_format == "channels_last") return bias_;
    Shape channels_first{axes_};
    for (int axis = 0; axis < axes_; ++axis) channels_first.push_back(axis);
    return K::permute_dimensions(bias_, channels_first);
  }

  int axes_;
  Shape positions_;
  Variable kernel_, bias_;
};

struct LocallyConnected1DImpl final : LocallyConnectedImpl {
  explicit LocallyConnected1DImpl(const LocallyConnectedArguments& a)
      : LocallyConnectedImpl("LocallyConnected1D", 1, a) {}
};
struct LocallyConnected2DImpl final : LocallyConnectedImpl {
  explicit LocallyConnected2DImpl(const LocallyConnectedArguments& a)
      : LocallyConnectedImpl("LocallyConnected2D", 2, a) {}
};

}  // namespace

LocallyConnected1D::LocallyConnected1D(const LocallyConnectedOptions& options)
    : KernelLayer(std::make_shared<LocallyConnected1DImpl>(LocallyConnectedArguments{
          options, internal::given("LocallyConnected1D", "filters", options.filters),
          internal::given("LocallyConnected1D", "kernel_size", options.kernel_size)})) {}
LocallyConnected2D::LocallyConnected2D(const LocallyConnectedOptions& options)
    : KernelLayer(std::make_shared<LocallyConnected2DImpl>(LocallyConnectedArguments{
          options, internal::given("LocallyConnected2D", "filters", options.filters),
          internal::given("LocallyConnected2D", "kernel_size", options.kernel_size)})) {}

void add_locally_connected_layers(ClassRegistry& registry) {
  add_layer<LocallyConnected1DImpl, LocallyConnectedArguments>(registry, "LocallyConnected1D");
  add_layer<LocallyConnected2DImpl, LocallyConnectedArguments>(registry, "LocallyConnected2D");
}

}  // namespace ktape::nn
