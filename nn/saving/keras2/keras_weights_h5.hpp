#pragma once
#include <ktape/nn/saving/base/format.hpp>

namespace ktape::nn::saving {

/// Weights as Keras 3, and Keras since 2.12 under this suffix, write them. Internal: sources only.
extern const Format keras_weights_h5;

}  // namespace ktape::nn::saving
