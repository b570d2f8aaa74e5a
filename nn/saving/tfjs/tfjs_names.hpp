#pragma once
#include <ktape/nn/saving/base/weights.hpp>

/// The names that TensorFlow.js gives the weights of a model; files list weights by these names. Internal:
/// sources only.
///
/// A weight is "layer/weight", "conv/kernel", also when the layer is in a model in the model. The cell of a
/// recurrent layer and the layer in TimeDistributed add nothing, "lstm/kernel"; Bidirectional adds the name
/// of a direction, "rows/forward_lstm/kernel"; StackedRNNCells count, "rnn/RNNCell_0/kernel". Layers that
/// TensorFlow.js does not have add the path to the weight, "attention/query/kernel". A name that occurs
/// again, which TensorFlow.js refuses to load, gets a number.
namespace ktape::nn::saving {

/// Returns the weights of the model, each once. Throws ValueError for a model that is not built.
NamedTensors tfjs_weights(const Model& model);

/// Gives the model the weights of a file: by these names, which may also have the name of the cell in them
/// (TensorFlow 2 wrote "lstm/lstm_cell/kernel") or be "layer/0", "layer/1" (Keras 3); or, where other names
/// are there or some are not and unless `by_name` is set, in the order of the layers. Otherwise as
/// `assign_weights`.
void assign_tfjs_weights(const Model& model, const std::string& path, const NamedTensors& given,
                         const LoadWeightsOptions& options);

}  // namespace ktape::nn::saving
