#pragma once
#include <ktape/nn/saving/base/format.hpp>

namespace ktape::nn::saving {

/// Layers models of TensorFlow.js: "model.json", and files with the weights in the same folder, as
/// TensorFlow's converter writes them. `tf.loadLayersModel` reads the models whose layers TensorFlow.js has;
/// a GRU with `reset_after`, the default here and in Keras, is missing there. Internal: sources only.
extern const Format tfjs;

}  // namespace ktape::nn::saving
