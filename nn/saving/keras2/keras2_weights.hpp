#pragma once
#include <ktape/nn/saving/base/weights.hpp>
#include <ktape/nn/saving/hdf5/hdf5.hpp>

/// Weights as Keras 2 writes them into HDF5 files. The attribute `layer_names` of a group lists the groups of
/// the layers; the attribute `weight_names` of a layer's group lists its arrays, trainable weights first.
/// Long lists are divided among several attributes, `layer_names0` and so on. Keras 3 reads and writes this
/// layout, too. Internal: sources only.
namespace ktape::nn::saving {

/// Adds the weights of a model to a group. Throws ValueError for a model that is not built.
void add_keras2_weights(hdf5::Entry& group, const Model& model);
/// Adds the attributes `backend` and `keras_version`, for version 2 or 3 of Keras.
void add_keras_version(hdf5::Entry& group, int version);
/// Adds variables under their names in TensorFlow, "dense/kernel:0", and the attribute `weight_names`.
void add_arrays(hdf5::Entry& group, const std::vector<Variable>& variables);

/// Returns whether a file has weights in this layout, in its root or in `model_weights`.
bool is_keras2(const hdf5::File& file);
/// Assigns the weights of a file to a model. Layers are matched by name if file and model have equal names,
/// otherwise by Keras's order; weights of CuDNN layers are converted for LSTM and GRU. Matching by name also
/// knows names of older versions of Keras: conv2d_1 for the first convolution, "Conv/BatchNorm" for conv_bn.
/// Throws the errors of `assign_weights`, and IOError, naming file and object, for missing arrays and names.
void load_keras2_weights(const hdf5::File& file, const Model& model, const LoadWeightsOptions& options);
/// Returns the arrays of a group, in order.
NamedTensors arrays_of(const hdf5::File& file, const hdf5::Entry& group, const std::string& path);

}  // namespace ktape::nn::saving
