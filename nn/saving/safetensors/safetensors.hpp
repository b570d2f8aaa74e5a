#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>
#include <utility>
#include <vector>

/// Hugging Face's files of tensors.
namespace ktape::nn {

/// Returns the tensors of a .safetensors file and their names, in the order of its header: bool, int8 to
/// int64, uint8, float16 to float64, and bfloat16. Throws IOError, naming the file and
/// the position, for a file that is missing or not valid: a header that is too long, not JSON, or of another
/// form, a name that occurs twice, data that overlap, have gaps, or do not fit the shapes. `.ktape` files are
/// .safetensors files. A path that ends in ".safetensors.index.json" is Hugging Face's index of several
/// files, all of which are read. Mirrors `safetensors.numpy.load_file`.
///
///     for (const auto& [name, tensor] : nn::load_safetensors("model.safetensors")) ...
std::vector<std::pair<std::string, Tensor>> load_safetensors(const std::string& path);

/// Returns the tensors with these names alone, in the order of the names. The other bytes are not read, so that a part
/// of a file fits into memory that the whole file would fill. Throws ValueError, too, for a name that no tensor has.
/// Mirrors `get_tensor` of `safetensors.safe_open`.
///
///     const auto head = nn::load_safetensors("model.safetensors.index.json", {"lm_head.weight"});
std::vector<std::pair<std::string, Tensor>> load_safetensors(const std::string& path,
                                                             const std::vector<std::string>& names);

/// Returns the tensors that `load_safetensors` returns, in the mapped file: the file opens at once, its bytes are read
/// when an op reads them, and several processes share the memory. Bools, and tensors that are not aligned, are read.
/// Throws the errors of `load_safetensors`. The file must not become shorter while the tensors exist: a program that
/// reads a missing byte ends with SIGBUS. `save_safetensors` replaces files, which leaves the tensors unchanged.
/// Mirrors `safetensors.safe_open`.
///
///     nn::save_safetensors("large.safetensors", {{"w", K::ones({1000, 1000})}});
///     for (const auto& [name, tensor] : nn::map_safetensors("large.safetensors"))
///       std::cout << name << " " << tensor.shape();
std::vector<std::pair<std::string, Tensor>> map_safetensors(const std::string& path);

/// Reads the metadata of a .safetensors file: texts with names.
///
///     nn::save_safetensors("x.safetensors", {{"x", K::ones({2})}}, {{"author", "me"}});
///     for (const auto& [key, text] : nn::load_safetensors_metadata("x.safetensors"))
///       std::cout << key << ": " << text;
std::vector<std::pair<std::string, std::string>> load_safetensors_metadata(const std::string& path);

/// Writes tensors as a .safetensors file. An existing file is replaced once the new file is complete. Throws
/// IOError, naming the file, if writing fails, and ValueError for names that occur twice or are not UTF-8.
/// Mirrors `safetensors.numpy.save_file`.
///
///     nn::Sequential model({nn::Dense(2, {.input_shape = {3}, .name = "scores"})});
///     model.save_weights("model.safetensors");
///     for (const auto& [name, tensor] : nn::load_safetensors("model.safetensors"))
///       std::cout << name << " " << tensor.shape() << "\n";
void save_safetensors(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                      const std::vector<std::pair<std::string, std::string>>& metadata = {});

}  // namespace ktape::nn
