#pragma once
#include <ktape/nn/saving/base/weights.hpp>

/// The state of optimizers in Keras's order. Internal: sources only.
namespace ktape::nn::saving {

/// Returns the variables of a compiled model's optimizer, which is built first if necessary, in Keras's order
/// of the weights.
std::vector<Variable> optimizer_variables(const Model& model);

/// Returns the optimizer's variables in the order of Keras 2.11 to 2.15 in whole-model HDF5 files: without
/// Nadam's product, which is reset, and without the learning rate, which only the optimizer's config has.
/// (Keras 3 lists the rate after the iterations. Both read variables by order and number, so that the layout
/// must match the `keras_version` in the file.)
std::vector<Variable> keras2_optimizer_variables(const Model& model);

/// Restores the optimizer of a compiled model from the state in a file, in Keras's order. States of Keras 2's
/// first optimizers, which list one kind of state after the other, are recognized by their names; other
/// states may lack the learning rate. A state that does not fit is ignored with a warning, as in Keras.
void restore_optimizer(const Model& model, const std::string& path, const NamedTensors& state);

}  // namespace ktape::nn::saving
