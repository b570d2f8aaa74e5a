#pragma once
#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/weighted_layers.hpp>
#include <ktape/ops/rnn/rnn.hpp>

/// Cells of recurrent layers. A cell computes one time step: the inputs are the features of the step, (batch,
/// features), and the states; `apply` returns the output, (batch, units), followed by the new states.
///
///      nn::LSTMCell cell(8);
///      auto step = cell.apply({x, h, c});  // output, h, c
///
/// `nn::RNN` runs a cell over whole sequences. Each cell throws ValueError, naming the cell, for units below
/// 1, for dropout rates outside [0, 1), and for a wrong number of states.
namespace ktape::nn {

/// The base class of cells. A new cell derives from CellImpl.
///
///     struct SumCellImpl : nn::CellImpl {
///       SumCellImpl() : nn::CellImpl("SumCell") {}
///       std::vector<Tensor> call(const std::vector<Tensor>& inputs) override {
///         const Tensor sum = inputs[0] + inputs[1];
///         return {sum, sum};
///       }
///       std::vector<std::int64_t> state_size() const override { return {2}; }
///     };
///     std::cout << nn::RNN(nn::LayerOf<SumCellImpl>())(K::ones({1, 4, 2}));
class CellImpl : public LayerImpl {
 public:
  using Sequence = backend::RnnResult<Tensor>;
  using LayerImpl::LayerImpl;

  using LayerImpl::call;
  /// Computes a step: maps the inputs followed by the states to the output followed by the new states. A cell
  /// overrides one of the two overloads.
  virtual std::vector<Tensor> call(const std::vector<Tensor>& inputs);
  virtual std::vector<Tensor> call(const std::vector<Tensor>& inputs, const CallArguments& arguments);

  /// Returns the number of features of each state.
  virtual std::vector<std::int64_t> state_size() const = 0;
  /// Returns the shape of each state without the batch axis: (features,) unless overridden.
  virtual std::vector<Shape> state_shapes() const;
  /// Returns the number of features of the output: the number of features of the first state unless
  /// overridden.
  virtual std::int64_t output_size() const { return state_size()[0]; }

  /// Returns the step for one batch of sequences. x is the input of any time step, (batch, features). Random
  /// draws that hold for the whole sequence, such as the dropout mask, are made here and kept in the step.
  /// The default step calls the cell.
  virtual backend::RnnStep step_for(const Tensor& x, const CallArguments& arguments);
  /// Runs the whole sequence as one op. Returns nothing if there is no such op, which is the default.
  virtual std::optional<Sequence> run(const Tensor& x, const std::vector<Tensor>& states,
                                      const backend::RnnOptions& options, bool training);
};

struct SimpleRNNCellOptions {
  std::optional<std::int64_t> units = {};  ///< required: the width of the output
  ActivationFunction activation = "tanh";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  nn::Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0;            ///< the dropout rate of the inputs
  double recurrent_dropout = 0;  ///< the dropout rate of the state
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// The cell of SimpleRNN: h' = activation(dot(x, kernel) + dot(h, recurrent_kernel) + bias). State: h.
///
///     nn::SimpleRNNCell cell(8, {.activation = "relu"});
///     std::cout << cell.apply({K::ones({2, 3}), K::zeros({2, 8})})[0].shape();
class SimpleRNNCell : public RecurrentKernelLayer {
 public:
  explicit SimpleRNNCell(const SimpleRNNCellOptions& options);
  explicit SimpleRNNCell(std::int64_t units, const SimpleRNNCellOptions& options = {})
      : SimpleRNNCell(
            internal::with("SimpleRNNCell", "units", options, &SimpleRNNCellOptions::units, units)) {}
};

struct LSTMCellOptions {
  std::optional<std::int64_t> units = {};  ///< required: the width of the output
  ActivationFunction activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  bool unit_forget_bias = true;  ///< whether the bias of the forget gate begins with ones
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  nn::Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0;            ///< the dropout rate of the inputs
  double recurrent_dropout = 0;  ///< the dropout rate of the state h
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// The cell of LSTM (long short-term memory), with the formula of `K::lstm`. States: h and c. Weights: kernel
/// (features, 4 * units), recurrent_kernel (units, 4 * units) and bias (4 * units,), with the gates in the
/// order i, f, c, o.
///
///     nn::LSTMCell cell(8, {.unit_forget_bias = false});
///     std::cout << cell.apply({K::ones({2, 3}), K::zeros({2, 8}), K::zeros({2, 8})})[0]
///                      .shape()
///               << "\n"
///               << K::max(cell.bias());
class LSTMCell : public RecurrentKernelLayer {
 public:
  explicit LSTMCell(const LSTMCellOptions& options);
  explicit LSTMCell(std::int64_t units, const LSTMCellOptions& options = {})
      : LSTMCell(internal::with("LSTMCell", "units", options, &LSTMCellOptions::units, units)) {}
};

struct GRUCellOptions {
  std::optional<std::int64_t> units = {};  ///< required: the width of the output
  ActivationFunction activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  nn::Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0;            ///< the dropout rate of the inputs
  double recurrent_dropout = 0;  ///< the dropout rate of the state
  bool reset_after = true;       ///< whether the reset gate applies after the recurrent product
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// The cell of GRU (gated recurrent unit), with the formula of `K::gru`. State: h. Weights: kernel (features,
/// 3 * units), recurrent_kernel (units, 3 * units) and bias (3 * units,) or, with `reset_after`, (2, 3 *
/// units), with the gates in the order z, r, h.
///
///     nn::GRUCell cell(8), keras_1(8, {.reset_after = false});
///     for (const nn::GRUCell& layer : {cell, keras_1})
///       std::cout << layer.apply({K::ones({2, 3}), K::zeros({2, 8})})[0].shape()
///                 << " weights: " << layer.count_params() << "\n";
class GRUCell : public RecurrentKernelLayer {
 public:
  explicit GRUCell(const GRUCellOptions& options);
  explicit GRUCell(std::int64_t units, const GRUCellOptions& options = {})
      : GRUCell(internal::with("GRUCell", "units", options, &GRUCellOptions::units, units)) {}
};

struct StackedRNNCellsOptions {
  std::vector<Layer> cells = {};  ///< required: the cells, in order
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A cell that stacks cells: each cell takes the output of the previous cell. The states are the states of
/// all cells, in the order of the cells. Throws ValueError for an empty list, and for a layer that is not a
/// cell.
class StackedRNNCells : public Layer {
 public:
  explicit StackedRNNCells(const StackedRNNCellsOptions& options);
  template <class = void>
  explicit StackedRNNCells(const std::vector<Layer>& cells, const StackedRNNCellsOptions& options = {})
      : StackedRNNCells(
            internal::with("StackedRNNCells", "cells", options, &StackedRNNCellsOptions::cells, cells)) {}
};

}  // namespace ktape::nn
