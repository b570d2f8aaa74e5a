#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/nn/layers/preprocessing/augmentation.hpp>
#include <ktape/nn/layers/preprocessing/internal/pictures.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ktape::nn {
namespace K = backend;
using op_helpers::AffineMap, op_helpers::FillMode, op_helpers::WarpOptions;

template <class F>
void fields(RandomFlipOptions& a, F&& field) {
  field("mode", a.mode);
  field("seed", a.seed);
  field("data_format", a.data_format);
}

namespace {

// --- Arguments ---------------------------------------------------------------------------------------------

/// Returns a factor as two numbers, the smaller number first. A single number f becomes (-|f|, |f|) if
/// `least` is negative, otherwise (f, f). Throws ValueError for numbers outside of [least, 1].
Factor range_of(const char* layer, const char* argument, const Factor& given, double least) {
  const std::vector<double>& ends = given.list();
  const bool fits = std::all_of(ends.begin(), ends.end(), [&](double f) { return f >= least && f <= 1; });
  if (ends.empty() || ends.size() > 2 || !fits)
    fail("[", layer, "] ", argument, " must be one number or two in [", least, ", 1]: received ", argument,
         '=', Value(given));
  if (ends.size() == 2) return {std::min(ends[0], ends[1]), std::max(ends[0], ends[1])};
  return {least < 0 ? -std::fabs(ends[0]) : ends[0], std::fabs(ends[0])};
}

void expect_one_of(const char* layer, const char* argument, const std::string& value,
                   const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) == known.end())
    fail("[", layer, "] ", argument, " must be ", in_quotes(known, " or "), ": received ", argument, "=\"",
         value, '"', near_names(value, known));
}

/// A source of random numbers for the images of a call of a layer.
class Draws {
 public:
  explicit Draws(std::optional<std::int64_t> seed) : seed_(seed) {}
  /// Returns a random number in [0, 1) for each image. Each call returns new numbers.
  std::vector<double> operator()(std::int64_t images) {
    std::optional<std::int64_t> seed = seed_;
    if (seed)
      seed = static_cast<std::int64_t>(static_cast<std::uint64_t>(*seed) + 0x632be59bd9b4e019u * asked_++);
    const Tensor x = K::random_uniform({images}, {.dtype = DType::Float64, .seed = seed});
    return {x.pointer<double>(), x.pointer<double>() + images};
  }
  std::vector<double> operator()(std::int64_t images, const Factor& range) {
    std::vector<double> numbers = (*this)(images);
    for (double& number : numbers) number = range.list()[0] + number * (range.list()[1] - range.list()[0]);
    return numbers;
  }

 private:
  std::optional<std::int64_t> seed_;
  std::uint64_t asked_ = 0;
};

/// Returns a tensor (images, 1, 1, 1) of the numbers, which broadcasts to the images.
Tensor per_image(const std::vector<double>& numbers, DType dtype) {
  const Shape shape{static_cast<std::int64_t>(numbers.size()), 1, 1, 1};
  return K::as_dtype(
      Tensor::from_buffer(numbers.data(), numbers.size() * sizeof(double), shape, DType::Float64), dtype);
}

/// A base class of layers that change images at random in training. For a symbol, the computation is deferred
/// until the values are known.
template <class Arguments>
class RandomImageImpl : public LayerWith<Arguments> {
 public:
  RandomImageImpl(const char* class_name, Arguments arguments)
      : LayerWith<Arguments>(class_name, with_format(class_name, std::move(arguments))),
        seeds_(this->args.seed) {
    this->input_spec = image_spec();
    expect_floating();
  }

  Tensor call(const Tensor& x, const CallArguments& arguments) final {
    expect_floating();
    if (is_symbolic(x) || symbolic_mode()) {
      const auto again = [self = this->shared_from_this(),
                          training = arguments.training](const Tensor& given) {
        return self->call(given, CallArguments{.training = training});
      };
      return defer(impure("random_image"), {result_shape(x.shape()), this->compute_dtype()}, again, x);
    }
    const bool single = x.ndim() == 3;
    const Tensor given = K::as_dtype(x, this->compute_dtype()),
                 images = single ? K::expand_dims(given, 0) : given;
    const bool train = this->training(arguments);
    Draws draws(train && !inferring_shapes() ? seeds_.next() : std::optional<std::int64_t>(0));
    const Tensor result = train ? changed(images, draws) : unchanged(images);
    return with_mask(single ? K::squeeze(result, 0) : result, Tensor());
  }
  void state(Archive& state) final { seeds_.state(state); }

