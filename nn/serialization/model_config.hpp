#pragma once
#include <ktape/nn/models/model.hpp>

/// Models, and how they were compiled, as values: Keras 3's form. Internal: sources only.
namespace ktape::nn {

/// The architecture: {module, class_name, config, registered_name}. Layers that several models in it share
/// are written with a `shared_object_id`. Throws ValueError, naming it, for a part without a config.
Value model_config(const Model& model);

/// A new model, with weights of its own, of such a value, or of what any version of Keras wrote. A model
/// class of the user's is built for the shapes in its `build_config`, if there are any. Throws ValueError or
/// TypeError, naming the layer, for a value that is no model's, and for an unknown class.
Model model_from_config(const Value& value);

/// What `compile` was given: {optimizer, loss, loss_weights, metrics, weighted_metrics}; null before it.
/// Metrics of a model of several outputs are lists for each of them. A function of the program's is written
/// by its name, as in Keras; see below for what becomes of it.
Value compile_config(const Model& model);

/// Compiles the model so. A loss or metric that was a function is what is registered under its name; without
/// that, it is one that throws ValueError when it is first used: the model can predict, its optimizer has its
/// state, and nothing is trained or reported otherwise than it was. Throws ValueError or TypeError for other
/// values, and the model stays as it was.
void compile_from_config(const Model& model, const Value& value);

}  // namespace ktape::nn
