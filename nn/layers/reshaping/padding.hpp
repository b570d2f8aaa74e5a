#pragma once
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/ops/per_axis.hpp>

/// Layers that pad, crop or upsample the spatial axes of (batch, spatial..., channels) or, with
/// "channels_first", (batch, channels, spatial...).
///
///      nn::ZeroPadding2D(1)
///      nn::ZeroPadding2D({1, 2})
///      nn::Cropping2D({{1, 0}, {0, 2}})
namespace ktape::nn {

using backend::PaddingPair;
using backend::PerAxis;

struct SpatialOptions {
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Zero padding of sequences: adds zeros before the first and after the last step of (batch, steps,
/// features). Throws ValueError for a negative padding.
class ZeroPadding1D : public Layer {
 public:
  explicit ZeroPadding1D(const PaddingPair& padding = 1, const SpatialOptions& options = {});
};
/// Zero padding of height and width. Throws ValueError for a negative padding.
class ZeroPadding2D : public Layer {
 public:
  explicit ZeroPadding2D(const PerAxis<PaddingPair>& padding = 1, const SpatialOptions& options = {});
};
/// Zero padding of three spatial axes. Throws ValueError for a negative padding.
class ZeroPadding3D : public Layer {
 public:
  explicit ZeroPadding3D(const PerAxis<PaddingPair>& padding = 1, const SpatialOptions& options = {});
};

/// Cropping of sequences: removes the first and the last steps of (batch, steps, features). Throws ValueError
/// for a negative cropping, and for a cropping that removes all steps.
class Cropping1D : public Layer {
 public:
  explicit Cropping1D(const PaddingPair& cropping = 1, const SpatialOptions& options = {});
};
/// Cropping of height and width. Throws ValueError for a negative cropping, and for a cropping that removes
/// all pixels.
class Cropping2D : public Layer {
 public:
  explicit Cropping2D(const PerAxis<PaddingPair>& cropping = 0, const SpatialOptions& options = {});
};
/// Cropping of three spatial axes. Throws ValueError for a negative cropping, and for a cropping that removes
/// all voxels.
class Cropping3D : public Layer {
 public:
  explicit Cropping3D(const PerAxis<PaddingPair>& cropping = 1, const SpatialOptions& options = {});
};

struct UpSamplingOptions {
  std::string data_format = {};           ///< K::image_data_format() by default
  std::string interpolation = "nearest";  ///< "nearest" or "bilinear"
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Upsampling of sequences: repeats each step `size` times. Throws ValueError for a size below 1.
class UpSampling1D : public Layer {
 public:
  explicit UpSampling1D(std::int64_t size = 2, const LayerOptions& options = {});
};
/// Upsampling of images: repeats each row and each column `size` times, or interpolates with "bilinear" (see
/// `K::resize_images`). Throws ValueError for a size below 1 and for an unknown interpolation.
class UpSampling2D : public Layer {
 public:
  explicit UpSampling2D(const PerAxis<std::int64_t>& size = 2, const UpSamplingOptions& options = {});
};
/// Upsampling of volumes: repeats each voxel `size` times along each spatial axis. Throws ValueError for a
/// size below 1.
class UpSampling3D : public Layer {
 public:
  explicit UpSampling3D(const PerAxis<std::int64_t>& size = 2, const SpatialOptions& options = {});
};

}  // namespace ktape::nn
