#pragma once
#include <ktape/ops/schema/config.hpp>

/// Masks in the graphs of Keras 3. Internal: sources only.
namespace ktape::nn::saving {

/// Returns the config of a Functional model of Keras 3 without the masks that layers pass on by themselves.
///
/// Keras 3 records the masks of Embedding and Masking as operations among the layers, `NotEqual` and `Any`,
/// and as the argument `mask` of each call that receives such a mask. The library's layers compute and pass
/// on equal masks by themselves. Therefore these arguments, and operations whose results no other layer uses,
/// are left out. Masks that a program computed by other operations stay.
Config without_automatic_masks(const Config& model);

}  // namespace ktape::nn::saving
