#include <ktape/autograd/defer.hpp>
#include <ktape/nn/layers/base/without_arguments.hpp>
#include <ktape/nn/layers/preprocessing/image.hpp>
#include <ktape/nn/layers/preprocessing/internal/pictures.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::nn {
namespace K = backend;

// --- Windows -----------------------------------------------------------------------------------------------

Shape with_size(Shape shape, const ImageAxes& axes, std::int64_t height, std::int64_t width) {
  shape[axes.height] = height;
  shape[axes.width] = width;
  return shape;
}

Tensor window(const Tensor& x, const ImageAxes& axes, std::int64_t top, std::int64_t left,
              std::int64_t height, std::int64_t width) {
  std::vector<Index> block(static_cast<std::size_t>(axes.height), All);
  block.push_back(Slice(top, top + height));
  block.push_back(Slice(left, left + width));
  return x[Indices(block)];
}

namespace {

/// Returns n * numerator / denominator, rounded down.
std::int64_t in_ratio(std::int64_t n, std::int64_t numerator, std::int64_t denominator) {
  return static_cast<std::int64_t>(static_cast<double>(n) * static_cast<double>(numerator) /
                                   static_cast<double>(denominator));
}

Tensor resized(const Tensor& x, const ImageAxes& axes, std::int64_t height, std::int64_t width,
               const std::string& interpolation, bool antialias) {
  return op_helpers::resampled(x, {axes.height, axes.width}, {height, width}, interpolation, antialias);
}

}  // namespace

Tensor cropped_to_ratio(const Tensor& x, const ImageAxes& axes, std::int64_t height, std::int64_t width,
                        const std::string& interpolation, bool antialias) {
  const std::int64_t h = x.shape()[axes.height], w = x.shape()[axes.width];
  const std::int64_t rows = std::max<std::int64_t>(std::min(h, in_ratio(w, height, width)), 1),
                     columns = std::max<std::int64_t>(std::min(w, in_ratio(h, width, height)), 1);
  const Tensor middle = window(x, axes, (h - rows) / 2, (w - columns) / 2, rows, columns);
  return resized(middle, axes, height, width, interpolation, antialias);
}

namespace {

// --- Resizing ----------------------------------------------------------------------------------------------

struct ResizingArguments : ResizingOptions {
  std::int64_t height = 0, width = 0;
};
struct CenterCropArguments : CenterCropOptions {
  std::int64_t height = 0, width = 0;
};

template <class F>
void fields(ResizingArguments& a, F&& field) {
  field("height", a.height);
  field("width", a.width);
  field("interpolation", a.interpolation);
  field("crop_to_aspect_ratio", a.crop_to_aspect_ratio);
  field("pad_to_aspect_ratio", a.pad_to_aspect_ratio);
  field("fill_mode", a.fill_mode);
  field("fill_value", a.fill_value);
  field("antialias", a.antialias);
  field("data_format", a.data_format);
}
template <class F>
void fields(CenterCropArguments& a, F&& field) {
  field("height", a.height);
  field("width", a.width);
  field("data_format", a.data_format);
}

/// A base class of layers that resize images to a fixed height and width, in `result_dtype`.
template <class Arguments>
class SizedImpl : public LayerWith<Arguments> {
 public:
  SizedImpl(const char* class_name, const Arguments& arguments)
      : LayerWith<Arguments>(class_name, canonical(class_name, arguments)) {
    this->input_spec = image_spec();
  }

  Tensor call(const Tensor& x) final {
    const ImageAxes axes(x.ndim(), this->args.data_format);
    for (const int axis : {axes.height, axes.width})
      if (x.shape()[axis] == 0)
        fail("[", this->name(), "] the images must have pixels: received shape=", x.shape());
    if (!is_symbolic(x)) return with_mask(sized(x, axes), Tensor());
    const OutputInfo result{with_size(x.shape(), axes, this->args.height, this->args.width), result_dtype(x)};
    check_extents("resize", result.shape, result.dtype.size(), true);
    return defer(
        "resize", result,
        [self = this->shared_from_this()](const Tensor& given) { return self->call(given); }, x);
  }

 protected:
  virtual Tensor sized(const Tensor& x, const ImageAxes& axes) const = 0;
  virtual DType result_dtype(const Tensor& x) const = 0;

