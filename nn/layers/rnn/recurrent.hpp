#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/rnn/recurrent_cells.hpp>

/// Recurrent layers of Keras. The input is (batch, steps, features). The output is the output of the last
/// step, (batch, units), or, with `return_sequences`, the outputs of all steps, (batch, steps, units). With
/// `return_state`, `apply` returns the output followed by the final states.
///
///      nn::LSTM lstm(16, {.return_sequences = true, .return_state = true});
///      auto outputs = lstm.apply(x, {.initial_state = {h, c}});  // all outputs, h, c
///
/// The initial states are the call's `initial_state` or, with `stateful`, the final states of the last call;
/// by default the initial states are zeros. A masked step repeats the output of the previous step (zeros at
/// the first step) and keeps the states. With `return_sequences` the output has the mask of the input;
/// otherwise the output has no mask.
///
/// A layer with the default activations runs as one op, `K::simple_rnn`, `K::gru` or `K::lstm`, unless
/// dropout applies. Throws ValueError for inputs of a wrong rank, for a wrong number of initial states, and
/// for initial states of a wrong shape.
namespace ktape::nn {

/// A handle of any recurrent layer, with access to the states of a stateful layer.
///
///     nn::GRU layer(2);
///     layer(K::ones({1, 3, 4}));
///     std::cout << layer.recurrent_kernel().shape();
class RecurrentLayer : public RecurrentKernelLayer {
 public:
  /// Throws ValueError for a layer that is not recurrent.
  explicit RecurrentLayer(const Layer& layer);
  /// Returns the final states of the last call of a stateful layer. The list is empty before the first call.
  std::vector<Tensor> states() const;
  /// Resets the states, so that the next call begins with zeros.
  void reset_states() const;
  /// Sets the initial states of the next call. Throws ValueError for a wrong number of states, and for a
  /// wrong shape of a state.
  void reset_states(const std::vector<Tensor>& states) const;

 protected:
  using RecurrentKernelLayer::RecurrentKernelLayer;
};

struct RNNOptions {
  Layer cell = {};  ///< required: the cell, such as an LSTMCell
  bool return_sequences = false, return_state = false;
  bool go_backwards = false;  ///< run from the last step to the first; the outputs have this order, too
  bool stateful = false;      ///< begin each call with the final states of the last call
  bool unroll = false;        ///< accepted for Keras; does not change the result
  bool zero_output_for_mask = false;  ///< a masked step outputs zeros
  Regularizer activity_regularizer = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A recurrent layer that runs a cell, or stacked cells, over the steps.
///
///     nn::StackedRNNCells cells({.cells = {nn::GRUCell(8), nn::LSTMCell(4)}});
///     nn::RNN layer(cells), sequences(cells, {.return_sequences = true});
///     std::cout << layer(K::ones({2, 5, 3})).shape() << " "
///               << sequences(K::ones({2, 5, 3})).shape();
class RNN : public RecurrentLayer {
 public:
  explicit RNN(const RNNOptions& options);
  explicit RNN(const Layer& cell, const RNNOptions& options = {})
      : RNN(internal::with("RNN", "cell", options, &RNNOptions::cell, cell)) {}
  template <class = void>
  explicit RNN(const std::vector<Layer>& cells, const RNNOptions& options = {})
      : RNN(StackedRNNCells(cells, {.dtype = options.dtype}), options) {}
};

struct SimpleRNNOptions {
  std::optional<std::int64_t> units = {};  ///< required: the width of the output
  ActivationFunction activation = "tanh";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false, unroll = false;
  std::optional<std::int64_t> seed = {};
  bool zero_output_for_mask = false;
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A recurrent layer that runs SimpleRNNCell over the steps.
///
///     nn::SimpleRNN layer(8, {.activation = "relu", .return_sequences = true});
///     std::cout << layer(K::random_normal({2, 5, 3})).shape()
///               << " weights: " << layer.count_params();
class SimpleRNN : public RecurrentLayer {
 public:
  explicit SimpleRNN(const SimpleRNNOptions& options);
  explicit SimpleRNN(std::int64_t units, const SimpleRNNOptions& options = {})
      : SimpleRNN(internal::with("SimpleRNN", "units", options, &SimpleRNNOptions::units, units)) {}
};

struct LSTMOptions {
  std::optional<std::int64_t> units = {};  ///< required: the width of the output
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
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A recurrent layer that runs LSTMCell over the steps.
///
///     nn::LSTM lstm(8, {.return_sequences = true, .return_state = true});
///     for (const Tensor& y : lstm.apply(K::ones({2, 5, 3})))
///       std::cout << y.shape() << " ";
class LSTM : public RecurrentLayer {
 public:
  explicit LSTM(const LSTMOptions& options);
  explicit LSTM(std::int64_t units, const LSTMOptions& options = {})
      : LSTM(internal::with("LSTM", "units", options, &LSTMOptions::units, units)) {}
};

struct GRUOptions {
  std::optional<std::int64_t> units = {};  ///< required: the width of the output
  ActivationFunction activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  std::optional<std::int64_t> seed = {};
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false, unroll = false;
  bool reset_after = true, zero_output_for_mask = false;
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A recurrent layer that runs GRUCell over the steps.
///
///     nn::GRU layer(8, {.dropout = 0.2, .return_sequences = true});
///     std::cout << layer(K::random_normal({2, 5, 3})).shape()
///               << " weights: " << layer.count_params();
class GRU : public RecurrentLayer {
 public:
  explicit GRU(const GRUOptions& options);
  explicit GRU(std::int64_t units, const GRUOptions& options = {})
      : GRU(internal::with("GRU", "units", options, &GRUOptions::units, units)) {}
};

}  // namespace ktape::nn