 protected:
  /// Returns the changed images, (batch, ...). The images are not symbols.
  virtual Tensor changed(const Tensor& images, Draws& draws) const = 0;
  virtual Tensor unchanged(const Tensor& images) const { return images; }
  virtual Shape result_shape(const Shape& images) const { return images; }
  ImageAxes axes() const { return ImageAxes(4, this->args.data_format); }

 private:
  static Arguments with_format(const char* layer, Arguments a) {
    a.data_format = data_format(layer, a.data_format);
    return a;
  }
  /// Throws TypeError unless the dtype of the layer is floating.
  void expect_floating() const {
    if (!this->compute_dtype().is_floating())
      fail<TypeError>("[", this->name(), "] dtype must be floating: received dtype=", this->compute_dtype());
  }
  SeedGenerator seeds_;
};

// --- RandomFlip --------------------------------------------------------------------------------------------

class RandomFlipImpl final : public RandomImageImpl<RandomFlipOptions> {
 public:
  explicit RandomFlipImpl(const RandomFlipOptions& arguments) : RandomImageImpl("RandomFlip", arguments) {
    expect_one_of("RandomFlip", "mode", args.mode, {"horizontal", "vertical", "horizontal_and_vertical"});
  }

 protected:
  Tensor changed(const Tensor& images, Draws& draws) const override {
    const Tensor sideways = args.mode == "vertical" ? images : flipped(images, axes().width, draws);
    return args.mode == "horizontal" ? sideways : flipped(sideways, axes().height, draws);
  }

 private:
  static Tensor flipped(const Tensor& images, int axis, Draws& draws) {
    const Tensor drawn = per_image(draws(images.shape()[0]), DType::Float64);
    return K::where(drawn < 0.5, K::reverse(images, axis), images);
  }
};

// --- Rotation, translation, zoom ---------------------------------------------------------------------------

struct RandomRotationArguments : RandomRotationOptions {
  Factor factor = 0.0;
};
struct RandomTranslationArguments : RandomTranslationOptions {
  Factor height_factor = 0.0, width_factor = 0.0;
};
struct RandomZoomArguments : RandomZoomOptions {
  Factor height_factor = 0.0;
};

template <class Arguments, class F>
void warp_fields(Arguments& a, F&& field) {
  field("fill_mode", a.fill_mode);
  field("interpolation", a.interpolation);
  field("seed", a.seed);
  field("fill_value", a.fill_value);
  field("data_format", a.data_format);
}
template <class F>
void fields(RandomRotationArguments& a, F&& field) {
  field("factor", a.factor);
  warp_fields(a, field);
}
template <class F>
void fields(RandomTranslationArguments& a, F&& field) {
  field("height_factor", a.height_factor);
  field("width_factor", a.width_factor);
  warp_fields(a, field);
}
template <class F>
void fields(RandomZoomArguments& a, F&& field) {
  field("height_factor", a.height_factor);
  field("width_factor", a.width_factor);
  warp_fields(a, field);
}

template <class Arguments>
class RandomWarpImpl : public RandomImageImpl<Arguments> {
 public:
  RandomWarpImpl(const char* class_name, Arguments arguments)
      : RandomImageImpl<Arguments>(class_name, std::move(arguments)) {
    const std::vector<std::string> modes{"constant", "reflect", "wrap", "nearest"};
    expect_one_of(class_name, "fill_mode", this->args.fill_mode, modes);
    expect_one_of(class_name, "interpolation", this->args.interpolation, {"nearest", "bilinear"});
    options_.fill_mode =
        static_cast<FillMode>(std::find(modes.begin(), modes.end(), this->args.fill_mode) - modes.begin());
    options_.bilinear = this->args.interpolation == "bilinear";
    options_.fill_value = this->args.fill_value;
    options_.channels_first = this->args.data_format == "channels_first";
  }

 protected:
  virtual std::vector<AffineMap> maps(std::int64_t images, double height, double width,
                                      Draws& draws) const = 0;

  Tensor changed(const Tensor& images, Draws& draws) const final {
    const auto extent = [&](int axis) { return static_cast<double>(images.shape()[axis]); };
    return op_helpers::warped(
        images, maps(images.shape()[0], extent(this->axes().height), extent(this->axes().width), draws),
        options_);
  }

 private:
  WarpOptions options_;
};

class RandomRotationImpl final : public RandomWarpImpl<RandomRotationArguments> {
 public:
  explicit RandomRotationImpl(RandomRotationArguments a)
      : RandomWarpImpl("RandomRotation", (a.factor = range_of("RandomRotation", "factor", a.factor, -1), a)) {
  }