 private:
  static Arguments canonical(const char* layer, Arguments a) {
    expect_count(layer, "height", a.height);
    expect_count(layer, "width", a.width);
    a.data_format = data_format(layer, a.data_format);
    return a;
  }
};

class ResizingImpl final : public SizedImpl<ResizingArguments> {
 public:
  explicit ResizingImpl(const ResizingArguments& arguments) : SizedImpl("Resizing", arguments) {
    op_helpers::expect_interpolation("Resizing", args.interpolation);
    if (args.crop_to_aspect_ratio && args.pad_to_aspect_ratio)
      fail("[Resizing] crop_to_aspect_ratio and pad_to_aspect_ratio must not both be set: received both");
    if (args.fill_mode != "constant")
      fail("[Resizing] fill_mode must be \"constant\": received fill_mode=\"", args.fill_mode, '"');
  }

  /// Returns the config, without `antialias` if the option is false: older releases of Keras do not know
  /// `antialias`.
  Value to_value() const override {
    return args.antialias ? SizedImpl::to_value() : without_arguments(SizedImpl::to_value(), {"antialias"});
  }

 protected:
  DType result_dtype(const Tensor& x) const override { return x.dtype(); }
  Tensor sized(const Tensor& x, const ImageAxes& axes) const override {
    if (x.dtype().is_floating()) return scaled(x, axes);
    return K::as_dtype(K::round(scaled(K::as_dtype(x, DType::Float64), axes)), x.dtype());
  }

 private:
  Tensor scaled(const Tensor& x, const ImageAxes& axes) const {
    if (args.crop_to_aspect_ratio)
      return cropped_to_ratio(x, axes, args.height, args.width, args.interpolation, args.antialias);
    return resized(args.pad_to_aspect_ratio ? padded(x, axes) : x, axes, args.height, args.width,
                   args.interpolation, args.antialias);
  }
  Tensor padded(const Tensor& x, const ImageAxes& axes) const {
    const std::int64_t h = x.shape()[axes.height], w = x.shape()[axes.width];
    const std::int64_t above = std::max<std::int64_t>(in_ratio(w, args.height, args.width) - h, 0) / 2,
                       beside = std::max<std::int64_t>(in_ratio(h, args.width, args.height) - w, 0) / 2;
    std::vector<K::PaddingPair> borders(static_cast<std::size_t>(x.ndim()), 0);
    borders[static_cast<std::size_t>(axes.height)] = above;
    borders[static_cast<std::size_t>(axes.width)] = beside;
    return K::pad(x, borders, {.constant_values = args.fill_value});
  }
};

class CenterCropImpl final : public SizedImpl<CenterCropArguments> {
 public:
  explicit CenterCropImpl(const CenterCropArguments& arguments) : SizedImpl("CenterCrop", arguments) {}

 protected:
  DType result_dtype(const Tensor&) const override { return compute_dtype(); }
  Tensor sized(const Tensor& x, const ImageAxes& axes) const override {
    const std::int64_t above = x.shape()[axes.height] - args.height,
                       beside = x.shape()[axes.width] - args.width;
    if (above >= 0 && beside >= 0)
      return K::as_dtype(window(x, axes, above / 2, beside / 2, args.height, args.width), compute_dtype());
    const DType computed = compute_dtype().is_floating() ? compute_dtype() : DType(DType::Float64);
    return K::as_dtype(cropped_to_ratio(K::as_dtype(x, computed), axes, args.height, args.width),
                       compute_dtype());
  }
};

}  // namespace

Resizing::Resizing(const ResizingOptions& options)
    : Layer(std::make_shared<ResizingImpl>(
          ResizingArguments{options, internal::given("Resizing", "height", options.height),
                            internal::given("Resizing", "width", options.width)})) {}
CenterCrop::CenterCrop(const CenterCropOptions& options)
    : Layer(std::make_shared<CenterCropImpl>(
          CenterCropArguments{options, internal::given("CenterCrop", "height", options.height),
                              internal::given("CenterCrop", "width", options.width)})) {}

void add_image_layers(ClassRegistry& registry) {
  add_layer<ResizingImpl, ResizingArguments>(registry, "Resizing");
  add_layer<CenterCropImpl, CenterCropArguments>(registry, "CenterCrop");
}

}  // namespace ktape::nn
