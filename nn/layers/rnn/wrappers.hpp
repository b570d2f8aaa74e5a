#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/layer.hpp>

/// Wrapper layers of Keras: layers that run another layer.
namespace ktape::nn {

struct BidirectionalOptions {
  Layer layer = {};  ///< required: the inner layer
  /// The merge of the outputs of both directions: "concat", "sum", "mul" or "ave"; with null, `apply` returns
  /// both outputs.
  OptionalString merge_mode = "concat";
  Layer backward_layer = {};  ///< by default a copy of the given layer, run in the opposite direction
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that runs a recurrent layer over the steps, and a second recurrent layer over the reversed steps,
/// and merges both outputs in the order of the inputs. Both layers are new layers with the config of the
/// given layer. Initial and final states are the states of the forward layer, then the states of the backward
/// layer. With `return_sequences` masked steps give zeros, and the output has the mask of the input.
///
///      nn::Bidirectional(nn::LSTM(16, {.return_sequences = true}), {.merge_mode = "sum"})
///
/// Throws ValueError for an unknown merge mode, for a layer that is not recurrent, for a backward layer that
/// runs in the direction of the forward layer or returns other outputs, and for a wrong number of initial
/// states.
///
///     nn::Bidirectional layer(nn::LSTM(8, {.return_sequences = true}),
///                             {.merge_mode = "sum"});
///     std::cout << layer(K::ones({2, 5, 3})).shape();
class Bidirectional : public Layer {
 public:
  explicit Bidirectional(const BidirectionalOptions& options);
  explicit Bidirectional(const Layer& layer, const BidirectionalOptions& options = {})
      : Bidirectional(
            internal::with("Bidirectional", "layer", options, &BidirectionalOptions::layer, layer)) {}
};

struct TimeDistributedOptions {
  Layer layer = {};  ///< required: the inner layer
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that applies a layer to each time step: the inner layer gets (batch, steps, ...) as (batch *
/// steps, ...). A mask (batch, steps, ...) passes to the output, and the inner layer gets the mask as (batch
/// * steps, ...). Throws ValueError for inputs below rank 3 and for masks of a wrong shape.
///
///      nn::TimeDistributed(nn::Conv2D(8, 3))
///
/// For example:
///
///     nn::TimeDistributed layer({.layer = nn::Dense({.units = 4})});
///     std::cout << layer(K::ones({2, 5, 3})).shape();
class TimeDistributed : public Layer {
 public:
  explicit TimeDistributed(const TimeDistributedOptions& options);
  explicit TimeDistributed(const Layer& layer, const TimeDistributedOptions& options = {})
      : TimeDistributed(
            internal::with("TimeDistributed", "layer", options, &TimeDistributedOptions::layer, layer)) {}
};

}  // namespace ktape::nn
