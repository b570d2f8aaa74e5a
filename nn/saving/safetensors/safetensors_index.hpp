#pragma once
#include <ktape/nn/saving/base/format.hpp>
#include <ktape/nn/saving/base/weights.hpp>

/// Hugging Face's model.safetensors.index.json: which of several .safetensors files holds which tensor.
/// Internal: sources only.
namespace ktape::nn::saving {

/// Weights in such files.
extern const Format safetensors_index;

/// Returns the tensors of a .safetensors file, or of those that an index names, file by file. Throws IOError,
/// naming the file, for an index that does not tell of the files' tensors, of each once, or that names a file
/// out of its folder.
NamedTensors read_safetensors(const char* op, const std::string& path);

}  // namespace ktape::nn::saving
