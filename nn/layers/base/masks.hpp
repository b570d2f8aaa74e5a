#pragma once
#include <ktape/autograd/tensor.hpp>

/// Masks: a tensor may carry the valid time steps of its batch from layer to layer. The other steps may hold any
/// numbers, infinity and NaN, too: layers, losses and metrics that use masks select these steps away, with
/// their gradients.
namespace ktape::nn {

/// Returns the mask that a tensor carries, `(batch, steps)`; undefined for a tensor without a mask. Layers
/// that support masking pass the mask on to their output.
///
///     nn::Embedding embedding(10, 2, {.mask_zero = true});
///     Tensor x = embedding(K::constant({{4, 7, 0}}));
///     std::cout << nn::mask_of(x) << "\n"
///               << nn::mask_of(nn::with_mask(x, {})).defined();
Tensor mask_of(const Tensor& x);
/// Returns a tensor with the value of x and another mask. An undefined mask removes the mask of x.
Tensor with_mask(const Tensor& x, const Tensor& mask);

}  // namespace ktape::nn
