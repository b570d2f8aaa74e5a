#pragma once
#include <ktape/nn/layers/layer.hpp>

/// Layers that work against overfitting: in training they disturb their input, in inference they return it.
/// Masks pass.
namespace ktape::nn {

struct DropoutOptions {
  Shape noise_shape =
      {};  ///< of the decisions, None for an extent of the input; that of the input when empty
  std::optional<std::int64_t> seed = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// In training, each element is 0 with the probability `rate`, and divided by 1 - rate otherwise. Throws
/// ValueError unless 0 <= rate < 1.
class Dropout : public Layer {
 public:
  explicit Dropout(double rate, const DropoutOptions& options = {});
};

}  // namespace ktape::nn
