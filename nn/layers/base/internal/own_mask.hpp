#pragma once
#include <ktape/autograd/tensor_metadata.hpp>
#include <ktape/nn/layers/base/masks.hpp>

namespace ktape::nn {

/// Returns a reference to the mask that a defined tensor carries; undefined for a tensor without a mask.
inline const Tensor& own_mask(const Tensor& x) {
  static const Tensor none;
  const auto& metadata = x.get()->metadata;
  return metadata ? metadata->mask : none;
}

/// Returns a tensor with the value, or the symbol, of x that carries a mask. A symbol is not told of the mask:
/// when the graph runs, the layer that makes the value gives it the mask.
Tensor carrying(const Tensor& x, const Tensor& mask);

}  // namespace ktape::nn
