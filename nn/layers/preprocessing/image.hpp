#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/layer.hpp>

/// Layers that resize images. The input is (batch, height, width, channels) or one image, (height, width,
/// channels); with data_format "channels_first" the channels come before height and width. Gradients flow to
/// floating images.
namespace ktape::nn {

struct ResizingOptions {
  std::optional<std::int64_t> height = {}, width = {};  ///< required: the size of the result
  /// "bilinear", "nearest", "bicubic", "lanczos3", "lanczos5", or a method of Keras 2: "area", "gaussian",
  /// "mitchellcubic".
  std::string interpolation = "bilinear";
  bool crop_to_aspect_ratio = false;   ///< resize the largest centered window with the new aspect ratio
  bool pad_to_aspect_ratio = false;    ///< pad both sides equally to the new aspect ratio before resizing
  std::string fill_mode = "constant";  ///< how the padding is filled; "constant" is the only mode
  double fill_value = 0;               ///< the value of the padding
  bool antialias = false;              ///< average over more pixels when the image becomes smaller
  std::string data_format = {};        ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that resizes images to height * width pixels, in the dtype of the input. Integer images are
/// computed in float64, rounded, and converted back. The center of pixel i is at i + 0.5: pixel i of the
/// result shows the position (i + 0.5) * old / new of the input.
///
/// - "nearest" takes the pixel at the position.
/// - "bilinear" weights the two nearest pixels along each axis by distance; beyond the outermost centers the
///   border pixel counts alone.
/// - "bicubic" (Keys, a = -0.5), "lanczos3", "lanczos5", "gaussian" and "mitchellcubic" weight up to 4, 6,
///   10, 3 and 4 pixels along each axis. Pixels outside of the image are left out, and the weights are
///   divided by their sum.
/// - "area" takes the mean of the area that the new pixel covers.
///
/// With `antialias`, the methods that weight pixels use n times as many pixels along an axis that becomes n
/// times shorter.
///
/// Throws ValueError for a size below 1, an unknown interpolation or fill mode, crop_to_aspect_ratio together
/// with pad_to_aspect_ratio, a wrong rank, and images without pixels. Mirrors `keras.layers.Resizing`.
///
///     nn::Resizing smooth(1, 4), blocks(1, 4, {.interpolation = "nearest"});
///     Tensor image = K::constant({{{{0.}, {8.}}}});  // 1 row of 2 pixels
///     std::cout << K::flatten(smooth(image)) << "\n" << K::flatten(blocks(image));
class Resizing : public Layer {
 public:
  explicit Resizing(const ResizingOptions& options);
  Resizing(std::int64_t height, const ResizingOptions& options)
      : Resizing(internal::with("Resizing", "height", options, &ResizingOptions::height, height)) {}
  Resizing(std::int64_t height, std::int64_t width, const ResizingOptions& options = {})
      : Resizing(height, internal::with("Resizing", "width", options, &ResizingOptions::width, width)) {}
};

/// Options of `CenterCrop`.
///
///     nn::CenterCrop layer(2, 2, {.name = "center"});
///     std::cout << layer(K::ones({1, 4, 4, 3})).shape() << " " << layer.name();
struct CenterCropOptions {
  std::optional<std::int64_t> height = {}, width = {};  ///< required: the size of the result
  std::string data_format = {};                         ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that crops images to the center: height * width pixels from pixel floor(difference / 2) on, in the
/// layer's dtype. An image that is smaller than the window is resized as by Resizing with
/// crop_to_aspect_ratio. Throws ValueError for a size below 1, a wrong rank, and images without pixels.
/// Mirrors `keras.layers.CenterCrop`.
///
///     nn::CenterCrop layer(4, 4);
///     std::cout << layer(K::random_normal({1, 8, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class CenterCrop : public Layer {
 public:
  explicit CenterCrop(const CenterCropOptions& options);
  CenterCrop(std::int64_t height, const CenterCropOptions& options)
      : CenterCrop(internal::with("CenterCrop", "height", options, &CenterCropOptions::height, height)) {}
  CenterCrop(std::int64_t height, std::int64_t width, const CenterCropOptions& options = {})
      : CenterCrop(height, internal::with("CenterCrop", "width", options, &CenterCropOptions::width, width)) {
  }
};

}  // namespace ktape::nn
