#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/ops/control/function.hpp>

#include <optional>
#include <string>

namespace ktape::nn {

struct InputOptions {
  ByName by_name = {};
  OptionalShape shape = {};  ///< the shape without the batch axis; this or batch_shape is required
  std::optional<std::int64_t> batch_size = {};  ///< the extent of the batch axis; unknown by default
  std::optional<DType> dtype = {};              ///< floatx() by default
  bool sparse = false;
  OptionalShape batch_shape = {};  ///< the shape with the batch axis
  std::string name = {};           ///< "input_1", "input_2", ... by default
};

/// Returns an input of a model: a symbolic tensor of shape (batch, shape...), and a Keras tensor. Throws ValueError
/// unless exactly one of shape and batch_shape is given. Mirrors `keras.Input`.
///
///     Tensor x = nn::Input({28, 28});
///     Tensor words = nn::Input({10}, {.batch_size = 32, .dtype = "int32"});
///     std::cout << K::int_shape(x) << " " << K::int_shape(words) << " "
///               << words.dtype();
Tensor Input(const InputOptions& options);
template <class = void>
Tensor Input(std::initializer_list<std::int64_t> shape, const InputOptions& options = {}) {
  return Input(internal::with("Input", "shape", options, &InputOptions::shape, Shape(shape)));
}
template <class = void>
Tensor Input(const Shape& shape, const InputOptions& options = {}) {
  return Input(internal::with("Input", "shape", options, &InputOptions::shape, shape));
}

class Layer;
/// Returns a new symbolic tensor for an InputLayer, the layer that stands for an input in configs and in
/// `Model::layers`; undefined for a layer of another class. Internal: sources only.
Tensor input_of(const Layer& layer);

}  // namespace ktape::nn
