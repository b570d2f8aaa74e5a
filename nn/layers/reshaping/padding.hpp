#pragma once
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/ops/per_axis.hpp>

/// Layers that add and remove elements at the borders of spatial axes, or repeat elements: (batch,
/// spatial..., channels) or, with "channels_first", (batch, channels, spatial...).
///
///     nn::ZeroPadding2D(1)   nn::ZeroPadding2D({1, 2})   nn::Cropping2D({{1, 0}, {0, 2}})
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

/// (batch, steps, features) with zeros before and after the steps. Throws ValueError for a negative padding.
class ZeroPadding1D : public Layer {
 public:
  explicit ZeroPadding1D(const PaddingPair& padding = 1, const SpatialOptions& options = {});
};
class ZeroPadding2D : public Layer {
 public:
  explicit ZeroPadding2D(const PerAxis<PaddingPair>& padding = 1, const SpatialOptions& options = {});
};
class ZeroPadding3D : public Layer {
 public:
  explicit ZeroPadding3D(const PerAxis<PaddingPair>& padding = 1, const SpatialOptions& options = {});
};

/// (batch, steps, features) without the first and the last steps. Throws ValueError for a negative cropping
/// and one that leaves nothing.
class Cropping1D : public Layer {
 public:
  explicit Cropping1D(const PaddingPair& cropping = 1, const SpatialOptions& options = {});
};
class Cropping2D : public Layer {
 public:
  explicit Cropping2D(const PerAxis<PaddingPair>& cropping = 0, const SpatialOptions& options = {});
};
class Cropping3D : public Layer {
 public:
  explicit Cropping3D(const PerAxis<PaddingPair>& cropping = 1, const SpatialOptions& options = {});
};

struct UpSamplingOptions {
  std::string data_format = {};
  std::string interpolation = "nearest";  ///< or "bilinear"; of UpSampling2D
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Each step, pixel or voxel repeated `size` times, or interpolated: see ops/images/images.hpp. Throws
/// ValueError for a size below 1 and an unknown interpolation.
class UpSampling1D : public Layer {
 public:
  explicit UpSampling1D(std::int64_t size = 2, const LayerOptions& options = {});
};
class UpSampling2D : public Layer {
 public:
  explicit UpSampling2D(const PerAxis<std::int64_t>& size = 2, const UpSamplingOptions& options = {});
};
class UpSampling3D : public Layer {
 public:
  explicit UpSampling3D(const PerAxis<std::int64_t>& size = 2, const SpatialOptions& options = {});
};

}  // namespace ktape::nn
