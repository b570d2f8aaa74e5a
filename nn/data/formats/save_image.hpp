#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>

namespace ktape::data {

struct SaveImageOptions {
  bool scale = true;             ///< whether the smallest number becomes black and the largest white
  std::string data_format = {};  ///< K::image_data_format() by default
};

/// Writes a picture: (height, width, channels) with 1 (gray), 3 or 4 channels; the fourth is the opacity.
/// Pixels of uint8 are written unchanged, as `load_image` returns them. Other numbers are scaled to 0 to 255
/// with `scale`, and limited to 0 to 255 without. Fractions are cut off, as in Keras, and NaN is black. A
/// write that fails leaves no file.
///
///     data::save_image("dream.png", image);
///     data::save_image("half_bright.png", 127.5f * image, {.scale = false});    // image from 0 to 1
///
/// Throws ValueError for another shape, an empty image, an unknown data format and a path that does not end
/// in .png; IOError for a file that cannot be written. Mirrors `keras.utils.save_img`, which also scales
/// uint8.
///
///     Tensor grays = K::constant({{{0.}, {51.}}});
///     data::save_image("scaled.png", grays);
///     data::save_image("same.png", grays, {.scale = false});
///     for (const char* path : {"scaled.png", "same.png"})
///       std::cout << data::load_image(path, {.color_mode = "grayscale"}) << "\n";
void save_image(const std::string& path, const Tensor& image, const SaveImageOptions& options = {});

}  // namespace ktape::data