 protected:
  std::vector<AffineMap> maps(std::int64_t images, double height, double width, Draws& draws) const override {
    std::vector<AffineMap> maps;
    const double x = (width - 1) / 2, y = (height - 1) / 2;
    for (const double turn : draws(images, args.factor)) {
      const double cosine = std::cos(2 * std::numbers::pi * turn),
                   sine = std::sin(2 * std::numbers::pi * turn);
      maps.push_back({cosine, -sine, x - cosine * x + sine * y, sine, cosine, y - sine * x - cosine * y});
    }
    return maps;
  }
};

class RandomTranslationImpl final : public RandomWarpImpl<RandomTranslationArguments> {
 public:
  explicit RandomTranslationImpl(const RandomTranslationArguments& arguments)
      : RandomWarpImpl("RandomTranslation", canonical(arguments)) {}

 protected:
  std::vector<AffineMap> maps(std::int64_t images, double height, double width, Draws& draws) const override {
    const std::vector<double> down = draws(images, args.height_factor),
                              right = draws(images, args.width_factor);
    std::vector<AffineMap> maps;
    for (std::size_t i = 0; i < down.size(); ++i)
      maps.push_back({1, 0, -right[i] * width, 0, 1, -down[i] * height});
    return maps;
  }

 private:
  static RandomTranslationArguments canonical(RandomTranslationArguments a) {
    a.height_factor = range_of("RandomTranslation", "height_factor", a.height_factor, -1);
    a.width_factor = range_of("RandomTranslation", "width_factor", a.width_factor, -1);
    return a;
  }
};

class RandomZoomImpl final : public RandomWarpImpl<RandomZoomArguments> {
 public:
  explicit RandomZoomImpl(const RandomZoomArguments& arguments)
      : RandomWarpImpl("RandomZoom", canonical(arguments)) {}

 protected:
  std::vector<AffineMap> maps(std::int64_t images, double height, double width, Draws& draws) const override {
    const std::vector<double> tall = draws(images, args.height_factor),
                              wide = args.width_factor ? draws(images, *args.width_factor) : tall;
    std::vector<AffineMap> maps;
    for (std::size_t i = 0; i < tall.size(); ++i)
      maps.push_back(
          {1 + wide[i], 0, -wide[i] * (width - 1) / 2, 0, 1 + tall[i], -tall[i] * (height - 1) / 2});
    return maps;
  }

 private:
  static RandomZoomArguments canonical(RandomZoomArguments a) {
    a.height_factor = range_of("RandomZoom", "height_factor", a.height_factor, -1);
    if (a.width_factor) a.width_factor = range_of("RandomZoom", "width_factor", *a.width_factor, -1);
    return a;
  }
};

// --- Contrast, brightness ----------------------------------------------------------------------------------

struct RandomColorArguments : RandomColorOptions {
  Factor factor = 0.0;
};
template <class F>
void fields(RandomColorArguments& a, F&& field) {
  field("factor", a.factor);
  field("value_range", a.value_range);
  field("seed", a.seed);
  field("data_format", a.data_format);
}

class RandomColorImpl : public RandomImageImpl<RandomColorArguments> {
 public:
  RandomColorImpl(const char* class_name, const RandomColorArguments& arguments, double least)
      : RandomImageImpl(class_name, canonical(class_name, arguments, least)) {}

 protected:
  Tensor clipped(const Tensor& images) const {
    return K::clip(images, args.value_range[0], args.value_range[1]);
  }

 private:
  static RandomColorArguments canonical(const char* layer, RandomColorArguments a, double least) {
    a.factor = range_of(layer, "factor", a.factor, least);
    if (!(a.value_range[0] <= a.value_range[1]))
      fail("[", layer, "] value_range must be (low, high): received value_range=", Value(a.value_range));
    return a;
  }
};

class RandomContrastImpl final : public RandomColorImpl {
 public:
  explicit RandomContrastImpl(const RandomColorArguments& arguments)
      : RandomColorImpl("RandomContrast", arguments, 0) {}

 protected:
  Tensor changed(const Tensor& images, Draws& draws) const override {
    const Factor range{1 - args.factor.list()[0], 1 + args.factor.list()[1]};
    const Tensor contrast = per_image(draws(images.shape()[0], range), compute_dtype());
    const Tensor mean = K::mean(images, {axes().height, axes().width}, true);
    return clipped((images - mean) * contrast + mean);
  }
};

class RandomBrightnessImpl final : public RandomColorImpl {
 public:
  explicit RandomBrightnessImpl(const RandomColorArguments& arguments)
      : RandomColorImpl("RandomBrightness", arguments, -1) {}

