#pragma once
#include <ktape/nn/saving/base/format.hpp>

namespace ktape::nn::saving {

/// Whole models as .safetensors files. The weights have the names that they have in .safetensors; behind them
/// stand the tensors that a training goes on with: "optimizer/0" and so on, in the order of
/// `Optimizer::variables()`, "layers/place/..." (see `LayerImpl::state`) and "random/...", the global
/// generator's. The metadata say the rest:
///
///     format        "ktape"
///     version       "1"
///     architecture  `model_config` as JSON
///     compile       `compile_config` as JSON; not there for a model that is not compiled
///     training      JSON: "tensors", the names of those that are no weights, and, of a compiled model,
///                   "optimizer": the places of the weights that it has state for ("variables"), of those
///                   that do not decay ("excluded"), and the words of `exclude_from_weight_decay`; not there
///                   without include_optimizer
///     checksums     JSON: the CRC-32 of the bytes of each tensor
///
/// Internal: sources only.
extern const Format ktape_file;

}  // namespace ktape::nn::saving
