#pragma once
#include <ktape/nn/layers/convolutional/spatial.hpp>
#include <ktape/ops/images/resampling.hpp>

/// Helpers of the layers for images.
namespace ktape::nn {

/// The axes of height and width of images, or of one image.
struct ImageAxes {
  int height, width;
  ImageAxes(int rank, const std::string& data_format)
      : height(rank - (data_format == "channels_first" ? 2 : 3)), width(height + 1) {}
};

/// Returns the requirement on images: an image, or a batch of images.
inline std::vector<InputSpec> image_spec() { return {{.min_ndim = 3, .max_ndim = 4}}; }

/// Returns the shape with another height and width.
Shape with_size(Shape shape, const ImageAxes& axes, std::int64_t height, std::int64_t width);

/// Returns the window of this size from the first pixel on.
Tensor window(const Tensor& x, const ImageAxes& axes, std::int64_t top, std::int64_t left,
              std::int64_t height, std::int64_t width);

/// Returns the largest window in the middle with the ratio of height to width, resized to them. Floating x.
Tensor cropped_to_ratio(const Tensor& x, const ImageAxes& axes, std::int64_t height, std::int64_t width,
                        const std::string& interpolation = "bilinear", bool antialias = false);

}  // namespace ktape::nn
