#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// Layers that run another layer.
namespace ktape::nn {

struct BidirectionalOptions {
  /// The merge of the outputs of both directions: "concat", "sum", "mul" or "ave"; with null, `apply` returns
  /// both.
  OptionalString merge_mode = "concat";
  Layer backward_layer = {};  ///< by default a copy of the given layer in the other direction
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Runs a recurrent layer forwards and a second layer of its kind backwards, and merges their outputs in the
/// order of the inputs. Both layers are new layers with the config of the given layer. Initial and final
/// states are the states of the forward layer, then the states of the backward layer. With `return_sequences`
/// masked steps give zeros, and the mask passes.
///
///     nn::Bidirectional(nn::LSTM(16, {.return_sequences = true}), {.merge_mode = "sum"})
///
/// Throws ValueError for an unknown merge mode, layers that are not recurrent, a backward layer of the same
/// direction or with other outputs, and another number of initial states than both layers have.
class Bidirectional : public Layer {
 public:
  explicit Bidirectional(const Layer& layer, const BidirectionalOptions& options = {});
};

/// A layer on each time step: (batch, steps, ...) is (batch * steps, ...) to the layer. A mask (batch, steps,
/// ...) passes, and the layer gets that of each step. Throws ValueError for inputs below rank 3 and masks
/// that do not fit them.
///
///     nn::TimeDistributed(nn::Conv2D(8, 3))
class TimeDistributed : public Layer {
 public:
  explicit TimeDistributed(const Layer& layer, const LayerOptions& options = {});
};

}  // namespace ktape::nn
