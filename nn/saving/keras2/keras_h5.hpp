#pragma once
#include <ktape/nn/saving/base/format.hpp>

namespace ktape::nn::saving {

/// Models and weights in the layout of Keras 2, see keras2_weights.hpp, which Keras 3 calls legacy: a model has its
/// architecture in the attribute `model_config`, as the chosen version of Keras writes configs, the arguments of
/// `compile` in `training_config`, its weights in the group `model_weights` and the state of its optimizer in
/// `optimizer_weights`. Internal: sources only.
extern const Format keras_h5, keras_hdf5;

}  // namespace ktape::nn::saving
