#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>
#include <vector>

/// Images of numbers. Internal: sources only.
namespace ktape::plot {

/// Images as `image_grid` takes them, as (n, height, width, channels), uint8. Throws ValueError for another
/// shape.
Tensor pixels_of(const char* op, const Tensor& images);
/// Returns the pixels of image i.
Tensor pixels_at(const Tensor& pixels, std::int64_t i);

}  // namespace ktape::plot
