#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/nn/layers/base/without_arguments.hpp>
#include <ktape/nn/layers/convolutional/spatial.hpp>
#include <ktape/nn/layers/reshaping/padding.hpp>
#include <ktape/ops/images/images.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn {
namespace K = backend;

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

/// The arguments of zero padding. Pairs is a PaddingPair for sequences, and a PerAxis of pairs for images and
/// volumes.
template <class Pairs>
struct ZeroPaddingArguments : SpatialOptions {
  Pairs padding = 1;
};
template <class Pairs>
struct CroppingArguments : SpatialOptions {
  Pairs cropping = 1;
};

template <class Pairs, class F>
void fields(ZeroPaddingArguments<Pairs>& a, F&& field) {
  field("padding", a.padding);
  field("data_format", a.data_format);
}
template <class Pairs, class F>
void fields(CroppingArguments<Pairs>& a, F&& field) {
  field("cropping", a.cropping);
  field("data_format", a.data_format);
}

PaddingPair canonical_pairs(const char* layer, const char* argument, const PaddingPair& given, int) {
  return pairs_of(layer, argument, PerAxis<PaddingPair>(given), 1)[0];
}
PerAxis<PaddingPair> canonical_pairs(const char* layer, const char* argument,
                                     const PerAxis<PaddingPair>& given, int axes) {
  return pairs_of(layer, argument, given, axes);
}

/// Returns the arguments as written in a config, with a pair for each axis and a known data format.
template <class Pairs>
ZeroPaddingArguments<Pairs> canonical(const char* layer, ZeroPaddingArguments<Pairs> arguments, int axes) {
  arguments.padding = canonical_pairs(layer, "padding", arguments.padding, axes);
  arguments.data_format = data_format(layer, arguments.data_format);
  return arguments;
}
template <class Pairs>
CroppingArguments<Pairs> canonical(const char* layer, CroppingArguments<Pairs> arguments, int axes) {
  arguments.cropping = canonical_pairs(layer, "cropping", arguments.cropping, axes);
  arguments.data_format = data_format(layer, arguments.data_format);
  return arguments;
}

template <class Pairs>
class ZeroPaddingImpl : public LayerWith<ZeroPaddingArguments<Pairs>>, public Planned {
 public:
  using Arguments = ZeroPaddingArguments<Pairs>;
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

template <class Pairs>
class CroppingImpl : public LayerWith<CroppingArguments<Pairs>> {
 public:
  using Arguments = CroppingArguments<Pairs>;
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

using PadSteps = ZeroPaddingArguments<PaddingPair>;
using PadAxes = ZeroPaddingArguments<PerAxis<PaddingPair>>;
using CropSteps = CroppingArguments<PaddingPair>;
using CropAxes = CroppingArguments<PerAxis<PaddingPair>>;

struct ZeroPadding1DImpl final : ZeroPaddingImpl<PaddingPair> {
  explicit ZeroPadding1DImpl(const PadSteps& a) : ZeroPaddingImpl("ZeroPadding1D", 1, a) {}
};
struct ZeroPadding2DImpl final : ZeroPaddingImpl<PerAxis<PaddingPair>> {
  explicit ZeroPadding2DImpl(const PadAxes& a) : ZeroPaddingImpl("ZeroPadding2D", 2, a) {}
};
struct ZeroPadding3DImpl final : ZeroPaddingImpl<PerAxis<PaddingPair>> {
  explicit ZeroPadding3DImpl(const PadAxes& a) : ZeroPaddingImpl("ZeroPadding3D", 3, a) {}
};
struct Cropping1DImpl final : CroppingImpl<PaddingPair> {
  explicit Cropping1DImpl(const CropSteps& a) : CroppingImpl("Cropping1D", 1, with_format(a)) {}

  /// Returns the config without `data_format`, which Keras's Cropping1D does not have: the channels are
  /// always last.
  Value to_value() const override {
    if (args.data_format != "channels_last") return CroppingImpl::to_value();
    return without_arguments(CroppingImpl::to_value(), {"data_format"});
  }

