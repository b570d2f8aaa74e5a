#pragma once
#include <ktape/nn/layers/convolutional/spatial.hpp>
#include <ktape/ops/images/resampling.hpp>

/// Functions for the preprocessing layers of images.
namespace ktape::nn {

/// The height and width axes of a batch of images (rank 4) or of one image (rank 3).
struct ImageAxes {
  int height, width;
  ImageAxes(int rank, const std::string& data_format)
      : height(rank - (data_format == "channels_first" ? 2 : 3)), width(height + 1) {}
};

/// Returns the input spec of an image layer: rank 3 (one image) or 4 (a batch).
inline std::vector<InputSpec> image_spec() { return {{.min_ndim = 3, .max_ndim = 4}}; }

/// Returns the shape with height and width replaced.
Shape with_size(Shape shape, const ImageAxes& axes, std::int64_t height, std::int64_t width);

/// Returns the window of height * width pixels whose first pixel is (top, left).
Tensor window(const Tensor& x, const ImageAxes& axes, std::int64_t top, std::int64_t left,
              std::int64_t height, std::int64_t width);

/// Returns the largest centered window with the ratio height : width, resized to height * width. x must be
/// floating.
Tensor cropped_to_ratio(const Tensor& x, const ImageAxes& axes, std::int64_t height, std::int64_t width,
                        const std::string& interpolation = "bilinear", bool antialias = false);

}  // namespace ktape::nn
