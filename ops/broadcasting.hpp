#pragma once
#include <ktape/autograd/tensor.hpp>

namespace ktape::backend {

/// Returns x repeated along its axes of extent 1, and along new leading axes, to the given shape:
/// `np.broadcast_to`. x may have any dtype. The gradient is summed over the repeated axes. Throws ValueError
/// when x does not broadcast to the shape.
///
///     Tensor x = K::broadcast_to(K::constant({1., 2.}), {3, 2});
///     std::cout << x << "\n" << K::sum_to(x, {2});
Tensor broadcast_to(const Tensor& x, const Shape& shape);

/// Returns x summed over the axes along which a tensor of the given shape was broadcast to the shape of x.
/// This is the inverse of `broadcast_to` and the last step of the gradient of every broadcasting op. Returns
/// x itself when x has the given shape. Throws ValueError when the shapes do not fit, and TypeError for bool
/// tensors, which have no sum.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace ktape::backend
