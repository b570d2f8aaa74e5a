#pragma once
#include <ktape/nn/models/model.hpp>
#include <ktape/nn/models/options.hpp>

/// Models as files and as JSON. The suffix of a file selects the format; see `Model::save`.
namespace ktape::nn {

/// Returns the model of a file that `Model::save` or Keras wrote, or of an ONNX file (see `onnx::load`). All errors
/// name the file. Throws IOError, naming the file and the
/// position, for a file that is missing, damaged or of an unknown format, or whose compressed arrays would
/// inflate to more than 64 MB and 32 times the size of the file (JSON: 4 MB), and ValueError for an unknown
/// class. (`Model::load_weights` lets compressed arrays inflate to the size of the model.) Mirrors
/// `keras.models.load_model`.
Model load_model(const std::string& path, const LoadOptions& options = {});

/// Makes a new model, with new weights, from the architecture that `Model::to_json` or Keras's `to_json`
/// wrote. Mirrors `keras.models.model_from_json`.
///
///     nn::Sequential model({nn::Dense(1, {.input_shape = {2}})});
///     nn::Model same = nn::model_from_json(model.to_json());
///     std::cout << same.count_params();
Model model_from_json(const std::string& json, const CustomObjects& custom_objects = {});

}  // namespace ktape::nn
