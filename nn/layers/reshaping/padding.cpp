#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/nn/layers/base/without_arguments.hpp>
#include <ktape/nn/layers/convolutional/spatial.hpp>
#include <ktape/nn/layers/reshaping/padding.hpp>
#include <ktape/ops/images/images.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(ZeroPadding1DOptions& a, F&& field) {
  field("padding", a.padding);
  field("data_format", a.data_format);
}
template <class F>
void fields(ZeroPaddingOptions& a, F&& field) {
  field("padding", a.padding);
  field("data_format", a.data_format);
}
template <class F>
void fields(Cropping1DOptions& a, F&& field) {
  field("cropping", a.cropping);
  field("data_format", a.data_format);
}
template <class F>
void fields(Cropping2DOptions& a, F&& field) {
  field("cropping", a.cropping);
  field("data_format", a.data_format);
}
template <class F>
void fields(Cropping3DOptions& a, F&& field) {
  field("cropping", a.cropping);
  field("data_format", a.data_format);
}
template <class F>
void fields(UpSampling1DOptions& a, F&& field) {
  field("size", a.size);
}
template <class F>
void fields(UpSampling2DOptions& a, F&& field) {
  field("size", a.size);
  field("data_format", a.data_format);
  field("interpolation", a.interpolation);
}
template <class F>
void fields(UpSampling3DOptions& a, F&& field) {
  field("size", a.size);
  field("data_format", a.data_format);
}

namespace {

/// Returns a pair (before, after) for each spatial axis. Throws ValueError for a wrong number of pairs and
/// for negative numbers.
std::vector<PaddingPair> pairs_of(const char* layer, const char* argument, const PerAxis<PaddingPair>& given,
                                  int axes) {
  const std::vector<PaddingPair> pairs = given.over(axes);
  if (pairs.size() != static_cast<std::size_t>(axes))
    fail("[", layer, "] ", argument, " must be one number or pair, or one for each of the ", axes,
         " spatial axes: received ", argument, '=', Value(pairs));
  for (const PaddingPair& pair : pairs)
    expect_at_least(layer, argument, std::min(pair.before, pair.after), std::int64_t{0});
  return pairs;
}
std::vector<PaddingPair> pairs_of(const char* layer, const char* argument, const PaddingPair& given, int) {
  return pairs_of(layer, argument, PerAxis<PaddingPair>(given), 1);
}

// --- Borders -----------------------------------------------------------------------------------------------

PaddingPair canonical_pairs(const char* layer, const char* argument, const PaddingPair& given, int) {
  return pairs_of(layer, argument, PerAxis<PaddingPair>(given), 1)[0];
}
PerAxis<PaddingPair> canonical_pairs(const char* layer, const char* argument,
                                     const PerAxis<PaddingPair>& given, int axes) {
  return pairs_of(layer, argument, given, axes);
}

/// Returns the arguments as written in a config, with a pair for each axis and a known data format.
template <class Arguments>
Arguments canonical(const char* layer, Arguments arguments, int axes) {
  if constexpr (requires { arguments.padding; })
    arguments.padding = canonical_pairs(layer, "padding", arguments.padding, axes);
  else arguments.cropping = canonical_pairs(layer, "cropping", arguments.cropping, axes);
  arguments.data_format = data_format(layer, arguments.data_format);
  return arguments;
}

template <class Arguments>
class ZeroPaddingImpl : public LayerWith<Arguments>, public Planned {
 public:
  ZeroPaddingImpl(const char* class_name, int axes, const Arguments& arguments)
      : LayerWith<Arguments>(class_name, canonical(class_name, arguments, axes)),
        pairs_(static_cast<std::size_t>(first_spatial_axis(this->args.data_format)), 0) {
    const std::vector<PaddingPair> spatial = pairs_of(class_name, "padding", this->args.padding, axes);
    pairs_.insert(pairs_.end(), spatial.begin(), spatial.end());
    pairs_.resize(static_cast<std::size_t>(axes) + 2, 0);
    this->input_spec = {{.ndim = axes + 2}};
  }
  Tensor call(const Tensor& x) override { return K::pad(x, pairs_); }
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const final {
    if (pairs_.size() != 4 || this->args.data_format != "channels_last") return {};
    return network.padding(inputs[0], {pairs_[1].before, pairs_[2].before},
                           {pairs_[1].after, pairs_[2].after});
  }

