#pragma once
#include <ktape/autograd/tensor.hpp>

namespace ktape::op_helpers {

/// Returns x where x > 0, else slope * x. The slope broadcasts to x. The derivative at 0 is 0, as in Keras's formula
/// relu(x) - slope * relu(-x). Internal: sources only.
Tensor prelu(const Tensor& x, const Tensor& slope);

}  // namespace ktape::op_helpers
