#pragma once
#include <cstdint>

namespace ktape::kernels {

/// The shape of a contiguous row-major array [outer, axis, inner], where the kernel works along `axis`.
struct AxisShape {
  std::int64_t outer = 1, axis = 1, inner = 1;

  std::int64_t size() const { return outer * axis * inner; }
  /// Returns the number of elements after a reduction over the axis.
  std::int64_t results() const { return outer * inner; }
};

}  // namespace ktape::kernels
