#pragma once
#include <ktape/nn/saving/base/weights.hpp>

/// The names that TensorFlow.js gives the weights of a model; files list weights by these names. Internal:
/// sources only.
///
/// The name of a weight is "layer/weight", such as "conv/kernel", also for a layer of an inner model. The
/// cell of a recurrent layer and the layer in TimeDistributed add no part ("lstm/kernel"); Bidirectional adds
/// the name of a direction ("rows/forward_lstm/kernel"); StackedRNNCells add a numbered part
/// ("rnn/RNNCell_0/kernel"). Layers that TensorFlow.js does not have add the path to the weight
/// ("attention/query/kernel"). A repeated name, which TensorFlow.js refuses to load, gets a number.
namespace ktape::nn::saving {

/// Returns the weights of the model, each once. Throws ValueError for a model that is not built.
NamedTensors tfjs_weights(const Model& model);

/// Assigns the weights of a file to the model by these names, which may also contain the name of the cell
/// (TensorFlow 2 wrote "lstm/lstm_cell/kernel") or be "layer/0", "layer/1" (Keras 3). If names are unknown or
/// missing, and `by_name` is not set, the weights are assigned in the order of the layers. See also
/// `assign_weights`.
void assign_tfjs_weights(const Model& model, const std::string& path, const NamedTensors& given,
                         const LoadWeightsOptions& options);

}  // namespace ktape::nn::saving
