#pragma once
#include <ktape/nn/models/model.hpp>
#include <ktape/nn/models/options.hpp>

/// Models as files and as JSON. The name of a file says its format; see `Model::save`.
namespace ktape::nn {

/// Returns the model of a file that `Model::save` or Keras wrote. Throws IOError, naming the file and the
/// place, for one that is missing, damaged or of an unknown format, or whose compressed arrays would become
/// more than 64 MB and 32 times the file (JSON: 4 MB), and ValueError for a class that is not known.
/// (`Model::load_weights` takes whatever is compressed to the size that the model has.) Mirrors
/// `keras.models.load_model`.
Model load_model(const std::string& path, const LoadOptions& options = {});

/// Makes a new model, with new weights, of the architecture that `Model::to_json` or Keras's `to_json` wrote.
/// Mirrors `keras.models.model_from_json`.
Model model_from_json(const std::string& json, const CustomObjects& custom_objects = {});

}  // namespace ktape::nn
