#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>
#include <utility>
#include <vector>

/// The content of files of models and tensors, for people.
namespace ktape::nn {

/// A tensor in a file.
struct ListedTensor {
  std::string name;
  std::string dtype;  ///< as the file stores the numbers: "bfloat16", too
  Shape shape = {};
  std::uint64_t bytes = 0;
};

struct FileListing {
  std::string format;                                           ///< "Keras 3", "safetensors", "ONNX", ...
  std::vector<std::pair<std::string, std::string>> facts = {};  ///< versions, metadata, inputs and outputs
  std::vector<std::pair<std::string, std::string>> layers =
      {};  ///< names and classes, where the file has a model
  std::vector<ListedTensor> tensors = {};
};

/// Returns what a file holds: `.keras`, `.h5`, `.hdf5`, `.weights.h5`, `.weights.json`, `.ktape`, `.safetensors`,
/// `.safetensors.index.json`, `.npz`, `.npy`, `.onnx`, `.pt`, `.pth`, and TensorFlow.js's `model.json`. Layers of
/// inner models have the names of the models before theirs, "encoder/dense". No model is made, so that classes may
/// be unknown. Throws IOError, naming the file, for a file that is missing or damaged, and ValueError for another
/// name. Keras's KerasFileEditor shows its weights in this way.
///
///     nn::FileListing listing = nn::list_file("linear.pt");
///     std::cout << nn::to_string(listing);
///     for (const nn::ListedTensor& tensor : listing.tensors)
///       std::cout << tensor.name << " has " << tensor.bytes << " bytes\n";
FileListing list_file(const std::string& path);

/// Returns the listing as a table. The program `ktape-files list FILE` prints the table.
std::string to_string(const FileListing& listing);

}  // namespace ktape::nn
