#pragma once
#include <ktape/nn/saving/base/weights.hpp>
#include <ktape/nn/saving/hdf5/hdf5.hpp>

/// Keras 3's layout of `.weights.h5`, also inside `.keras`. Every object has a group `vars` with its weights
/// "0", "1", ...; the group of a part has the name of the attribute that holds the part
/// (bidirectional/forward_layer/cell/vars/0) or, for parts in a list, the name of the part's class with a
/// count (layers/dense_1/vars/0). Keras 2.12 to 2.15 write nearly this layout. Internal: sources only.
namespace ktape::nn::saving {

/// Throws ValueError for a model that is not built.
hdf5::Entry keras_state(const Model& model, bool include_optimizer);

/// Returns the weights in such a file, for the layers of a model: by the names that Keras 3 writes beside
/// them, or by class and order. Throws IOError, naming file and object, for weights that are no arrays of
/// numbers, and ValueError with `by_name` for a file without names.
std::vector<LayerWeights> keras_weights(const hdf5::File& file, const Model& model, bool by_name);

/// The variables of the optimizer, in order; none where there are none.
NamedTensors keras_optimizer_state(const hdf5::File& file);

/// Replaces the separators of Windows, which Keras 2.13 wrote on Windows, by those of HDF5 in the names of a
/// file.
void separate_names(hdf5::Entry& root);

}  // namespace ktape::nn::saving
