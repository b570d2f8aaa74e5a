#pragma once
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/rnn/recurrent_cells.hpp>

/// The constructor arguments of the three kinds of cells and of their layers.
namespace ktape::nn {

enum class CellKind { Simple, Lstm, Gru };

/// The arguments of a cell of any kind; a kind has no use for some of them.
template <CellKind kind>
struct CellArguments : LSTMCellOptions {
  std::int64_t units = 0;
  bool reset_after = true;
};

/// Names the arguments of the cells that have an input kernel and a recurrent kernel.
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

/// Takes over what the options of a cell, or of a layer that runs one, have in common with its arguments.
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

/// Returns the arguments of a cell from the options of a cell, or of a layer that runs one.
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

/// The initializer of a bias for the gates i, f, c, o that begins with ones for f.
Initializer with_open_forget_gate(const Initializer& bias, std::int64_t units);

/// Output and new states of a step of the cell on the inputs of its call.
std::vector<Tensor> stepped(const CellImpl& cell, const backend::RnnStep& step,
                            const std::vector<Tensor>& inputs);

/// The cell that a layer is; several in a list are stacked. Throws ValueError, naming `layer`, for a layer
/// that is none.
CellImpl& as_cell(const Layer& cell, const char* layer);

/// The config of a layer around others, each of which gets its dtype.
Config inner_with_dtype(Config config);

/// As `add_layer`, for a layer that is made of others: its dtype is theirs.
template <class Impl, class Arguments>
void add_outer_layer(ClassRegistry& registry, const std::string& name) {
  const auto make = [name](const Config& config) {
    return Layer(std::make_shared<Impl>(layer_arguments<Arguments>(name, inner_with_dtype(config))));
  };
  registry.add(name, Factory(make));
}

/// A layer as the argument of another: given as an object, or by its {class_name, config}.
struct LayerArgument : Layer {
  LayerArgument() = default;
  LayerArgument(const Layer& layer) : Layer(layer) {}
  explicit LayerArgument(const Value& value) : Layer(value.is_null() ? Layer() : Layer::from_value(value)) {}
};

}  // namespace ktape::nn