 private:
  static CropSteps with_format(CropSteps a) {
    if (a.data_format.empty()) a.data_format = "channels_last";
    return a;
  }
};
struct Cropping2DImpl final : CroppingImpl<PerAxis<PaddingPair>> {
  explicit Cropping2DImpl(const CropAxes& a) : CroppingImpl("Cropping2D", 2, a) {}
};
struct Cropping3DImpl final : CroppingImpl<PerAxis<PaddingPair>> {
  explicit Cropping3DImpl(const CropAxes& a) : CroppingImpl("Cropping3D", 3, a) {}
};

// --- Repetition --------------------------------------------------------------------------------------------

struct UpSampling1DArguments : LayerOptions {
  std::int64_t size = 2;
};
struct UpSampling2DArguments : UpSamplingOptions {
  PerAxis<std::int64_t> size = 2;
};
struct UpSampling3DArguments : SpatialOptions {
  PerAxis<std::int64_t> size = 2;
};

template <class F>
void fields(UpSampling1DArguments& a, F&& field) {
  field("size", a.size);
}
template <class F>
void fields(UpSampling2DArguments& a, F&& field) {
  field("size", a.size);
  field("data_format", a.data_format);
  field("interpolation", a.interpolation);
}
template <class F>
void fields(UpSampling3DArguments& a, F&& field) {
  field("size", a.size);
  field("data_format", a.data_format);
}

class UpSampling1DImpl final : public LayerWith<UpSampling1DArguments> {
 public:
  explicit UpSampling1DImpl(const UpSampling1DArguments& arguments) : LayerWith("UpSampling1D", arguments) {
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

class UpSampling2DImpl final : public LayerWith<UpSampling2DArguments> {
 public:
  explicit UpSampling2DImpl(const UpSampling2DArguments& arguments)
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

class UpSampling3DImpl final : public LayerWith<UpSampling3DArguments> {
 public:
  explicit UpSampling3DImpl(const UpSampling3DArguments& arguments)
      : LayerWith("UpSampling3D", upsampling("UpSampling3D", arguments, 3)) {
    input_spec = {{.ndim = 5}};
  }
  Tensor call(const Tensor& x) override {
    const std::vector<std::int64_t> size = args.size.over(3);
    return K::resize_volumes(x, size[0], size[1], size[2], args.data_format);
  }
};

}  // namespace

ZeroPadding1D::ZeroPadding1D(const PaddingPair& padding, const SpatialOptions& options)
    : Layer(std::make_shared<ZeroPadding1DImpl>(PadSteps{options, padding})) {}
ZeroPadding2D::ZeroPadding2D(const PerAxis<PaddingPair>& padding, const SpatialOptions& options)
    : Layer(std::make_shared<ZeroPadding2DImpl>(PadAxes{options, padding})) {}
ZeroPadding3D::ZeroPadding3D(const PerAxis<PaddingPair>& padding, const SpatialOptions& options)
    : Layer(std::make_shared<ZeroPadding3DImpl>(PadAxes{options, padding})) {}

Cropping1D::Cropping1D(const PaddingPair& cropping, const SpatialOptions& options)
    : Layer(std::make_shared<Cropping1DImpl>(CropSteps{options, cropping})) {}
Cropping2D::Cropping2D(const PerAxis<PaddingPair>& cropping, const SpatialOptions& options)
    : Layer(std::make_shared<Cropping2DImpl>(CropAxes{options, cropping})) {}
Cropping3D::Cropping3D(const PerAxis<PaddingPair>& cropping, const SpatialOptions& options)
    : Layer(std::make_shared<Cropping3DImpl>(CropAxes{options, cropping})) {}

UpSampling1D::UpSampling1D(std::int64_t size, const LayerOptions& options)
    : Layer(std::make_shared<UpSampling1DImpl>(UpSampling1DArguments{options, size})) {}
UpSampling2D::UpSampling2D(const PerAxis<std::int64_t>& size, const UpSamplingOptions& options)
    : Layer(std::make_shared<UpSampling2DImpl>(UpSampling2DArguments{options, size})) {}
UpSampling3D::UpSampling3D(const PerAxis<std::int64_t>& size, const SpatialOptions& options)
    : Layer(std::make_shared<UpSampling3DImpl>(UpSampling3DArguments{options, size})) {}

void add_padding_layers(ClassRegistry& registry) {
  add_layer<ZeroPadding1DImpl, PadSteps>(registry, "ZeroPadding1D");
  add_layer<ZeroPadding2DImpl, PadAxes>(registry, "ZeroPadding2D");
  add_layer<ZeroPadding3DImpl, PadAxes>(registry, "ZeroPadding3D");
  add_layer<Cropping1DImpl, CropSteps>(registry, "Cropping1D");
  add_layer<Cropping2DImpl, CropAxes>(registry, "Cropping2D");
  add_layer<Cropping3DImpl, CropAxes>(registry, "Cropping3D");
  add_layer<UpSampling1DImpl, UpSampling1DArguments>(registry, "UpSampling1D");
  add_layer<UpSampling2DImpl, UpSampling2DArguments>(registry, "UpSampling2D");
  add_layer<UpSampling3DImpl, UpSampling3DArguments>(registry, "UpSampling3D");
}

}  // namespace ktape::nn
