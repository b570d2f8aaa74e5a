#pragma once
#include <ktape/ops/kernels/network/network.hpp>

/// Convolutions and products that read their weight where the variable holds it: a packed copy would take as much
/// memory again. For product_steps.cpp only.
namespace ktape::kernels {

/// Returns whether `in_place_product` is as fast as a primitive of oneDNN: for large kernels with more weights than
/// results, in builds with fused instructions and vectors of 32 bytes or more.
bool suits_in_place_product(const NetworkNode& node, const std::vector<std::int64_t>& x);

/// Returns a kernel for a convolution or product with its bias, normalizers, addend and, if `has_vector_code`, functions.
/// Inputs: x of the given shape, the weight, a factor and an offset for each channel, and the addend if there is one.
std::shared_ptr<const NodeKernel> in_place_product(const NetworkNode& node,
                                                   const std::vector<std::int64_t>& x);

}  // namespace ktape::kernels
