#pragma once
#include <ktape/nn/saving/base/format.hpp>

namespace ktape::nn::saving {

/// Keras 3's archive of a model: `config.json` (architecture, `compile_config`), `metadata.json` and
/// `model.weights.h5`, see keras_state.hpp; the vocabularies that layers have learned may stand in `assets`.
/// Keras has written this format since 2.12. Internal: sources only.
extern const Format keras_zip;

}  // namespace ktape::nn::saving
