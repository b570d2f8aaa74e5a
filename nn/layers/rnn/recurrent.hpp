#pragma once
#include <ktape/nn/layers/rnn/recurrent_cells.hpp>

/// Recurrent layers: from (batch, steps, features) to the output of the last step, (batch, units), or, with
/// `return_sequences`, to the outputs of all steps, (batch, steps, units). With `return_state`, `apply`
/// returns the final states after the output.
///
///     nn::LSTM lstm(16, {.return_sequences = true, .return_state = true});
///     auto outputs = lstm.apply(x, {.initial_state = {h, c}});  // all outputs, h, c
///
/// The first states are zeros, the call's `initial_state` or, with `stateful`, the final states of the last
/// call. A masked step repeats the output of the step before (zeros for the first step) and keeps the states.
/// The mask passes with `return_sequences`, and ends here otherwise.
///
/// With the default activations, and when no dropout applies, a layer runs as one op: `K::simple_rnn`,
/// `K::gru` or `K::lstm`. Throws ValueError for inputs of another rank, another number of initial states, and
/// states that do not fit.
namespace ktape::nn {

/// Any recurrent layer, seen as one that keeps states.
class RecurrentLayer : public RecurrentKernelLayer {
 public:
  /// Throws ValueError for a layer that is not recurrent.
  explicit RecurrentLayer(const Layer& layer);
  /// Returns the states that the last call of a stateful layer left; none before the first.
  std::vector<Tensor> states() const;
  /// Forgets the states, so that the next call begins with zeros.
  void reset_states() const;
  /// Sets the states with which the next call begins. Throws ValueError unless there is one for each state.
  void reset_states(const std::vector<Tensor>& states) const;

 protected:
  using RecurrentKernelLayer::RecurrentKernelLayer;
};

struct RNNOptions {
  bool return_sequences = false, return_state = false;
  bool go_backwards = false;  ///< the outputs are in the order in which the steps ran
  bool stateful = false;
  bool unroll = false;  ///< accepted; the result is the same
  bool zero_output_for_mask = false;
  Regularizer activity_regularizer = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Runs a cell, or several that are stacked, over the steps.
class RNN : public RecurrentLayer {
 public:
  explicit RNN(const Layer& cell, const RNNOptions& options = {});
  explicit RNN(const std::vector<Layer>& cells, const RNNOptions& options = {});
};

struct SimpleRNNOptions {
  ActivationFunction activation = "tanh";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  std::optional<std::int64_t> seed = {};
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false, unroll = false,
       zero_output_for_mask = false;
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// SimpleRNNCell over the steps.
class SimpleRNN : public RecurrentLayer {
 public:
  explicit SimpleRNN(std::int64_t units, const SimpleRNNOptions& options = {});
};

struct LSTMOptions {
  ActivationFunction activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  bool unit_forget_bias = true;
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  std::optional<std::int64_t> seed = {};
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false, unroll = false,
       zero_output_for_mask = false;
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// LSTMCell over the steps.
class LSTM : public RecurrentLayer {
 public:
  explicit LSTM(std::int64_t units, const LSTMOptions& options = {});
};

struct GRUOptions {
  ActivationFunction activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  std::optional<std::int64_t> seed = {};
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false, unroll = false,
       zero_output_for_mask = false;
  bool reset_after = true;
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// GRUCell over the steps.
class GRU : public RecurrentLayer {
 public:
  explicit GRU(std::int64_t units, const GRUOptions& options = {});
};

}  // namespace ktape::nn
