#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/nn/layers/convolutional/spatial.hpp>
#include <ktape/nn/layers/pooling/pooling.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/pooling.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(PoolingOptions& a, F&& field) {
  field("pool_size", a.pool_size);
  field("strides", a.strides);
  field("padding", a.padding);
  field("data_format", a.data_format);
}
template <class F>
void fields(GlobalPoolingOptions& a, F&& field) {
  field("data_format", a.data_format);
  field("keepdims", a.keepdims);
}

namespace {

class PoolingImpl : public LayerWith<PoolingOptions>, public Planned {
 public:
  PoolingImpl(const char* class_name, const char* mode, int axes, const PoolingOptions& arguments)
      : LayerWith(class_name, completed(class_name, arguments, axes)), mode_(mode), axes_(axes) {
    input_spec = {{.ndim = axes + 2}};
  }

  Tensor call(const Tensor& x) override {
    K::PoolOptions options{args.strides, args.padding, args.data_format, mode_};
    if (axes_ == 2) return K::pool2d(x, args.pool_size, options);
    if (axes_ == 3) return K::pool3d(x, args.pool_size, options);
    // The op needs images: a sequence becomes an image of height 1.
    const int height = first_spatial_axis(args.data_format);
    options.strides = {1, args.strides.over(1)[0]};
    const Tensor y = K::pool2d(K::expand_dims(x, height), {1, args.pool_size.over(1)[0]}, options);
    return K::squeeze(y, height);
  }

  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const final {
    if (axes_ > 2 || args.data_format != "channels_last") return {};
    return network.pooling(
        inputs[0],
        {.size = args.pool_size.over(axes_), .strides = args.strides.over(axes_), .padding = args.padding},
        std::string_view(mode_) == "max");
  }

 private:
  static PoolingOptions completed(const char* layer, PoolingOptions a, int axes) {
    a.pool_size = expanded(layer, "pool_size", a.pool_size, axes);
    a.strides = a.strides.over(axes).empty() ? a.pool_size : expanded(layer, "strides", a.strides, axes);
    a.data_format = data_format(layer, a.data_format);
    expect_padding(layer, a.padding, false);
    return a;
  }

  const char* mode_;
  int axes_;
};

class GlobalPoolingImpl : public LayerWith<GlobalPoolingOptions>, public Planned {
 public:
  GlobalPoolingImpl(const char* class_name, bool maximum, int axes, GlobalPoolingOptions options)
      : LayerWith(class_name, with_format(class_name, std::move(options))), maximum_(maximum) {
    input_spec = {{.ndim = axes + 2}};
    for (int axis = 0; axis < axes; ++axis) axes_.push_back(first_spatial_axis(args.data_format) + axis);
  }

  Tensor call(const Tensor& x, const CallArguments& arguments) override {
    if (maximum_) return K::max(x, axes_, args.keepdims);
    const bool masked = axes_.size() == 1 && !arguments.mask.empty() && arguments.mask[0].defined();
    return masked ? masked_mean(x, arguments.mask[0]) : K::mean(x, axes_, args.keepdims);
  }

  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const final {
    const auto rank = static_cast<std::size_t>(network.rank(inputs[0]));
    if (axes_.size() > 2 || rank != axes_.size() + 2 || args.data_format != "channels_last") return {};
    return network.global_pooling(inputs[0], maximum_, args.keepdims);
  }

 private:
  static GlobalPoolingOptions with_format(const char* layer, GlobalPoolingOptions options) {
    options.data_format = data_format(layer, options.data_format);
    return options;
  }

  Tensor masked_mean(const Tensor& x, const Tensor& mask) const {
    const Tensor seen = K::expand_dims(K::as_dtype(mask, "bool"), channel_axis(args.data_format));
    const Tensor count = K::sum(K::as_dtype(seen, x.dtype()), axes_, args.keepdims);
    return K::sum(K::where(seen, x, 0), axes_, args.keepdims) / K::maximum(count, 1);
  }

