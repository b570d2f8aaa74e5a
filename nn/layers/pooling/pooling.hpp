#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/ops/arguments/per_axis.hpp>

/// Pooling layers: the maximum or the mean of windows over one, two or three spatial axes, channel by channel
/// (see ops/nn/pooling.hpp). Inputs are (batch, spatial..., channels) or, with "channels_first", (batch,
/// channels, spatial...). The output has no mask.
///
///      nn::MaxPooling2D()
///      nn::AveragePooling2D({3, 3}, {.strides = 2, .padding = "same"})
namespace ktape::nn {

using backend::PerAxis;

struct PoolingOptions {
  ByName by_name = {};
  PerAxis<std::int64_t> pool_size = 2;
  PerAxis<std::int64_t> strides = {};  ///< pool_size by default
  std::string padding = "valid";       ///< "valid" or "same"
  std::string data_format = {};        ///< K::image_data_format() by default
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Max pooling over the steps of a sequence.
///
///     nn::MaxPooling1D layer(2);
///     std::cout << layer(K::random_normal({2, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class MaxPooling1D : public Layer {
 public:
  explicit MaxPooling1D(const PoolingOptions& options = {});
  template <class = void>
  explicit MaxPooling1D(const PerAxis<std::int64_t>& pool_size, const PoolingOptions& options = {})
      : MaxPooling1D(internal::with(options, &PoolingOptions::pool_size, pool_size)) {}
};
/// Max pooling over height and width.
///
///     nn::MaxPooling2D layer({3, 3}, {.strides = 2, .padding = "same"});
///     std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class MaxPooling2D : public Layer {
 public:
  explicit MaxPooling2D(const PoolingOptions& options = {});
  template <class = void>
  explicit MaxPooling2D(const PerAxis<std::int64_t>& pool_size, const PoolingOptions& options = {})
      : MaxPooling2D(internal::with(options, &PoolingOptions::pool_size, pool_size)) {}
};
/// Max pooling over three spatial axes.
///
///     nn::MaxPooling3D layer(2);
///     std::cout << layer(K::random_normal({2, 4, 4, 4, 1})).shape()
///               << " weights: " << layer.count_params();
class MaxPooling3D : public Layer {
 public:
  explicit MaxPooling3D(const PoolingOptions& options = {});
  template <class = void>
  explicit MaxPooling3D(const PerAxis<std::int64_t>& pool_size, const PoolingOptions& options = {})
      : MaxPooling3D(internal::with(options, &PoolingOptions::pool_size, pool_size)) {}
};

/// Average pooling over the steps of a sequence. With "same", padding does not enter the mean.
///
///     nn::AveragePooling1D layer(2);
///     std::cout << layer(K::random_normal({2, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class AveragePooling1D : public Layer {
 public:
  explicit AveragePooling1D(const PoolingOptions& options = {});
  template <class = void>
  explicit AveragePooling1D(const PerAxis<std::int64_t>& pool_size, const PoolingOptions& options = {})
      : AveragePooling1D(internal::with(options, &PoolingOptions::pool_size, pool_size)) {}
};
/// Average pooling over height and width. With "same", padding does not enter the mean.
///
///     nn::AveragePooling2D layer({3, 3}, {.strides = 2, .padding = "same"});
///     std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class AveragePooling2D : public Layer {
 public:
  explicit AveragePooling2D(const PoolingOptions& options = {});
  template <class = void>
  explicit AveragePooling2D(const PerAxis<std::int64_t>& pool_size, const PoolingOptions& options = {})
      : AveragePooling2D(internal::with(options, &PoolingOptions::pool_size, pool_size)) {}
};
/// Average pooling over three spatial axes. With "same", padding does not enter the mean.
///
///     nn::AveragePooling3D layer(2);
///     std::cout << layer(K::random_normal({2, 4, 4, 4, 1})).shape()
///               << " weights: " << layer.count_params();
class AveragePooling3D : public Layer {
 public:
  explicit AveragePooling3D(const PoolingOptions& options = {});
  template <class = void>
  explicit AveragePooling3D(const PerAxis<std::int64_t>& pool_size, const PoolingOptions& options = {})
      : AveragePooling3D(internal::with(options, &PoolingOptions::pool_size, pool_size)) {}
};

struct GlobalPoolingOptions {
  std::string data_format = {};  ///< K::image_data_format() by default
  bool keepdims = false;         ///< whether the output keeps the spatial axes, with extent 1
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// The maximum over all steps of a sequence: (batch, channels).
///
///     nn::GlobalMaxPooling1D layer;
///     std::cout << layer(K::random_normal({2, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class GlobalMaxPooling1D : public Layer {
 public:
  explicit GlobalMaxPooling1D(const GlobalPoolingOptions& options = {});
};
/// The maximum over height and width: (batch, channels).
///
///     nn::GlobalMaxPooling2D layer;
///     std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class GlobalMaxPooling2D : public Layer {
 public:
  explicit GlobalMaxPooling2D(const GlobalPoolingOptions& options = {});
};
/// The maximum over three spatial axes: (batch, channels).
///
///     nn::GlobalMaxPooling3D layer({.keepdims = true});
///     std::cout << layer(K::random_normal({2, 4, 4, 4, 1})).shape()
///               << " weights: " << layer.count_params();
class GlobalMaxPooling3D : public Layer {
 public:
  explicit GlobalMaxPooling3D(const GlobalPoolingOptions& options = {});
};

/// The mean over all steps of a sequence: (batch, channels). With a mask, the mean is over the unmasked
/// steps, and 0 if there are none.
///
///     nn::GlobalAveragePooling1D layer;
///     std::cout << layer(K::random_normal({2, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class GlobalAveragePooling1D : public Layer {
 public:
  explicit GlobalAveragePooling1D(const GlobalPoolingOptions& options = {});
};
/// The mean over height and width: (batch, channels).
///
///     nn::GlobalAveragePooling2D layer;
///     std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class GlobalAveragePooling2D : public Layer {
 public:
  explicit GlobalAveragePooling2D(const GlobalPoolingOptions& options = {});
};
/// The mean over three spatial axes: (batch, channels).
///
///     nn::GlobalAveragePooling3D layer({.keepdims = true});
///     std::cout << layer(K::random_normal({2, 4, 4, 4, 1})).shape()
///               << " weights: " << layer.count_params();
class GlobalAveragePooling3D : public Layer {
 public:
  explicit GlobalAveragePooling3D(const GlobalPoolingOptions& options = {});
};

// Keras's short names of the pooling layers.
using MaxPool1D = MaxPooling1D;
using MaxPool2D = MaxPooling2D;
using MaxPool3D = MaxPooling3D;
using AvgPool1D = AveragePooling1D;
using AvgPool2D = AveragePooling2D;
using AvgPool3D = AveragePooling3D;
using GlobalMaxPool1D = GlobalMaxPooling1D;
using GlobalMaxPool2D = GlobalMaxPooling2D;
using GlobalMaxPool3D = GlobalMaxPooling3D;
using GlobalAvgPool1D = GlobalAveragePooling1D;
using GlobalAvgPool2D = GlobalAveragePooling2D;
using GlobalAvgPool3D = GlobalAveragePooling3D;

}  // namespace ktape::nn
