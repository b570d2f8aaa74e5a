#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>
#include <vector>

/// Conversion of numbers to pixels. Internal: sources only.
namespace ktape::plot {

/// Converts images in the forms that `image_grid` accepts to (n, height, width, channels), uint8. Throws
/// ValueError for another shape.
Tensor pixels_of(const char* op, const Tensor& images);
/// Returns the pixels of image i.
Tensor pixels_at(const Tensor& pixels, std::int64_t i);

}  // namespace ktape::plot
