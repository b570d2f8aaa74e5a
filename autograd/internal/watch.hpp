#pragma once
#include <ktape/autograd/tensor.hpp>

namespace ktape {

/// Returns x, or, for a constant that a tape watches, a copy of the handle that stays watched after the tape
/// ends. For tensors that are differentiated later. Internal: sources only.
Tensor keep_watched(const Tensor& x);

}  // namespace ktape
