#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// Layers that give the elements of a sample another shape or place. The batch axis stays.
namespace ktape::nn {

struct FlattenOptions {
  std::string data_format = {};  ///< "channels_first" first moves the channels to the end
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// (batch, ...) becomes (batch, features).
class Flatten : public Layer {
 public:
  explicit Flatten(const FlattenOptions& options = {});
};

/// (batch, ...) becomes (batch, target_shape...), of which one extent may be -1.
class Reshape : public Layer {
 public:
  explicit Reshape(const Shape& target_shape, const LayerOptions& options = {});
};

/// Axis d of the output is axis dims[d - 1] of the input; the axes count from 1.
class Permute : public Layer {
 public:
  explicit Permute(const Shape& dims, const LayerOptions& options = {});
};

/// (batch, features) becomes (batch, n, features).
class RepeatVector : public Layer {
 public:
  explicit RepeatVector(std::int64_t n, const LayerOptions& options = {});
};

}  // namespace ktape::nn
