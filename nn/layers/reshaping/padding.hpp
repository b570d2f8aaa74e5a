#pragma once
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/ops/arguments/per_axis.hpp>

/// Layers that pad, crop or upsample the spatial axes of (batch, spatial..., channels) or, with
/// "channels_first", (batch, channels, spatial...).
///
///      nn::ZeroPadding2D(1)
///      nn::ZeroPadding2D({1, 2})
///      nn::Cropping2D({{1, 0}, {0, 2}})
namespace ktape::nn {

using backend::PaddingPair;
using backend::PerAxis;

/// Options of `ZeroPadding1D`, `ZeroPadding2D`, `ZeroPadding3D`, `Cropping1D`, `Cropping2D`,
/// `Cropping3D` and `UpSampling3D`.
///
///     nn::ZeroPadding2D layer(1, {.data_format = "channels_first"});
///     std::cout << layer(K::ones({1, 3, 4, 4})).shape();
struct SpatialOptions {
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
};

/// Zero padding of sequences: adds zeros before the first and after the last step of (batch, steps,
/// features). Throws ValueError for a negative padding.
///
///     nn::ZeroPadding1D layer(1);
///     std::cout << layer(K::random_normal({2, 4, 3})).shape()
///               << " weights: " << layer.count_params();
class ZeroPadding1D : public Layer {
 public:
  explicit ZeroPadding1D(const PaddingPair& padding = 1, const SpatialOptions& options = {});
};
/// Zero padding of height and width. Throws ValueError for a negative padding.
///
///     nn::ZeroPadding2D layer({1, 2});
///     std::cout << layer(K::random_normal({2, 4, 4, 3})).shape()
///               << " weights: " << layer.count_params();
class ZeroPadding2D : public Layer {
 public:
  explicit ZeroPadding2D(const PerAxis<PaddingPair>& padding = 1, const SpatialOptions& options = {});
};
/// Zero padding of three spatial axes. Throws ValueError for a negative padding.
///
///     nn::ZeroPadding3D layer(1);
///     std::cout << layer(K::random_normal({1, 2, 2, 2, 3})).shape()
///               << " weights: " << layer.count_params();
class ZeroPadding3D : public Layer {
 public:
  explicit ZeroPadding3D(const PerAxis<PaddingPair>& padding = 1, const SpatialOptions& options = {});
};

/// Cropping of sequences: removes the first and the last steps of (batch, steps, features). Throws ValueError
/// for a negative cropping, and for a cropping that removes all steps.
///
///     nn::Cropping1D layer(1);
///     std::cout << layer(K::random_normal({2, 4, 3})).shape()
///               << " weights: " << layer.count_params();
class Cropping1D : public Layer {
 public:
  explicit Cropping1D(const PaddingPair& cropping = 1, const SpatialOptions& options = {});
};
/// Cropping of height and width. Throws ValueError for a negative cropping, and for a cropping that removes
/// all pixels.
///
///     nn::Cropping2D layer({{1, 0}, {0, 2}});
///     std::cout << layer(K::random_normal({2, 4, 4, 3})).shape()
///               << " weights: " << layer.count_params();
class Cropping2D : public Layer {
 public:
  explicit Cropping2D(const PerAxis<PaddingPair>& cropping = 0, const SpatialOptions& options = {});
};
/// Cropping of three spatial axes. Throws ValueError for a negative cropping, and for a cropping that removes
/// all voxels.
///
///     nn::Cropping3D layer(1);
///     std::cout << layer(K::random_normal({1, 4, 4, 4, 3})).shape()
///               << " weights: " << layer.count_params();
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
  std::optional<DTypePolicy> dtype = {};
};

/// Upsampling of sequences: repeats each step `size` times. Throws ValueError for a size below 1.
///
///     nn::UpSampling1D layer(2);
///     std::cout << layer(K::random_normal({2, 4, 3})).shape()
///               << " weights: " << layer.count_params();
class UpSampling1D : public Layer {
 public:
  explicit UpSampling1D(std::int64_t size = 2, const LayerOptions& options = {});
};
/// Upsampling of images: repeats each row and each column `size` times, or interpolates with "bilinear" (see
/// `K::resize_images`). Throws ValueError for a size below 1 and for an unknown interpolation.
///
///     nn::UpSampling2D layer(2, {.interpolation = "bilinear"});
///     std::cout << layer(K::random_normal({2, 4, 4, 3})).shape()
///               << " weights: " << layer.count_params();
class UpSampling2D : public Layer {
 public:
  explicit UpSampling2D(const PerAxis<std::int64_t>& size = 2, const UpSamplingOptions& options = {});
};
/// Upsampling of volumes: repeats each voxel `size` times along each spatial axis. Throws ValueError for a
/// size below 1.
///
///     nn::UpSampling3D layer(2);
///     std::cout << layer(K::random_normal({1, 2, 2, 2, 3})).shape()
///               << " weights: " << layer.count_params();
class UpSampling3D : public Layer {
 public:
  explicit UpSampling3D(const PerAxis<std::int64_t>& size = 2, const SpatialOptions& options = {});
};

}  // namespace ktape::nn
