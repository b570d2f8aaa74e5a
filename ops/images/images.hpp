#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/arguments/per_axis.hpp>

#include <optional>
#include <string>

/// Resizing and padding of images, volumes and sequences: (samples, spatial..., channels) or, with
/// "channels_first", (samples, channels, spatial...). All functions are differentiable to any order. Another
/// data format or rank is a ValueError.
namespace ktape::backend {

struct ResizeOptions {
  std::string interpolation = "nearest";  ///< "nearest" or "bilinear"
};

/// Returns images of rank 4 with height and width multiplied by whole factors. "nearest" repeats pixels (any
/// dtype). "bilinear" weighs the two pixels next to position (i + 0.5) / factor - 0.5 in each direction, and
/// takes the border pixels beyond the border (integers become float32, bool is a TypeError). Throws
/// ValueError for a factor below 1 and an unknown interpolation. `K.resize_images`.
///
///     std::cout << K::resize_images(K::ones({1, 2, 2, 3}), 2, 3, "channels_last",
///                                   {.interpolation = "bilinear"})
///                      .shape()
///               << " ";
///     std::cout << K::resize_volumes(K::ones({1, 2, 2, 2, 1}), 2, 2, 2, "channels_last")
///                      .shape();
Tensor resize_images(const Tensor& x, std::int64_t height_factor, std::int64_t width_factor,
                     const std::string& data_format, const ResizeOptions& options = {});

/// Returns volumes of rank 5 whose voxels are repeated by whole factors. Throws the errors of
/// `resize_images`. `K.resize_volumes`.
Tensor resize_volumes(const Tensor& x, std::int64_t depth_factor, std::int64_t height_factor,
                      std::int64_t width_factor, const std::string& data_format);

/// The number of zeros before and after each spatial axis; `data_format` is image_data_format() when it is
/// not given.
///
///     spatial_2d_padding(x, {.padding = 2})
///     spatial_2d_padding(x, {.padding = {{1, 1}, {2, 0}}})
struct TemporalPaddingOptions {
  PaddingPair padding = 1;
};
struct SpatialPaddingOptions {
  PerAxis<PaddingPair> padding = 1;
  std::optional<std::string> data_format = {};
};
using Spatial2dPaddingOptions = SpatialPaddingOptions;
using Spatial3dPaddingOptions = SpatialPaddingOptions;

/// Returns x of rank 3 with zeros before and after axis 1. Throws ValueError for a negative padding.
/// `K.temporal_padding`.
///
///     std::cout << K::temporal_padding(K::ones({1, 3, 2}), {.padding = {1, 2}}).shape()
///               << " "
///               << K::spatial_2d_padding(K::ones({1, 4, 4, 1}), {.padding = 2}).shape()
///               << " ";
///     std::cout << K::spatial_3d_padding(K::ones({1, 2, 2, 2, 1})).shape();
Tensor temporal_padding(const Tensor& x, const TemporalPaddingOptions& options = {});
/// Returns x of rank 4 with zeros around its two spatial axes. Throws ValueError for a negative padding.
/// `K.spatial_2d_padding`.
Tensor spatial_2d_padding(const Tensor& x, const SpatialPaddingOptions& options = {});
/// Returns x of rank 5 with zeros around its three spatial axes. Throws ValueError for a negative padding.
/// `K.spatial_3d_padding`.
Tensor spatial_3d_padding(const Tensor& x, const SpatialPaddingOptions& options = {});

}  // namespace ktape::backend
