#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/ops/arguments/per_axis.hpp>

/// Random changes of images, in training only. The input is (batch, height, width, channels) or one image,
/// (height, width, channels); with data_format "channels_first" the channels come before height and width.
/// Each image and each call gets new random numbers; a seed makes the sequence of calls reproducible. In
/// inference the images do not change. The result has the layer's dtype in training and in inference, also
/// for integer images. Gradients flow to the images.
///
/// Each layer throws ValueError for a factor outside of the range, an unknown mode and a wrong rank, and
/// TypeError for a layer dtype that is not floating.
namespace ktape::nn {

/// The range from which a number is drawn for each image: `0.2` is [-0.2, 0.2], `{-0.1, 0.3}` gives both
/// ends.
using Factor = backend::PerAxis<double>;

struct RandomFlipOptions {
  std::string mode = "horizontal_and_vertical";
  std::optional<std::int64_t> seed = {};
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Flips each image with probability 1/2: left-right for "horizontal", top-bottom for "vertical", both
/// independently of each other for "horizontal_and_vertical". Mirrors `keras.layers.RandomFlip`.
///
///     nn::RandomFlip layer("horizontal", {.seed = 7});
///     Tensor images = K::reshape(K::arange(6., {.dtype = "float32"}), {2, 1, 3, 1});
///     std::cout << K::batch_flatten(layer(images, {.training = true}));
class RandomFlip : public Layer {
 public:
  explicit RandomFlip(const RandomFlipOptions& options = {});
  template <class = void>
  explicit RandomFlip(const std::string& mode, const RandomFlipOptions& options = {})
      : RandomFlip(internal::with(options, &RandomFlipOptions::mode, mode)) {}
};

struct RandomRotationOptions {
  ByName by_name = {};
  Factor factor = {};  ///< required: the range of random factors
  /// The pixels outside of the image: "reflect" (b a | a b c | c b), "wrap" (b c | a b c | a b), "nearest" (a
  /// a | a b c | c c) or "constant" (`fill_value`).
  std::string fill_mode = "reflect";
  std::string interpolation = "bilinear";  ///< "bilinear" or "nearest"
  std::optional<std::int64_t> seed = {};
  double fill_value = 0;
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Rotates each image about its center by `factor` * 360 degrees, with factors in [-1, 1]. A positive factor
/// rotates counter-clockwise. Mirrors `keras.layers.RandomRotation`.
///
///     nn::RandomRotation layer(0.1, {.seed = 7});
///     std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
class RandomRotation : public Layer {
 public:
  explicit RandomRotation(const RandomRotationOptions& options);
  template <class = void>
  explicit RandomRotation(const Factor& factor, const RandomRotationOptions& options = {})
      : RandomRotation(
            internal::with("RandomRotation", "factor", options, &RandomRotationOptions::factor, factor)) {}
};

struct RandomTranslationOptions {
  ByName by_name = {};
  Factor height_factor = {}, width_factor = {};                   ///< required: the ranges of random factors
  std::string fill_mode = "reflect", interpolation = "bilinear";  ///< see RandomRotationOptions
  std::optional<std::int64_t> seed = {};
  double fill_value = 0;
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Shifts each image by a fraction of its height and width, with factors in [-1, 1]. Positive factors shift
/// down and right. Mirrors `keras.layers.RandomTranslation`.
///
///     nn::RandomTranslation layer(0.1, 0.1, {.seed = 7});
///     std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
class RandomTranslation : public Layer {
 public:
  explicit RandomTranslation(const RandomTranslationOptions& options);
  RandomTranslation(const Factor& height_factor, const RandomTranslationOptions& options)
      : RandomTranslation(internal::with("RandomTranslation", "height_factor", options,
                                         &RandomTranslationOptions::height_factor, height_factor)) {}
  template <class = void>
  RandomTranslation(const Factor& height_factor, const Factor& width_factor,
                    const RandomTranslationOptions& options = {})
      : RandomTranslation(height_factor,
                          internal::with("RandomTranslation", "width_factor", options,
                                         &RandomTranslationOptions::width_factor, width_factor)) {}
};

struct RandomZoomOptions {
  ByName by_name = {};
  Factor height_factor = {};  ///< required: the range of random factors
  /// By default the width uses the factor that is drawn for the height, which keeps the aspect ratio.
  std::optional<Factor> width_factor = {};
  std::string fill_mode = "reflect", interpolation = "bilinear";  ///< see RandomRotationOptions
  std::optional<std::int64_t> seed = {};
  double fill_value = 0;
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Zooms each image about its center: the result shows 1 + factor times the height and width of the image,
/// with factors in [-1, 1]. A positive factor zooms out, a negative factor zooms in. Mirrors
/// `keras.layers.RandomZoom`.
///
///     nn::RandomZoom layer(0.2, {.seed = 7});
///     std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
class RandomZoom : public Layer {
 public:
  explicit RandomZoom(const RandomZoomOptions& options);
  template <class = void>
  explicit RandomZoom(const Factor& height_factor, const RandomZoomOptions& options = {})
      : RandomZoom(internal::with("RandomZoom", "height_factor", options, &RandomZoomOptions::height_factor,
                                  height_factor)) {}
};

struct RandomColorOptions {
  ByName by_name = {};
  Factor factor = {};  ///< required: the range of random factors
  /// The smallest and the largest value of a pixel; results are clipped to this range.
  std::array<double, 2> value_range = {0, 255};
  std::optional<std::int64_t> seed = {};
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

using RandomContrastOptions = RandomColorOptions;
using RandomBrightnessOptions = RandomColorOptions;

/// Changes the contrast of each image: (x - mean) * c + mean, with the mean of each channel of the image, and
/// c drawn from [1 - lower, 1 + upper]. `factor` is (lower, upper) or a number for both, in [0, 1]. Mirrors
/// `keras.layers.RandomContrast`.
///
///     nn::RandomContrast layer(0.2, {.seed = 7});
///     Tensor image = K::constant({{{{100.}, {200.}}}});
///     std::cout << K::flatten(layer(image, {.training = true}));
class RandomContrast : public Layer {
 public:
  explicit RandomContrast(const RandomContrastOptions& options);
  template <class = void>
  explicit RandomContrast(const Factor& factor, const RandomContrastOptions& options = {})
      : RandomContrast(
            internal::with("RandomContrast", "factor", options, &RandomContrastOptions::factor, factor)) {}
};

/// Changes the brightness of each image: x + factor * (high - low), with (low, high) = value_range and
/// factors in [-1, 1]. Mirrors `keras.layers.RandomBrightness`.
///
///     nn::RandomBrightness layer(0.2, {.seed = 7});
///     Tensor image = K::constant({{{{100.}, {200.}}}});
///     std::cout << K::flatten(layer(image, {.training = true})) << " "
///               << K::flatten(layer(image));
class RandomBrightness : public Layer {
 public:
  explicit RandomBrightness(const RandomBrightnessOptions& options);
  template <class = void>
  explicit RandomBrightness(const Factor& factor, const RandomBrightnessOptions& options = {})
      : RandomBrightness(internal::with("RandomBrightness", "factor", options,
                                        &RandomBrightnessOptions::factor, factor)) {}
};

struct RandomCropOptions {
  std::optional<std::int64_t> height = {}, width = {};  ///< required: the size of the result
  std::optional<std::int64_t> seed = {};
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Crops each image to height * width pixels. In training the window has a random position, equal for all
/// images of a batch, as in Keras. In inference, and for images smaller than the window, the layer takes the
/// largest centered window with the ratio height : width, and resizes the window. Mirrors
/// `keras.layers.RandomCrop`.
///
///     nn::RandomCrop layer(1, 3, {.seed = 7});
///     Tensor image = K::reshape(K::arange(8., {.dtype = "float32"}), {1, 1, 8, 1});
///     std::cout << K::flatten(layer(image, {.training = true})) << " "
///               << K::flatten(layer(image));
class RandomCrop : public Layer {
 public:
  explicit RandomCrop(const RandomCropOptions& options);
  RandomCrop(std::int64_t height, const RandomCropOptions& options)
      : RandomCrop(internal::with("RandomCrop", "height", options, &RandomCropOptions::height, height)) {}
  RandomCrop(std::int64_t height, std::int64_t width, const RandomCropOptions& options = {})
      : RandomCrop(height, internal::with("RandomCrop", "width", options, &RandomCropOptions::width, width)) {
  }
};

}  // namespace ktape::nn
