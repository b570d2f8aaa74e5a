#pragma once
#include <ktape/autograd/tensor.hpp>

#include <array>

namespace ktape::op_helpers {

/// The geometry of a convolution of channels_last tensors. With one or two spatial axes, the last entries are
/// used. Position o of the result reads position o * strides + k * dilation - padding for each tap k of the
/// window.
struct Convolution {
  const char* op;  ///< the name on the tape
  std::int64_t groups = 1;
  std::array<std::int64_t, 3> input{1, 1, 1}, window{1, 1, 1}, output{1, 1, 1};
  std::array<std::int64_t, 3> strides{1, 1, 1}, dilation{1, 1, 1}, padding{0, 0, 0};
};

/// Convolves x (batch, input..., channels) with the kernel (window..., channels / groups, filters) to (batch,
/// output..., filters). The tensors have one floating dtype; differentiable to any order. Internal: arguments
/// are not checked.
Tensor convolve(const Tensor& x, const Tensor& kernel, const Convolution& c, const Shape& shape);

/// Returns the gradient of `convolve` with respect to x, of the given shape, from the gradient y of the
/// result: a transposed convolution.
Tensor convolve_transposed(const Tensor& y, const Tensor& kernel, const Convolution& c, const Shape& shape);

}  // namespace ktape::op_helpers
