#pragma once
#include <ktape/nn/core/config.hpp>

/// Masks in the graphs of Keras 3. Internal: sources only.
namespace ktape::nn::saving {

/// Returns the config of a Functional model of Keras 3 without the masks that layers pass on by themselves.
///
/// Keras 3 records the masks of Embedding and Masking as operations among the layers, `NotEqual` and `Any`,
/// and as the argument `mask` of each call that gets one. The library's layers compute and pass on the same
/// masks without being told so; the arguments, and operations that nothing else uses, are left out. Masks
/// that a program computed itself stay.
Config without_automatic_masks(const Config& model);

}  // namespace ktape::nn::saving