 protected:
  Tensor changed(const Tensor& images, Draws& draws) const override {
    const Tensor part = per_image(draws(images.shape()[0], args.factor), compute_dtype());
    return clipped(images + part * (args.value_range[1] - args.value_range[0]));
  }
};

// --- RandomCrop --------------------------------------------------------------------------------------------

struct RandomCropArguments : RandomCropOptions {
  std::int64_t height = 0, width = 0;
};
template <class F>
void fields(RandomCropArguments& a, F&& field) {
  field("height", a.height);
  field("width", a.width);
  field("seed", a.seed);
  field("data_format", a.data_format);
}

class RandomCropImpl final : public RandomImageImpl<RandomCropArguments> {
 public:
  explicit RandomCropImpl(const RandomCropArguments& arguments) : RandomImageImpl("RandomCrop", arguments) {
    expect_count("RandomCrop", "height", args.height);
    expect_count("RandomCrop", "width", args.width);
  }

 protected:
  Tensor changed(const Tensor& images, Draws& draws) const override {
    const std::int64_t above = images.shape()[axes().height] - args.height,
                       beside = images.shape()[axes().width] - args.width;
    if (above < 0 || beside < 0) return unchanged(images);
    const auto drawn = [&](std::int64_t last) {
      return std::min(static_cast<std::int64_t>(draws(1)[0] * static_cast<double>(last + 1)), last);
    };
    const std::int64_t top = drawn(above), left = drawn(beside);
    return window(images, axes(), top, left, args.height, args.width);
  }
  Tensor unchanged(const Tensor& images) const override {
    if (images.shape()[axes().height] == 0 || images.shape()[axes().width] == 0)
      fail("[", name(), "] the images must have pixels: received shape=", images.shape());
    return cropped_to_ratio(images, axes(), args.height, args.width);
  }
  Shape result_shape(const Shape& images) const override {
    const Shape shape =
        with_size(images, ImageAxes(images.rank(), args.data_format), args.height, args.width);
    check_extents("resize", shape, compute_dtype().size(), true);
    return shape;
  }
};

}  // namespace

RandomFlip::RandomFlip(const RandomFlipOptions& options) : Layer(std::make_shared<RandomFlipImpl>(options)) {}
RandomRotation::RandomRotation(const RandomRotationOptions& options)
    : Layer(std::make_shared<RandomRotationImpl>(
          RandomRotationArguments{options, internal::given("RandomRotation", "factor", options.factor)})) {}
RandomTranslation::RandomTranslation(const RandomTranslationOptions& options)
    : Layer(std::make_shared<RandomTranslationImpl>(RandomTranslationArguments{
          options, internal::given("RandomTranslation", "height_factor", options.height_factor),
          internal::given("RandomTranslation", "width_factor", options.width_factor)})) {}
RandomZoom::RandomZoom(const RandomZoomOptions& options)
    : Layer(std::make_shared<RandomZoomImpl>(RandomZoomArguments{
          options, internal::given("RandomZoom", "height_factor", options.height_factor)})) {}
RandomContrast::RandomContrast(const RandomContrastOptions& options)
    : Layer(std::make_shared<RandomContrastImpl>(
          RandomColorArguments{options, internal::given("RandomContrast", "factor", options.factor)})) {}
RandomBrightness::RandomBrightness(const RandomBrightnessOptions& options)
    : Layer(std::make_shared<RandomBrightnessImpl>(
          RandomColorArguments{options, internal::given("RandomBrightness", "factor", options.factor)})) {}
RandomCrop::RandomCrop(const RandomCropOptions& options)
    : Layer(std::make_shared<RandomCropImpl>(
          RandomCropArguments{options, internal::given("RandomCrop", "height", options.height),
                              internal::given("RandomCrop", "width", options.width)})) {}

void add_augmentation_layers(ClassRegistry& registry) {
  add_layer<RandomFlipImpl, RandomFlipOptions>(registry, "RandomFlip");
  add_layer<RandomRotationImpl, RandomRotationArguments>(registry, "RandomRotation");
  add_layer<RandomTranslationImpl, RandomTranslationArguments>(registry, "RandomTranslation");
  add_layer<RandomZoomImpl, RandomZoomArguments>(registry, "RandomZoom");
  add_layer<RandomContrastImpl, RandomColorArguments>(registry, "RandomContrast");
  add_layer<RandomBrightnessImpl, RandomColorArguments>(registry, "RandomBrightness");
  add_layer<RandomCropImpl, RandomCropArguments>(registry, "RandomCrop");
}

}  // namespace ktape::nn
