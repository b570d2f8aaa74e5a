#pragma once
#include <ktape/ops/kernels/network/network.hpp>

/// Kernels of functions of two arrays that are not of one shape. For network steps only.
namespace ktape::kernels {

/// Returns a kernel of the function of arrays of shapes a and b of one rank; extents of 1 in b are repeated.
std::shared_ptr<const NodeKernel> broadcast_kernel(BinaryFunction function,
                                                   const std::vector<std::int64_t>& a,
                                                   const std::vector<std::int64_t>& b);

/// The extents of an array (groups, pixels, channels) and of its factors (groups, channels).
struct ScalingExtents {
  std::int64_t groups, pixels, channels;
};
/// Returns a kernel that multiplies all pixels of a group by the factors of the group's channels.
std::shared_ptr<const NodeKernel> scaling_kernel(const ScalingExtents& extents);

}  // namespace ktape::kernels