 private:
  std::vector<PaddingPair> pairs_;  ///< the padding before and after the elements of each axis
};

template <class Arguments>
class CroppingImpl : public LayerWith<Arguments> {
 public:
  CroppingImpl(const char* class_name, int axes, const Arguments& arguments)
      : LayerWith<Arguments>(class_name, canonical(class_name, arguments, axes)),
        pairs_(pairs_of(class_name, "cropping", this->args.cropping, axes)) {
    this->input_spec = {{.ndim = axes + 2}};
  }

  Tensor call(const Tensor& x) override {
    std::vector<Index> block(static_cast<std::size_t>(first_spatial_axis(this->args.data_format)), All);
    for (const PaddingPair& crop : pairs_) {
      const std::int64_t extent = x.shape()[static_cast<int>(block.size())];
      if (extent != None && crop.before >= extent - crop.after)
        fail("[", this->name(), "] the cropping must leave something: received shape=", x.shape(),
             ", cropping=", Value(pairs_));
      block.push_back(Slice(crop.before, crop.after > 0 ? Slice::Bound(-crop.after) : Slice::Bound(None)));
    }
    return x[Indices(block)];
  }

 private:
  std::vector<PaddingPair> pairs_;
};

struct ZeroPadding1DImpl final : ZeroPaddingImpl<ZeroPadding1DOptions> {
  explicit ZeroPadding1DImpl(const ZeroPadding1DOptions& a) : ZeroPaddingImpl("ZeroPadding1D", 1, a) {}
};
struct ZeroPadding2DImpl final : ZeroPaddingImpl<ZeroPaddingOptions> {
  explicit ZeroPadding2DImpl(const ZeroPaddingOptions& a) : ZeroPaddingImpl("ZeroPadding2D", 2, a) {}
};
struct ZeroPadding3DImpl final : ZeroPaddingImpl<ZeroPaddingOptions> {
  explicit ZeroPadding3DImpl(const ZeroPaddingOptions& a) : ZeroPaddingImpl("ZeroPadding3D", 3, a) {}
};
struct Cropping1DImpl final : CroppingImpl<Cropping1DOptions> {
  explicit Cropping1DImpl(const Cropping1DOptions& a) : CroppingImpl("Cropping1D", 1, with_format(a)) {}

  /// Returns the config without `data_format`, which Keras's Cropping1D does not have: the channels are
  /// always last.
  Value to_value() const override {
    if (args.data_format != "channels_last") return CroppingImpl::to_value();
    return without_arguments(CroppingImpl::to_value(), {"data_format"});
  }

