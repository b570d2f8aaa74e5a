#pragma once
#include <ktape/nn/models/model.hpp>
#include <ktape/nn/models/options.hpp>

namespace ktape::nn::saving {

/// The functions that read and write the files of one format; null where the format has no place for a model,
/// or for weights alone. Internal: sources only.
struct Format {
  const char* suffix;  ///< the end of the names of files of the format
  void (*save_model)(const Model& model, const std::string& path, const SaveOptions& options);
  Model (*load_model)(const std::string& path, const LoadOptions& options);
  void (*save_weights)(const Model& model, const std::string& path);
  void (*load_weights)(const Model& model, const std::string& path, const LoadWeightsOptions& options);
};

}  // namespace ktape::nn::saving
