#pragma once
#include <ktape/nn/saving/base/format.hpp>

namespace ktape::nn::saving {

/// Whole models as .safetensors files. The weights have the names of the .safetensors format; they are
/// followed by the tensors from which a training resumes: "optimizer/0" and so on, in the order of
/// `Optimizer::variables()`, "layers/place/..." (see `LayerImpl::state`) and "random/...", the state of the
/// global generator. The metadata hold the rest:
///
///     format        "ktape"
///     version       "1"
///     architecture  `model_config` as JSON
///     compile       `compile_config` as JSON; missing for a model that is not compiled
///     training      JSON: "tensors", the names of the tensors that are not weights, and, for a compiled model,
///                   "optimizer": the places of the weights with optimizer state ("variables"), of the weights
///                   without decay ("excluded"), and the words of `exclude_from_weight_decay`; missing
///                   without include_optimizer
///     checksums     JSON: the CRC-32 of the bytes of each tensor
///
/// Internal: sources only.
extern const Format ktape_file;

}  // namespace ktape::nn::saving
