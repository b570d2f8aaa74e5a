#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// Images brought to one size: (batch, height, width, channels) or one image alone, (height, width,
/// channels); or with their channels first. Differentiable with respect to floating images.
namespace ktape::nn {

struct ResizingOptions {
  /// "bilinear", "nearest", "bicubic", "lanczos3", "lanczos5", and of Keras 2 "area", "gaussian" and
  /// "mitchellcubic".
  std::string interpolation = "bilinear";
  bool crop_to_aspect_ratio = false;   ///< resizes the largest window in the middle that has the new ratio
  bool pad_to_aspect_ratio = false;    ///< adds equal borders on both sides until the ratio is the new ratio
  std::string fill_mode = "constant";  ///< how borders are filled; "constant" is the only mode
  double fill_value = 0;               ///< the value of the borders
  bool antialias = false;              ///< a smaller image is made of wider neighbourhoods
  std::string data_format = {};        ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Images of height * width pixels, in the dtype of the input: integers are computed in float64, rounded and
/// brought into their range. Pixels have their middles at half numbers: pixel i of the new image shows the
/// place (i + 0.5) * old / new of the old one.
///
/// - "nearest" takes the pixel there.
/// - "bilinear" weighs the pixels to either side by their nearness, and beyond the border takes that of the
///   border. "bicubic" (Keys, a = -0.5), "lanczos3", "lanczos5", "gaussian" and "mitchellcubic" weigh up to
///   4, 6, 10, 3 and 4 in each direction, those that exist, to a sum of 1. With `antialias` the neighbourhood
///   is as many times wider as the image becomes smaller.
/// - "area" takes the mean of what a new pixel covers.
///
/// Throws ValueError for a size below 1, an unknown interpolation or fill mode, both ways to keep the ratio,
/// another rank, and images without pixels. Mirrors `keras.layers.Resizing`.
class Resizing : public Layer {
 public:
  Resizing(std::int64_t height, std::int64_t width, const ResizingOptions& options = {});
};

struct CenterCropOptions {
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// The middle of the images, height * width pixels from pixel (difference / 2, rounded down) on, in the
/// layer's dtype. Images that are smaller in one direction are resized, with crop_to_aspect_ratio. Errors as
/// for Resizing. Mirrors `keras.layers.CenterCrop`.
class CenterCrop : public Layer {
 public:
  CenterCrop(std::int64_t height, std::int64_t width, const CenterCropOptions& options = {});
};

}  // namespace ktape::nn