  bool maximum_;
  std::vector<int> axes_;
};

// --- The classes -------------------------------------------------------------------------------------------

struct MaxPooling1DImpl final : PoolingImpl {
  explicit MaxPooling1DImpl(const PoolingOptions& a) : PoolingImpl("MaxPooling1D", "max", 1, a) {}
};
struct MaxPooling2DImpl final : PoolingImpl {
  explicit MaxPooling2DImpl(const PoolingOptions& a) : PoolingImpl("MaxPooling2D", "max", 2, a) {}
};
struct MaxPooling3DImpl final : PoolingImpl {
  explicit MaxPooling3DImpl(const PoolingOptions& a) : PoolingImpl("MaxPooling3D", "max", 3, a) {}
};
struct AveragePooling1DImpl final : PoolingImpl {
  explicit AveragePooling1DImpl(const PoolingOptions& a) : PoolingImpl("AveragePooling1D", "avg", 1, a) {}
};
struct AveragePooling2DImpl final : PoolingImpl {
  explicit AveragePooling2DImpl(const PoolingOptions& a) : PoolingImpl("AveragePooling2D", "avg", 2, a) {}
};
struct AveragePooling3DImpl final : PoolingImpl {
  explicit AveragePooling3DImpl(const PoolingOptions& a) : PoolingImpl("AveragePooling3D", "avg", 3, a) {}
};

using Global = GlobalPoolingOptions;
struct GlobalMaxPooling1DImpl final : GlobalPoolingImpl {
  explicit GlobalMaxPooling1DImpl(const Global& a) : GlobalPoolingImpl("GlobalMaxPooling1D", true, 1, a) {}
};
struct GlobalMaxPooling2DImpl final : GlobalPoolingImpl {
  explicit GlobalMaxPooling2DImpl(const Global& a) : GlobalPoolingImpl("GlobalMaxPooling2D", true, 2, a) {}
};
struct GlobalMaxPooling3DImpl final : GlobalPoolingImpl {
  explicit GlobalMaxPooling3DImpl(const Global& a) : GlobalPoolingImpl("GlobalMaxPooling3D", true, 3, a) {}
};
struct GlobalAveragePooling1DImpl final : GlobalPoolingImpl {
  explicit GlobalAveragePooling1DImpl(const Global& a)
      : GlobalPoolingImpl("GlobalAveragePooling1D", false, 1, a) {}
};
struct GlobalAveragePooling2DImpl final : GlobalPoolingImpl {
  explicit GlobalAveragePooling2DImpl(const Global& a)
      : GlobalPoolingImpl("GlobalAveragePooling2D", false, 2, a) {}
};
struct GlobalAveragePooling3DImpl final : GlobalPoolingImpl {
  explicit GlobalAveragePooling3DImpl(const Global& a)
      : GlobalPoolingImpl("GlobalAveragePooling3D", false, 3, a) {}
};

}  // namespace

MaxPooling1D::MaxPooling1D(const PoolingOptions& options)
    : Layer(std::make_shared<MaxPooling1DImpl>(options)) {}
MaxPooling2D::MaxPooling2D(const PoolingOptions& options)
    : Layer(std::make_shared<MaxPooling2DImpl>(options)) {}
MaxPooling3D::MaxPooling3D(const PoolingOptions& options)
    : Layer(std::make_shared<MaxPooling3DImpl>(options)) {}
AveragePooling1D::AveragePooling1D(const PoolingOptions& options)
    : Layer(std::make_shared<AveragePooling1DImpl>(options)) {}
AveragePooling2D::AveragePooling2D(const PoolingOptions& options)
    : Layer(std::make_shared<AveragePooling2DImpl>(options)) {}
AveragePooling3D::AveragePooling3D(const PoolingOptions& options)
    : Layer(std::make_shared<AveragePooling3DImpl>(options)) {}

GlobalMaxPooling1D::GlobalMaxPooling1D(const GlobalPoolingOptions& options)
    : Layer(std::make_shared<GlobalMaxPooling1DImpl>(options)) {}
GlobalMaxPooling2D::GlobalMaxPooling2D(const GlobalPoolingOptions& options)
    : Layer(std::make_shared<GlobalMaxPooling2DImpl>(options)) {}
GlobalMaxPooling3D::GlobalMaxPooling3D(const GlobalPoolingOptions& options)
    : Layer(std::make_shared<GlobalMaxPooling3DImpl>(options)) {}
GlobalAveragePooling1D::GlobalAveragePooling1D(const GlobalPoolingOptions& options)
    : Layer(std::make_shared<GlobalAveragePooling1DImpl>(options)) {}
GlobalAveragePooling2D::GlobalAveragePooling2D(const GlobalPoolingOptions& options)
    : Layer(std::make_shared<GlobalAveragePooling2DImpl>(options)) {}
GlobalAveragePooling3D::GlobalAveragePooling3D(const GlobalPoolingOptions& options)
    : Layer(std::make_shared<GlobalAveragePooling3DImpl>(options)) {}

void add_pooling_layers(ClassRegistry& registry) {
  add_layer<MaxPooling1DImpl, PoolingOptions>(registry, "MaxPooling1D", {"MaxPool1D"});
  add_layer<MaxPooling2DImpl, PoolingOptions>(registry, "MaxPooling2D", {"MaxPool2D"});
  add_layer<MaxPooling3DImpl, PoolingOptions>(registry, "MaxPooling3D", {"MaxPool3D"});
  add_layer<AveragePooling1DImpl, PoolingOptions>(registry, "AveragePooling1D", {"AvgPool1D"});
  add_layer<AveragePooling2DImpl, PoolingOptions>(registry, "AveragePooling2D", {"AvgPool2D"});
  add_layer<AveragePooling3DImpl, PoolingOptions>(registry, "AveragePooling3D", {"AvgPool3D"});
  add_layer<GlobalMaxPooling1DImpl, Global>(registry, "GlobalMaxPooling1D", {"GlobalMaxPool1D"});
  add_layer<GlobalMaxPooling2DImpl, Global>(registry, "GlobalMaxPooling2D", {"GlobalMaxPool2D"});
  add_layer<GlobalMaxPooling3DImpl, Global>(registry, "GlobalMaxPooling3D", {"GlobalMaxPool3D"});
  add_layer<GlobalAveragePooling1DImpl, Global>(registry, "GlobalAveragePooling1D", {"GlobalAvgPool1D"});
  add_layer<GlobalAveragePooling2DImpl, Global>(registry, "GlobalAveragePooling2D", {"GlobalAvgPool2D"});
  add_layer<GlobalAveragePooling3DImpl, Global>(registry, "GlobalAveragePooling3D", {"GlobalAvgPool3D"});
}

}  // namespace ktape::nn
