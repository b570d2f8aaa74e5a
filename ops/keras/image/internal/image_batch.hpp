#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/arguments/per_axis.hpp>

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// The layout, the extents and the dtype of images.
namespace ktape::op_helpers {

/// Images in one layout: a batch with the channels last.
struct ImageBatch {
  /// Throws ValueError for a format that does not exist, and unless the images have the spatial axes, channels and perhaps a
  /// batch.
  ImageBatch(const char* op, const char* name, const Tensor& given,
             const std::optional<std::string>& data_format, int axes = 2);
  /// Returns a result for `images` in the layout of the user's images: the channels where they were, and no batch axis if
  /// there was none. The result is (batch, spatial..., channels), perhaps with more axes after the channels.
  Tensor restored(const Tensor& x) const;

  Tensor images;  ///< (batch, spatial..., channels)
  bool first;     ///< channels_first
  bool single = false;
};

/// The largest extent of an image or a window.
inline constexpr std::int64_t largest_extent = std::numeric_limits<std::int32_t>::max();

/// Returns a number for each spatial axis. Throws ValueError for another length, and for a number that is no extent.
std::vector<std::int64_t> image_extents(const char* op, const char* name,
                                        const backend::PerAxis<std::int64_t>& size, int axes = 2);

/// Calls f on a batch with the channels last, and returns the result in the layout of the images.
Tensor on_batch(const char* op, const Tensor& images, const std::optional<std::string>& data_format,
                const std::function<Tensor(const Tensor&)>& f);

/// Returns the dtype in which images are computed: their own, or a floating one of at least 32 bits for integers.
DType dtype_of_computation(DType images);
/// Returns a result, rounded to whole numbers unless the dtype of the images is floating, in this dtype.
Tensor rounded_to(DType dtype, const Tensor& result);
/// Returns `rounded_to` with numbers beyond the least and the largest element of the integers as these.
Tensor rounded_within(const Tensor& images, const Tensor& result);

}  // namespace ktape::op_helpers
