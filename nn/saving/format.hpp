#pragma once
#include <ktape/nn/saving/saving.hpp>

/// The formats of files. Internal: sources only.
namespace ktape::nn::saving {

/// What can be done with the files of one format; null for what it has no place for.
struct Format {
  const char* suffix;  ///< of the names of its files
  void (*save_model)(const Model& model, const std::string& path, const SaveOptions& options);
  Model (*load_model)(const std::string& path, const LoadOptions& options);
  void (*save_weights)(const Model& model, const std::string& path);
  void (*load_weights)(const Model& model, const std::string& path, const LoadWeightsOptions& options);
};

/// The format that the name of a file asks for, the one with the longest suffix. Throws ValueError, naming
/// all suffixes, when there is none.
const Format& format_of(const char* op, const std::string& path);

}  // namespace ktape::nn::saving
