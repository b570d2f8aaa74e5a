#pragma once
#include <ktape/nn/saving/base/weights.hpp>
#include <ktape/nn/saving/hdf5/hdf5.hpp>

/// Keras 3's layout of `.weights.h5`, also inside `.keras`. Every object has a group `vars` with its weights
/// "0", "1", ...; the group of a part has the name of the attribute that holds the part
/// (bidirectional/forward_layer/cell/vars/0) or, for parts in a list, the name of the part's class with a
/// count (layers/dense_1/vars/0). Keras 2.12 to 2.15 write nearly this layout. Internal: sources only.
namespace ktape::nn::saving {

/// Returns the content of a file for a model. Throws ValueError for a model that is not built.
hdf5::Entry keras_state(const Model& model, bool include_optimizer);

/// Returns the weights in a file of this layout for the layers of a model: matched by the layer names that
/// Keras 3 also writes, or by class and order. Throws IOError, naming file and object, for weights that are
/// not arrays of numbers, and ValueError with `by_name` for a file without names.
std::vector<LayerWeights> keras_weights(const hdf5::File& file, const Model& model, bool by_name);

/// Returns the variables of the optimizer, in order; empty for a file without an optimizer.
NamedTensors keras_optimizer_state(const hdf5::File& file);

/// Replaces the separators of Windows, which Keras 2.13 wrote on Windows, by those of HDF5 in the names of a
/// file.
void separate_names(hdf5::Entry& root);

}  // namespace ktape::nn::saving
