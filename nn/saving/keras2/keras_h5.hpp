#pragma once
#include <ktape/nn/saving/base/format.hpp>

namespace ktape::nn::saving {

/// Models and weights as Keras 2 writes them, see keras2_weights.hpp: a model has its architecture in the
/// attribute `model_config`, how it was compiled in `training_config`, and groups for its weights,
/// `model_weights`, and those of its optimizer, `optimizer_weights`. Internal: sources only.
extern const Format keras_h5, keras_hdf5;

}  // namespace ktape::nn::saving
