#pragma once
#include <ktape/nn/saving/base/format.hpp>

namespace ktape::nn::saving {

/// Layers models of TensorFlow.js, "model.json" and shards with the weights beside it, as its converter makes
/// them of Keras's. `tf.loadLayersModel` reads them, where it has the layers: TensorFlow.js has no GRU with
/// `reset_after`, its default here and in Keras. Internal: sources only.
extern const Format tfjs;

}  // namespace ktape::nn::saving