 private:
  static Cropping1DOptions with_format(Cropping1DOptions a) {
    if (a.data_format.empty()) a.data_format = "channels_last";
    return a;
  }
};
struct Cropping2DImpl final : CroppingImpl<Cropping2DOptions> {
  explicit Cropping2DImpl(const Cropping2DOptions& a) : CroppingImpl("Cropping2D", 2, a) {}
};
struct Cropping3DImpl final : CroppingImpl<Cropping3DOptions> {
  explicit Cropping3DImpl(const Cropping3DOptions& a) : CroppingImpl("Cropping3D", 3, a) {}
};

// --- Repetition --------------------------------------------------------------------------------------------

class UpSampling1DImpl final : public LayerWith<UpSampling1DOptions> {
 public:
  explicit UpSampling1DImpl(const UpSampling1DOptions& arguments) : LayerWith("UpSampling1D", arguments) {
    expect_at_least<std::int64_t>("UpSampling1D", "size", args.size, 1);
    input_spec = {{.ndim = 3}};
  }
  Tensor call(const Tensor& x) override { return K::repeat_elements(x, args.size, 1); }
};

template <class Arguments>
Arguments upsampling(const char* layer, Arguments a, int axes) {
  a.size = expanded(layer, "size", a.size, axes);
  a.data_format = data_format(layer, a.data_format);
  return a;
}

class UpSampling2DImpl final : public LayerWith<UpSampling2DOptions> {
 public:
  explicit UpSampling2DImpl(const UpSampling2DOptions& arguments)
      : LayerWith("UpSampling2D", upsampling("UpSampling2D", arguments, 2)) {
    if (args.interpolation != "nearest" && args.interpolation != "bilinear")
      fail("[UpSampling2D] interpolation must be \"nearest\" or \"bilinear\": received interpolation=\"",
           args.interpolation, '"');
    input_spec = {{.ndim = 4}};
  }
  Tensor call(const Tensor& x) override {
    const std::vector<std::int64_t> size = args.size.over(2);
    return K::resize_images(x, size[0], size[1], args.data_format, {args.interpolation});
  }
};

class UpSampling3DImpl final : public LayerWith<UpSampling3DOptions> {
 public:
  explicit UpSampling3DImpl(const UpSampling3DOptions& arguments)
      : LayerWith("UpSampling3D", upsampling("UpSampling3D", arguments, 3)) {
    input_spec = {{.ndim = 5}};
  }
  Tensor call(const Tensor& x) override {
    const std::vector<std::int64_t> size = args.size.over(3);
    return K::resize_volumes(x, size[0], size[1], size[2], args.data_format);
  }
};

}  // namespace

ZeroPadding1D::ZeroPadding1D(const ZeroPadding1DOptions& options)
    : Layer(std::make_shared<ZeroPadding1DImpl>(options)) {}
ZeroPadding2D::ZeroPadding2D(const ZeroPaddingOptions& options)
    : Layer(std::make_shared<ZeroPadding2DImpl>(options)) {}
ZeroPadding3D::ZeroPadding3D(const ZeroPaddingOptions& options)
    : Layer(std::make_shared<ZeroPadding3DImpl>(options)) {}
Cropping1D::Cropping1D(const Cropping1DOptions& options) : Layer(std::make_shared<Cropping1DImpl>(options)) {}
Cropping2D::Cropping2D(const Cropping2DOptions& options) : Layer(std::make_shared<Cropping2DImpl>(options)) {}
Cropping3D::Cropping3D(const Cropping3DOptions& options) : Layer(std::make_shared<Cropping3DImpl>(options)) {}
UpSampling1D::UpSampling1D(const UpSampling1DOptions& options)
    : Layer(std::make_shared<UpSampling1DImpl>(options)) {}
UpSampling2D::UpSampling2D(const UpSampling2DOptions& options)
    : Layer(std::make_shared<UpSampling2DImpl>(options)) {}
UpSampling3D::UpSampling3D(const UpSampling3DOptions& options)
    : Layer(std::make_shared<UpSampling3DImpl>(options)) {}

void add_padding_layers(ClassRegistry& registry) {
  add_layer<ZeroPadding1DImpl, ZeroPadding1DOptions>(registry, "ZeroPadding1D");
  add_layer<ZeroPadding2DImpl, ZeroPaddingOptions>(registry, "ZeroPadding2D");
  add_layer<ZeroPadding3DImpl, ZeroPaddingOptions>(registry, "ZeroPadding3D");
  add_layer<Cropping1DImpl, Cropping1DOptions>(registry, "Cropping1D");
  add_layer<Cropping2DImpl, Cropping2DOptions>(registry, "Cropping2D");
  add_layer<Cropping3DImpl, Cropping3DOptions>(registry, "Cropping3D");
  add_layer<UpSampling1DImpl, UpSampling1DOptions>(registry, "UpSampling1D");
  add_layer<UpSampling2DImpl, UpSampling2DOptions>(registry, "UpSampling2D");
  add_layer<UpSampling3DImpl, UpSampling3DOptions>(registry, "UpSampling3D");
}

}  // namespace ktape::nn
