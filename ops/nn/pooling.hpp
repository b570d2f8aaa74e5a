#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/arguments/per_axis.hpp>

#include <optional>
#include <string>

/// Pooling over windows of images and volumes: (samples, spatial..., channels) or, with "channels_first",
/// (samples, channels, spatial...).
namespace ktape::backend {

/// The layout of the windows over the spatial axes, and the function that reduces each window.
///
///     pool2d(x, {2, 2})
///     pool2d(x, 3, {.strides = 2, .padding = "same", .pool_mode = "avg"})
struct PoolOptions {
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";                ///< "valid" or "same"
  std::optional<std::string> data_format = {};  ///< image_data_format() when not given
  std::string pool_mode = "max";                ///< "max" or "avg"
};
using Pool2dOptions = PoolOptions;
using Pool3dOptions = PoolOptions;

/// Returns the largest element or the mean of each window of x, for each channel. x has rank 4 and a floating
/// dtype. With "valid" padding the result has (n - pool_size) / stride + 1 windows along an axis of extent n,
/// rounded down. With "same" padding there are n / stride windows, rounded up, and windows reach over the
/// border as in TF: the smaller half of the missing positions lies before x. Positions outside x count
/// neither for the maximum nor for the mean.
///
/// Differentiable to any order. The gradient of a maximum goes to the first of equal elements, in row-major
/// order; a NaN is larger than any number.
///
/// Throws ValueError for another rank, data format, padding or mode, for a stride or pool size below 1, and
/// for a "valid" window that is larger than x; TypeError for a dtype that is not floating. `K.pool2d`.
///
///     Tensor x = K::reshape(K::arange(16., {.dtype = "float32"}), {1, 4, 4, 1});
///     std::cout << K::flatten(K::pool2d(x, 2, {.strides = 2})) << " "
///               << K::flatten(K::pool2d(x, 2, {.strides = 2, .pool_mode = "avg"}))
///               << "\n";
///     std::cout << K::pool3d(K::ones({1, 4, 4, 4, 1}), 2).shape();
Tensor pool2d(const Tensor& x, const PerAxis<std::int64_t>& pool_size, const PoolOptions& options = {});

/// Pools volumes, x of rank 5; see `pool2d`. `K.pool3d`.
Tensor pool3d(const Tensor& x, const PerAxis<std::int64_t>& pool_size, const PoolOptions& options = {});

}  // namespace ktape::backend
