#pragma once
#include <ktape/nn/saving/base/format.hpp>
#include <ktape/nn/saving/base/weights.hpp>

/// Hugging Face's model.safetensors.index.json: the .safetensors file of each tensor. Internal: sources only.
namespace ktape::nn::saving {

/// Weights in several files with an index.
extern const Format safetensors_index;

/// Returns the tensors of a .safetensors file, or of all files that an index names, file by file. Throws
/// IOError, naming the file, for an index that does not list each tensor of the files exactly once, or that
/// names a file outside of its folder.
NamedTensors read_safetensors(const char* op, const std::string& path, bool memory_map = false);
/// Returns the tensors with these names, in the order of the names. The others are not read. Throws ValueError for a
/// name that no tensor has.
NamedTensors read_safetensors(const char* op, const std::string& path, const std::vector<std::string>& names);

}  // namespace ktape::nn::saving
