#pragma once
#include <ktape/nn/saving/base/weights.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

/// The layers of the library as modules of PyTorch. Internal: sources only.
namespace ktape::nn::saving {

/// The tensors of a module by their names in the module: "weight", "bias".
using ModuleTensors = std::map<std::string, Tensor>;

/// A part of a layer that one module of PyTorch holds.
struct TorchUnit {
  std::string path;        ///< the path of the layer in the model
  NamedVariables weights;  ///< the weights, under their names in the layer
  /// Returns the value of a weight from the tensors of a module; undefined if the module lacks them.
  std::function<Tensor(const std::string& weight, const ModuleTensors& module)> value;
  /// Returns the names of the tensors from which a weight is computed.
  std::function<std::vector<std::string>(const std::string& weight)> sources;
};

/// The form of the tensors in a file.
struct TorchForm {
  bool transposes = true;         ///< false for tensors in Keras's layout
  bool packed_attention = false;  ///< query, key and value are thirds of "in_proj_weight"
};

/// Returns the units of a model in the order of its layers.
std::vector<TorchUnit> torch_units(const Model& model, const TorchForm& form = {});

}  // namespace ktape::nn::saving
