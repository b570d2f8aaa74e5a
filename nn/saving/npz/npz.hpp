#pragma once
#include <ktape/nn/saving/base/format.hpp>

namespace ktape::nn::saving {

/// Weights as NumPy's archives, under "layer/weight.npy". Internal: sources only.
extern const Format npz;

}  // namespace ktape::nn::saving
