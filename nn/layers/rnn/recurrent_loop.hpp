#pragma once
#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/layers/rnn/recurrent.hpp>
#include <ktape/nn/layers/rnn/recurrent_arguments.hpp>

/// The base class of the recurrent layers. Internal: sources only.
namespace ktape::nn {

/// Names the RNNOptions that the config of a layer holds.
template <class F>
void fields(RNNOptions& a, F&& field) {
  field("return_sequences", a.return_sequences);
  field("return_state", a.return_state);
  field("go_backwards", a.go_backwards);
  field("stateful", a.stateful);
  field("unroll", a.unroll);
  field("zero_output_for_mask", a.zero_output_for_mask);
  field("activity_regularizer", a.activity_regularizer);
}

/// The implementation of all recurrent layers: runs a cell over the steps of inputs of rank `rank`.
class RecurrentImpl : public LayerImpl, public Planned {
 public:
  using Tensors = std::vector<Tensor>;

  RecurrentImpl(const char* class_name, const Layer& cell, const RNNOptions& options, int rank = 3);

  void build(const std::vector<Shape>& inputs) override;
  Tensors call(const Tensors& inputs, const CallArguments& arguments);
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks) override;
  std::optional<int> plan(backend::NetworkBuilder& network, const std::vector<int>& inputs) const override;

  Tensors states() const;
  void reset_states() { keep({}); }
  void reset_states(const Tensors& states);
  void state(Archive& state) override;

 private:
  Tensors call_cell(const Tensors& inputs, const CallArguments& arguments);
  CellImpl& cell() const { return static_cast<CellImpl&>(cell_.impl()); }
  void keep(const Tensors& states);
  void check_states(const char* argument, const Tensors& states, std::int64_t batch) const;
  Tensors initial_states(const Tensor& x, const Tensors& inputs, const CallArguments& arguments) const;

  const RNNOptions options_;
  const int rank_;
  Layer cell_;
  mutable std::mutex kept_;  ///< guards `states_`
  Tensors states_;
};

/// The arguments of a layer that makes the cell from arguments: SimpleRNN, LSTM, GRU and the ConvLSTM layers.
template <class Cell>
struct RecurrentArguments {
  Cell cell;
  RNNOptions loop;
};
template <class Cell, class F>
void fields(RecurrentArguments<Cell>& a, F&& field) {
  fields(a.cell, field);
  fields(a.loop, field);
}

/// Sets the options of a layer, and passes `trainable` and `dtype` on to the cell. The name is for the layer
/// only.
template <class Cell>
void set_layer_options(RecurrentArguments<Cell>& a, const LayerOptions& options) {
  set_layer_options(a.loop, options);
  set_layer_options(a.cell, {.trainable = options.trainable, .dtype = options.dtype});
}

/// Returns the RNNOptions among the options of a layer.
template <class Options>
RNNOptions loop_options(const Options& o) {
  return {.return_sequences = o.return_sequences,
          .return_state = o.return_state,
          .go_backwards = o.go_backwards,
          .stateful = o.stateful,
          .unroll = o.unroll,
          .zero_output_for_mask = o.zero_output_for_mask,
          .activity_regularizer = o.activity_regularizer,
          .input_shape = o.input_shape,
          .batch_input_shape = o.batch_input_shape,
          .trainable = o.trainable,
          .dtype = o.dtype,
          .name = o.name};
}

}  // namespace ktape::nn
