#pragma once
#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/layers/base/weighted_layers.hpp>
#include <ktape/ops/rnn/rnn.hpp>

/// Cells: one time step of a recurrent layer. A cell takes the inputs of the step, (batch, features), and its
/// states, and `apply` returns the output, (batch, units), followed by the new states:
///
///     nn::LSTMCell cell(8);
///     auto step = cell.apply({x, h, c});  // output, h, c
///
/// `nn::RNN` runs a cell over whole sequences. All throw ValueError, naming the cell, for units below 1,
/// dropout rates outside [0, 1) and another number of states than the cell has.
namespace ktape::nn {

/// The base class of cells. Derive from CellImpl to write a cell.
class CellImpl : public LayerImpl {
 public:
  using Sequence = backend::RnnResult<Tensor>;
  using LayerImpl::LayerImpl;

  using LayerImpl::call;
  /// The inputs followed by the states become the output followed by the new states: override one of the two.
  virtual std::vector<Tensor> call(const std::vector<Tensor>& inputs);
  virtual std::vector<Tensor> call(const std::vector<Tensor>& inputs, const CallArguments& arguments);

  /// Returns the number of features of each state.
  virtual std::vector<std::int64_t> state_size() const = 0;
  /// Returns the shape of each state without the batch: the features alone, unless overridden.
  virtual std::vector<Shape> state_shapes() const;
  /// Returns the number of features of the output: that of the first state, unless overridden.
  virtual std::int64_t output_size() const { return state_size()[0]; }

  /// The step for one sequence of inputs, of which x is (batch, features) at some time: what is drawn once a
  /// sequence, such as which units dropout spares, belongs to the step. By default it calls the cell.
  virtual backend::RnnStep step_for(const Tensor& x, const CallArguments& arguments);
  /// The whole sequence by one op, where there is one for it; none by default.
  virtual std::optional<Sequence> run(const Tensor& x, const std::vector<Tensor>& states,
                                      const backend::RnnOptions& options, bool training);
};

struct SimpleRNNCellOptions {
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
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// h' = activation(dot(x, kernel) + dot(h, recurrent_kernel) + bias). State: h.
class SimpleRNNCell : public RecurrentKernelLayer {
 public:
  explicit SimpleRNNCell(std::int64_t units, const SimpleRNNCellOptions& options = {});
};

struct LSTMCellOptions {
  ActivationFunction activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  bool unit_forget_bias = true;  ///< the bias of the forget gate begins with ones
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  nn::Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0;            ///< the dropout rate of the inputs
  double recurrent_dropout = 0;  ///< the dropout rate of the state h
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Long short-term memory, with the formula of `K::lstm`. States: h and c. Weights: kernel (features, 4 *
/// units), recurrent_kernel (units, 4 * units) and bias (4 * units,), gates in the order i, f, c, o.
class LSTMCell : public RecurrentKernelLayer {
 public:
  explicit LSTMCell(std::int64_t units, const LSTMCellOptions& options = {});
};

struct GRUCellOptions {
  ActivationFunction activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  nn::Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0;            ///< the dropout rate of the inputs
  double recurrent_dropout = 0;  ///< the dropout rate of the state
  bool reset_after = true;       ///< applies the reset gate after the recurrent product
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Gated recurrent unit, with the formula of `K::gru`. State: h. Weights: kernel (features, 3 * units),
/// recurrent_kernel (units, 3 * units) and bias (3 * units,) or, with `reset_after`, (2, 3 * units), gates in
/// the order z, r, h.
class GRUCell : public RecurrentKernelLayer {
 public:
  explicit GRUCell(std::int64_t units, const GRUCellOptions& options = {});
};

/// Cells one on the other: each takes the output of the one before it. The states are those of all cells, in
/// the order of the cells. Throws ValueError for no cells, and for layers that are no cells.
class StackedRNNCells : public Layer {
 public:
  explicit StackedRNNCells(const std::vector<Layer>& cells, const LayerOptions& options = {});
};

}  // namespace ktape::nn
