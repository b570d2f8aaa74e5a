#pragma once
#include <ktape/ops/control/function.hpp>

#include <optional>
#include <string>

namespace ktape::nn {

struct InputOptions {
  std::optional<std::int64_t> batch_size = {};  ///< unknown by default
  std::optional<DType> dtype = {};              ///< floatx() by default
  bool sparse = false;
  std::string name = {};  ///< "input_1", "input_2", ... by default
};

/// Returns the input of a model: a symbolic tensor of shape (batch, shape...), and a Keras tensor. Mirrors
/// `keras.Input`.
Tensor Input(const Shape& shape, const InputOptions& options = {});

class Layer;
/// The symbolic tensor that an InputLayer stands for, as configs and `Model::layers` hold one; undefined for
/// another layer. Internal: sources only.
Tensor input_of(const Layer& layer);

}  // namespace ktape::nn
