#pragma once
#include <cstdint>

namespace ktape::kernels {

/// A contiguous array seen from one of its axes: row-major [outer, axis, inner], where the kernel works along
/// `axis`.
struct AxisShape {
  std::int64_t outer = 1, axis = 1, inner = 1;

  std::int64_t size() const { return outer * axis * inner; }
  /// Elements of a reduction over the axis.
  std::int64_t results() const { return outer * inner; }
};

}  // namespace ktape::kernels
