#pragma once
#include <ktape/nn/core/by_name.hpp>
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

struct ZeroPadding1DOptions {
  ByName by_name = {};
  PaddingPair padding = 1;       ///< the zeros added at both ends
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Zero padding of sequences: adds zeros before the first and after the last step of (batch, steps,
/// features). Throws ValueError for a negative padding.
///
///     nn::ZeroPadding1D layer({.padding = 1});
///     std::cout << layer(K::random_normal({2, 4, 3})).shape()
///               << " weights: " << layer.count_params();
class ZeroPadding1D : public Layer {
 public:
  explicit ZeroPadding1D(const ZeroPadding1DOptions& options = {});
  template <class = void>
  explicit ZeroPadding1D(const PaddingPair& padding, const ZeroPadding1DOptions& options = {})
      : ZeroPadding1D(internal::with(options, &ZeroPadding1DOptions::padding, padding)) {}
};

struct ZeroPaddingOptions {
  ByName by_name = {};
  PerAxis<PaddingPair> padding = 1;  ///< the zeros added at both ends of each axis
  std::string data_format = {};      ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Zero padding of height and width. Throws ValueError for a negative padding.
///
///     nn::ZeroPadding2D layer({.padding = {1, 2}});
///     std::cout << layer(K::random_normal({2, 4, 4, 3})).shape()
///               << " weights: " << layer.count_params();
class ZeroPadding2D : public Layer {
 public:
  explicit ZeroPadding2D(const ZeroPaddingOptions& options = {});
  template <class = void>
  explicit ZeroPadding2D(const PerAxis<PaddingPair>& padding, const ZeroPaddingOptions& options = {})
      : ZeroPadding2D(internal::with(options, &ZeroPaddingOptions::padding, padding)) {}
};
/// Zero padding of three spatial axes. Throws ValueError for a negative padding.
///
///     nn::ZeroPadding3D layer(1);
///     std::cout << layer(K::random_normal({1, 2, 2, 2, 3})).shape()
///               << " weights: " << layer.count_params();
class ZeroPadding3D : public Layer {
 public:
  explicit ZeroPadding3D(const ZeroPaddingOptions& options = {});
  template <class = void>
  explicit ZeroPadding3D(const PerAxis<PaddingPair>& padding, const ZeroPaddingOptions& options = {})
      : ZeroPadding3D(internal::with(options, &ZeroPaddingOptions::padding, padding)) {}
};

struct Cropping1DOptions {
  ByName by_name = {};
  PaddingPair cropping = 1;      ///< the elements removed at both ends
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Cropping of sequences: removes the first and the last steps of (batch, steps, features). Throws ValueError
/// for a negative cropping, and for a cropping that removes all steps.
///
///     nn::Cropping1D layer({.cropping = 1});
///     std::cout << layer(K::random_normal({2, 4, 3})).shape()
///               << " weights: " << layer.count_params();
class Cropping1D : public Layer {
 public:
  explicit Cropping1D(const Cropping1DOptions& options = {});
  template <class = void>
  explicit Cropping1D(const PaddingPair& cropping, const Cropping1DOptions& options = {})
      : Cropping1D(internal::with(options, &Cropping1DOptions::cropping, cropping)) {}
};

struct Cropping2DOptions {
  ByName by_name = {};
  PerAxis<PaddingPair> cropping = 0;  ///< the elements removed at both ends of each axis
  std::string data_format = {};       ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Cropping of height and width. Throws ValueError for a negative cropping, and for a cropping that removes
/// all pixels.
///
///     nn::Cropping2D layer({.cropping = {{1, 0}, {0, 2}}});
///     std::cout << layer(K::random_normal({2, 4, 4, 3})).shape()
///               << " weights: " << layer.count_params();
class Cropping2D : public Layer {
 public:
  explicit Cropping2D(const Cropping2DOptions& options = {});
  template <class = void>
  explicit Cropping2D(const PerAxis<PaddingPair>& cropping, const Cropping2DOptions& options = {})
      : Cropping2D(internal::with(options, &Cropping2DOptions::cropping, cropping)) {}
};

struct Cropping3DOptions {
  ByName by_name = {};
  PerAxis<PaddingPair> cropping = 1;  ///< the elements removed at both ends of each axis
  std::string data_format = {};       ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Cropping of three spatial axes. Throws ValueError for a negative cropping, and for a cropping that removes
/// all voxels.
///
///     nn::Cropping3D layer({.cropping = 1});
///     std::cout << layer(K::random_normal({1, 4, 4, 4, 3})).shape()
///               << " weights: " << layer.count_params();
class Cropping3D : public Layer {
 public:
  explicit Cropping3D(const Cropping3DOptions& options = {});
  template <class = void>
  explicit Cropping3D(const PerAxis<PaddingPair>& cropping, const Cropping3DOptions& options = {})
      : Cropping3D(internal::with(options, &Cropping3DOptions::cropping, cropping)) {}
};

struct UpSampling1DOptions {
  std::int64_t size = 2;
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Upsampling of sequences: repeats each step `size` times. Throws ValueError for a size below 1.
///
///     nn::UpSampling1D layer({.size = 2});
///     std::cout << layer(K::random_normal({2, 4, 3})).shape()
///               << " weights: " << layer.count_params();
class UpSampling1D : public Layer {
 public:
  explicit UpSampling1D(const UpSampling1DOptions& options = {});
  explicit UpSampling1D(std::int64_t size, const UpSampling1DOptions& options = {})
      : UpSampling1D(internal::with(options, &UpSampling1DOptions::size, size)) {}
};

struct UpSampling2DOptions {
  ByName by_name = {};
  PerAxis<std::int64_t> size = 2;
  std::string data_format = {};           ///< K::image_data_format() by default
  std::string interpolation = "nearest";  ///< "nearest" or "bilinear"
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Upsampling of images: repeats each row and each column `size` times, or interpolates with "bilinear" (see
/// `K::resize_images`). Throws ValueError for a size below 1 and for an unknown interpolation.
///
///     nn::UpSampling2D layer(2, {.interpolation = "bilinear"});
///     std::cout << layer(K::random_normal({2, 4, 4, 3})).shape()
///               << " weights: " << layer.count_params();
class UpSampling2D : public Layer {
 public:
  explicit UpSampling2D(const UpSampling2DOptions& options = {});
  template <class = void>
  explicit UpSampling2D(const PerAxis<std::int64_t>& size, const UpSampling2DOptions& options = {})
      : UpSampling2D(internal::with(options, &UpSampling2DOptions::size, size)) {}
};

struct UpSampling3DOptions {
  ByName by_name = {};
  PerAxis<std::int64_t> size = 2;
  std::string data_format = {};  ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Upsampling of volumes: repeats each voxel `size` times along each spatial axis. Throws ValueError for a
/// size below 1.
///
///     nn::UpSampling3D layer({.size = 2});
///     std::cout << layer(K::random_normal({1, 2, 2, 2, 3})).shape()
///               << " weights: " << layer.count_params();
class UpSampling3D : public Layer {
 public:
  explicit UpSampling3D(const UpSampling3DOptions& options = {});
  template <class = void>
  explicit UpSampling3D(const PerAxis<std::int64_t>& size, const UpSampling3DOptions& options = {})
      : UpSampling3D(internal::with(options, &UpSampling3DOptions::size, size)) {}
};

}  // namespace ktape::nn
