#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// Layers that run another layer.
namespace ktape::nn {

struct BidirectionalOptions {
  /// How the outputs of both directions become one: "concat", "sum", "mul" or "ave"; with null, both are
  /// returned.
  OptionalString merge_mode = "concat";
  Layer backward_layer = {};  ///< by default one like the given, in the other direction
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// A recurrent layer and one of the same kind that goes the other way; the outputs of the latter are brought
/// into the order of the inputs. Both are made anew from the config of the layer. Initial and final states
/// are those of the forward layer, then those of the backward one. With `return_sequences` masked steps give
/// zeros, and the mask passes.
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
