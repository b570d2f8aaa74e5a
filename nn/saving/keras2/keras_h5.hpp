#pragma once
#include <ktape/nn/saving/base/format.hpp>

namespace ktape::nn::saving {

/// Models and weights as Keras 2 writes them, see keras2_weights.hpp: a model has its architecture in the
/// attribute `model_config`, the arguments of `compile` in `training_config`, its weights in the group
/// `model_weights` and the state of its optimizer in `optimizer_weights`. Internal: sources only.
extern const Format keras_h5, keras_hdf5;

}  // namespace ktape::nn::saving
