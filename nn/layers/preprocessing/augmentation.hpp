#pragma once
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/ops/per_axis.hpp>

/// Random changes to images, for training only: (batch, height, width, channels) or one image alone, (height,
/// width, channels); or with the channels first. Random numbers are drawn for each image and each call; a
/// seed fixes the sequence of calls. In inference, images pass unchanged. In training and in inference the
/// result has the layer's dtype, also for images of integers. Differentiable with respect to the images.
///
/// A layer throws ValueError for a factor out of its range, an unknown mode, and another rank.
namespace ktape::nn {

/// A range from which a number is drawn for each image: `0.2` is [-0.2, 0.2], `{-0.1, 0.3}` says both ends.
using Factor = backend::PerAxis<double>;

struct RandomFlipOptions {
  std::optional<std::int64_t> seed = {};
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Mirrors half of the images: left and right for "horizontal", top and bottom for "vertical", and one
/// independently of the other for both. Mirrors `keras.layers.RandomFlip`.
class RandomFlip : public Layer {
 public:
  explicit RandomFlip(const std::string& mode = "horizontal_and_vertical",
                      const RandomFlipOptions& options = {});
};

/// The pixels outside of an image, and the interpolation between pixels.
struct RandomWarpOptions {
  /// Beyond the border: "reflect" (b a | a b c | c b), "wrap" (b c | a b c | a b), "nearest" (a a | a b c |
  /// c c) or "constant", `fill_value`.
  std::string fill_mode = "reflect";
  std::string interpolation = "bilinear";  ///< or "nearest"
  std::optional<std::int64_t> seed = {};
  double fill_value = 0;
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

using RandomRotationOptions = RandomWarpOptions;
using RandomTranslationOptions = RandomWarpOptions;

/// Turns images about their middle by a part `factor` of a full turn, in [-1, 1]: counter-clockwise where it
/// is positive. Mirrors `keras.layers.RandomRotation`.
class RandomRotation : public Layer {
 public:
  explicit RandomRotation(const Factor& factor, const RandomRotationOptions& options = {});
};

/// Moves images by parts of their height and width, in [-1, 1]: down and right where they are positive.
/// Mirrors `keras.layers.RandomTranslation`.
class RandomTranslation : public Layer {
 public:
  RandomTranslation(const Factor& height_factor, const Factor& width_factor,
                    const RandomTranslationOptions& options = {});
};

struct RandomZoomOptions {
  std::optional<Factor> width_factor =
      {};  ///< by default the factor drawn for the height, which keeps the ratio
  std::string fill_mode = "reflect", interpolation = "bilinear";  ///< as in RandomWarpOptions
  std::optional<std::int64_t> seed = {};
  double fill_value = 0;
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Shows 1 + factor times as much of the image, from the middle, with factors in [-1, 1]: a positive one
/// zooms out, a negative one in. Mirrors `keras.layers.RandomZoom`.
class RandomZoom : public Layer {
 public:
  explicit RandomZoom(const Factor& height_factor, const RandomZoomOptions& options = {});
};

struct RandomColorOptions {
  std::array<double, 2> value_range = {
      0, 255};  ///< the smallest and largest value of a pixel; results are clipped
  std::optional<std::int64_t> seed = {};
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

using RandomContrastOptions = RandomColorOptions;
using RandomBrightnessOptions = RandomColorOptions;

/// (x - mean) * c + mean with the mean of each channel of each image and c from [1 - lower, 1 + upper];
/// `factor` is (lower, upper), or one number for both, in [0, 1]. Mirrors `keras.layers.RandomContrast`.
class RandomContrast : public Layer {
 public:
  explicit RandomContrast(const Factor& factor, const RandomContrastOptions& options = {});
};

/// x + factor * (high - low) of the value range, with factors in [-1, 1]. Mirrors
/// `keras.layers.RandomBrightness`.
class RandomBrightness : public Layer {
 public:
  explicit RandomBrightness(const Factor& factor, const RandomBrightnessOptions& options = {});
};

struct RandomCropOptions {
  std::optional<std::int64_t> seed = {};
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// height * width pixels of each image: in training from a random place, one for all images of a batch, as in
/// Keras; in inference, and where an image is smaller, the largest window in the middle that has the
/// ratio, resized. Mirrors `keras.layers.RandomCrop`.
class RandomCrop : public Layer {
 public:
  RandomCrop(std::int64_t height, std::int64_t width, const RandomCropOptions& options = {});
};

}  // namespace ktape::nn
