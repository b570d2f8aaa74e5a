#pragma once
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/nn/layers/rnn/recurrent_cells.hpp>

/// The constructor arguments of the cells, and functions for layers that contain a cell or another layer.
/// Internal: sources only.
namespace ktape::nn {

enum class CellKind { Simple, Lstm, Gru };

/// A cell that a plan can run over sequences without calling the cell.
class PlannedCell {
 public:
  /// Adds nodes that run the built cell over the sequences x, and returns the node of the output; none if the
  /// network cannot compute this cell.
  virtual std::optional<int> plan(backend::NetworkBuilder& network, int x,
                                  const backend::RecurrentLoop& loop) const = 0;

 protected:
  ~PlannedCell() = default;
};

/// The arguments of a cell of one kind. `recurrent_activation` is for LSTM and GRU, `unit_forget_bias` for
/// LSTM, `reset_after` for GRU.
template <CellKind kind>
struct CellArguments : LSTMCellOptions {
  std::int64_t units = 0;
  bool reset_after = true;
};

/// Names the common arguments of the cells for configs, without the arguments that the kind does not have.
template <class Arguments, class F>
void gate_fields(Arguments& a, F&& field, CellKind kind = CellKind::Lstm) {
  field("activation", a.activation);
  if (kind != CellKind::Simple) field("recurrent_activation", a.recurrent_activation);
  field("use_bias", a.use_bias);
  field("kernel_initializer", a.kernel_initializer);
  field("recurrent_initializer", a.recurrent_initializer);
  field("bias_initializer", a.bias_initializer);
  if (kind == CellKind::Lstm) field("unit_forget_bias", a.unit_forget_bias);
  field("kernel_regularizer", a.kernel_regularizer);
  field("recurrent_regularizer", a.recurrent_regularizer);
  field("bias_regularizer", a.bias_regularizer);
  field("kernel_constraint", a.kernel_constraint);
  field("recurrent_constraint", a.recurrent_constraint);
  field("bias_constraint", a.bias_constraint);
  field("dropout", a.dropout);
  field("recurrent_dropout", a.recurrent_dropout);
  field("seed", a.seed);
}

template <CellKind kind, class F>
void fields(CellArguments<kind>& a, F&& field) {
  field("units", a.units);
  gate_fields(a, field, kind);
  if (kind == CellKind::Gru) field("reset_after", a.reset_after);
}

/// Copies the options of a cell, or of a layer that contains a cell, into the arguments of the cell.
template <class Options>
void set_gate_arguments(LSTMCellOptions& a, const Options& o) {
  a.activation = o.activation, a.use_bias = o.use_bias;
  if constexpr (requires { o.recurrent_activation; }) a.recurrent_activation = o.recurrent_activation;
  if constexpr (requires { o.unit_forget_bias; }) a.unit_forget_bias = o.unit_forget_bias;
  a.kernel_initializer = o.kernel_initializer, a.recurrent_initializer = o.recurrent_initializer;
  a.bias_initializer = o.bias_initializer;
  a.kernel_regularizer = o.kernel_regularizer, a.recurrent_regularizer = o.recurrent_regularizer;
  a.bias_regularizer = o.bias_regularizer;
  a.kernel_constraint = o.kernel_constraint, a.recurrent_constraint = o.recurrent_constraint;
  a.bias_constraint = o.bias_constraint;
  a.dropout = o.dropout, a.recurrent_dropout = o.recurrent_dropout, a.seed = o.seed;
  a.name = o.name, a.trainable = o.trainable, a.dtype = o.dtype;
}

/// Returns the arguments of a cell, from the options of the cell or of a layer that contains the cell.
template <CellKind kind, class Options>
CellArguments<kind> cell_arguments(std::int64_t units, const Options& o) {
  CellArguments<kind> a;
  a.units = units;
  set_gate_arguments(a, o);
  if constexpr (kind == CellKind::Gru) a.reset_after = o.reset_after;
  return a;
}

Layer cell_of(const CellArguments<CellKind::Simple>& arguments);
Layer cell_of(const CellArguments<CellKind::Lstm>& arguments);
Layer cell_of(const CellArguments<CellKind::Gru>& arguments);

/// Returns the initializer of a bias for the gates i, f, c, o: ones for the forget gate f, `bias` for the
/// other gates.
Initializer with_open_forget_gate(const Initializer& bias, std::int64_t units);

/// Runs a step on the inputs of a call of the cell. Returns the output followed by the new states. Throws
/// ValueError for a wrong number of inputs.
std::vector<Tensor> stepped(const CellImpl& cell, const backend::RnnStep& step,
                            const std::vector<Tensor>& inputs);

/// Returns whether two layers compute in one dtype and keep weights in one dtype.
bool same_dtypes(const LayerImpl& a, const LayerImpl& b);
/// Returns the tensors converted to the dtype.
std::vector<Tensor> in_dtype(std::vector<Tensor> tensors, DType dtype);
/// Returns the dtype of each state of a cell. Stacked cells may differ in their policies.
std::vector<DType> state_dtypes(const CellImpl& cell);

/// Returns the implementation of a cell. Throws ValueError, naming `layer`, for a layer that is not a cell.
CellImpl& as_cell(const Layer& cell, const char* layer);

/// Returns the config of a layer that contains layers (cell, cells, layer or backward_layer), with the dtype
/// of the layer set in the configs of the inner layers that have none.
Config inner_with_dtype(Config config);

/// Registers a layer that contains layers. On loading, the inner layers keep the dtypes in their configs.
template <class Impl, class Arguments>
void add_outer_layer(ClassRegistry& registry, const std::string& name) {
  const auto make = [name](const Config& config) {
    return Layer(std::make_shared<Impl>(layer_arguments<Arguments>(name, inner_with_dtype(config))));
  };
  registry.add(name, Factory(make));
}

/// A layer as an argument of another layer: given as a layer, or as a {class_name, config}.
struct LayerArgument : Layer {
  LayerArgument() = default;
  LayerArgument(const Layer& layer) : Layer(layer) {}
  explicit LayerArgument(const Value& value) : Layer(value.is_null() ? Layer() : Layer::from_value(value)) {}
};

}  // namespace ktape::nn
