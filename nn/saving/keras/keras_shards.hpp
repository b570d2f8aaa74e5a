#pragma once
#include <ktape/nn/saving/base/format.hpp>

/// Keras 3's weights in several files: `model.weights.json` says in which of the files model_00000.weights.h5,
/// model_00001.weights.h5, ... the weights of each object stand. Keras has written this format since 3.10. Internal:
/// sources only.
namespace ktape::nn::saving {

extern const Format keras_shards;

/// Writes the weights of a model to files with at most `most` bytes of weights each; the weights of one object stay
/// together. Older files of the same names are replaced. Throws ValueError for an object whose weights have more
/// bytes.
void save_shards(const Model& model, const std::string& path, std::uint64_t most);

}  // namespace ktape::nn::saving
