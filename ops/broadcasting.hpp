#pragma once
#include <ktape/autograd/tensor.hpp>

namespace ktape::backend {

/// x repeated along axes of extent 1, and along new axes in front, up to the shape: `np.broadcast_to`. Any
/// dtype. The gradient is summed back. Throws ValueError when x does not broadcast to the shape.
Tensor broadcast_to(const Tensor& x, const Shape& shape);

/// The inverse: x summed over the axes along which a tensor of the shape was broadcast to x's. What the
/// gradient of every broadcasting op ends with. Returns x itself when it has the shape. Throws ValueError
/// when the shapes do not fit, and TypeError for bools, which have no sum.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace ktape::backend
