#pragma once
#include <ktape/autograd/tensor.hpp>

namespace ktape {

/// Returns the tensor or, of a constant that a tape watches, a copy of the handle that stays watched when the
/// tape ends: what is taken to be differentiated later. Internal: sources only.
Tensor still_watched(const Tensor& x);

}  // namespace ktape
