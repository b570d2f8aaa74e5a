#pragma once
#include <ktape/nn/models/model.hpp>

/// Models and their compile arguments as values, in the form of Keras 3. Internal: sources only.
namespace ktape::nn {

/// Returns the architecture of a model: {module, class_name, config, registered_name}. Layers that several of
/// the models inside the model share are written with a `shared_object_id`. Throws ValueError for a part
/// without a config; the message names the part.
Value model_config(const Model& model);

/// Returns a new model with new weights, from a value that `model_config` returned or from the config of any
/// version of Keras. A model of a user's class is built for the shapes in its `build_config`, if there are
/// any. Throws ValueError or TypeError, naming the layer, for a value that does not describe a model, and for
/// an unknown class.
Model model_from_config(const Value& value);

/// Returns the arguments of `compile`, {optimizer, loss, loss_weights, metrics, weighted_metrics}, or null
/// for a model that is not compiled. The metrics of a model of several outputs are a list for each output. A
/// function of the program is written by its name, as in Keras; see `compile_from_config` for reading the
/// name.
Value compile_config(const Model& model);

/// Compiles the model with the arguments that `compile_config` returned. A loss or metric that was a function
/// becomes the function that is registered under its name. If no such function is registered, the loss or
/// metric throws ValueError when it is first used: the model can predict and its optimizer has its state, but
/// training and evaluation never use a different function in silence. Throws ValueError or TypeError for
/// other values; the model then stays unchanged.
void compile_from_config(const Model& model, const Value& value);

}  // namespace ktape::nn
