#include <ktape/autograd/scope.hpp>
#include <ktape/nn/layers/rnn/recurrent_arguments.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/bias.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/rnn/recurrent.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::nn {
namespace K = backend;

using Tensors = std::vector<Tensor>;

Tensors CellImpl::call(const Tensors& inputs, const CallArguments&) { return call(inputs); }
/// Throws, because the cell overrides no overload of `call`.
Tensors CellImpl::call(const Tensors&) { return {LayerImpl::call(Tensor())}; }

std::vector<Shape> CellImpl::state_shapes() const {
  std::vector<Shape> shapes;
  for (const std::int64_t size : state_size()) shapes.push_back({size});
  return shapes;
}

K::RnnStep CellImpl::step_for(const Tensor&, const CallArguments& arguments) {
  CallArguments own;
  own.training = arguments.training;
  return [this, own](const Tensors& x, const Tensors& states) {
    Tensors inputs = x;
    inputs.insert(inputs.end(), states.begin(), states.end());
    const Tensors outputs = apply(inputs, own);
    return std::pair{Tensors{outputs[0]}, Tensors(outputs.begin() + 1, outputs.end())};
  };
}

std::optional<CellImpl::Sequence> CellImpl::run(const Tensor&, const Tensors&, const K::RnnOptions&, bool) {
  return {};
}

Tensors stepped(const CellImpl& cell, const K::RnnStep& step, const Tensors& inputs) {
  const std::size_t states = cell.state_size().size();
  if (inputs.size() != 1 + states)
    fail("[", cell.name(), "] a cell must be called on its input and ", states, " states: received ",
         inputs.size(), " tensors");
  auto [outputs, next] = step({inputs[0]}, {inputs.begin() + 1, inputs.end()});
  outputs.insert(outputs.end(), next.begin(), next.end());
  return outputs;
}

Initializer with_open_forget_gate(const Initializer& bias, std::int64_t units) {
  return [bias, units](const Shape&, DType dtype) {
    return K::concatenate(
        {bias({units}, dtype), K::ones({units}, {.dtype = dtype}), bias({2 * units}, dtype)});
  };
}

namespace {

constexpr const char* class_names[] = {"SimpleRNNCell", "LSTMCell", "GRUCell"};
constexpr std::int64_t gate_counts[] = {1, 4, 3};

bool is_named(const ActivationFunction& activation, const char* name) {
  return activation.to_value() == Value(name);
}

/// A cell with the kernels of all gates side by side in one weight.
template <CellKind which>
class GatedCell : public CellImpl, public PlannedCell {
 public:
  static constexpr const char* class_name = class_names[static_cast<int>(which)];
  static constexpr std::int64_t gates = gate_counts[static_cast<int>(which)];

  explicit GatedCell(const CellArguments<which>& arguments)
      : CellImpl(class_name, layer_options_of(arguments)), args(arguments) {
    expect_count(class_name, "units", args.units);
    expect_rate(class_name, "dropout", args.dropout);
    expect_rate(class_name, "recurrent_dropout", args.recurrent_dropout);
    input_spec = {{.ndim = 2}};
  }

  Config get_config() const override { return config_of(args); }
  void state(Archive& state) override { seeds_.state(state); }

  std::vector<std::int64_t> state_size() const override {
    return std::vector<std::int64_t>(which == CellKind::Lstm ? 2 : 1, args.units);
  }

  void build(const Shape& input) override {
    kernel_ = add_weight("kernel", {input[-1], gates * args.units},
                         {.initializer = args.kernel_initializer,
                          .regularizer = args.kernel_regularizer,
                          .constraint = args.kernel_constraint});
    recurrent_kernel_ = add_weight("recurrent_kernel", {args.units, gates * args.units},
                                   {.initializer = args.recurrent_initializer,
                                    .regularizer = args.recurrent_regularizer,
                                    .constraint = args.recurrent_constraint});
    const bool two_rows = which == CellKind::Gru && args.reset_after;
    const Shape shape = two_rows ? Shape{2, gates * args.units} : Shape{gates * args.units};
    if (args.use_bias)
      bias_ = add_weight("bias", shape,
                         {.initializer = initial_bias(),
                          .regularizer = args.bias_regularizer,
                          .constraint = args.bias_constraint});
    input_spec = {{.ndim = 2, .axes = {{-1, input[-1]}}}, {.ndim = 2, .axes = {{-1, args.units}}}};
  }

  Tensors call(const Tensors& inputs, const CallArguments& arguments) override {
    return stepped(*this, step_for(inputs[0], arguments), inputs);
  }

  K::RnnStep step_for(const Tensor& x, const CallArguments& arguments) override {
    const bool trains = training(arguments);
    const Tensor input_mask =
        trains && args.dropout > 0 ? dropout_mask(K::ones_like(x), args.dropout) : Tensor();
    const Tensor state_mask =
        trains && args.recurrent_dropout > 0
            ? dropout_mask(K::ones_like(K::dot(x, K::slice(kernel_, {0, 0}, {-1, args.units}))),
                           args.recurrent_dropout)
            : Tensor();
    return [this, input_mask, state_mask](const Tensors& inputs, const Tensors& states) {
      const Tensor x = input_mask.defined() ? inputs[0] * input_mask : inputs[0];
      const Tensor h = state_mask.defined() ? states[0] * state_mask : states[0];
      Tensors next = step(x, h, states);
      return std::pair{Tensors{next[0]}, next};
    };
  }

  std::optional<Sequence> run(const Tensor& x, const Tensors& states, const K::RnnOptions& options,
                              bool training) override {
    if (!has_op() || (training && (args.dropout > 0 || args.recurrent_dropout > 0))) return {};
    return run_op(x, states, options);
  }

  std::optional<int> plan(K::NetworkBuilder& network, int x, const K::RecurrentLoop& loop) const override {
    using Cell = kernels::RecurrentDescription::Cell;
    if (!has_op() || compute_dtype() != DType::Float32 || (which == CellKind::Gru && !args.reset_after))
      return {};
    K::RecurrentLoop own = loop;
    own.relu = which == CellKind::Simple && is_named(args.activation, "relu");
    const Cell cell = which == CellKind::Lstm  ? Cell::Lstm
                      : which == CellKind::Gru ? Cell::Gru
                                               : Cell::Simple;
    return network.recurrence(x, cell, {kernel_, recurrent_kernel_, bias_}, own);
  }

 protected:
  const CellArguments<which> args;

  /// Computes a step from the inputs, the state h after dropout, and all states. Returns the new states; the
  /// first new state is the output.
  virtual Tensors step(const Tensor& x, const Tensor& h, const Tensors& states) const = 0;
  virtual bool has_op() const { return is_named(args.activation, "tanh"); }
  virtual Sequence run_op(const Tensor& x, const Tensors& states, const K::RnnOptions& options) const = 0;

  Tensor with_bias(const Tensor& x) const { return args.use_bias ? K::bias_add(x, bias_) : x; }
  Tensor bias() const { return args.use_bias ? Tensor(bias_) : Tensor(); }

  Variable kernel_, recurrent_kernel_, bias_;

 private:
  Tensor dropout_mask(const Tensor& ones, double rate) {
    return K::dropout(ones, rate, {.seed = seeds_.next()});
  }

  Initializer initial_bias() const {
    if (which != CellKind::Lstm || !args.unit_forget_bias) return args.bias_initializer;
    return with_open_forget_gate(args.bias_initializer, args.units);
  }

  SeedGenerator seeds_{this->args.seed};
};

class SimpleRNNCellImpl final : public GatedCell<CellKind::Simple> {
 public:
  using GatedCell::GatedCell;

 protected:
  Tensors step(const Tensor& x, const Tensor& h, const Tensors&) const override {
    return {args.activation(with_bias(K::dot(x, kernel_)) + K::dot(h, recurrent_kernel_))};
  }
  bool has_op() const override { return GatedCell::has_op() || is_named(args.activation, "relu"); }
  Sequence run_op(const Tensor& x, const Tensors& states, const K::RnnOptions& options) const override {
    return K::simple_rnn(x, kernel_, recurrent_kernel_, bias(), states,
                         {.activation = args.activation.to_value().string(),
                          .go_backwards = options.go_backwards,
                          .mask = options.mask,
                          .zero_output_for_mask = options.zero_output_for_mask});
  }
};

class LSTMCellImpl final : public GatedCell<CellKind::Lstm> {
 public:
  using GatedCell::GatedCell;

 protected:
  Tensors step(const Tensor& x, const Tensor& h, const Tensors& states) const override {
    const Tensors z = K::split(with_bias(K::dot(x, kernel_)) + K::dot(h, recurrent_kernel_), 4, -1);
    const auto& gate = args.recurrent_activation;
    const Tensor c = gate(z[1]) * states[1] + gate(z[0]) * args.activation(z[2]);
    return {gate(z[3]) * args.activation(c), c};
  }
  bool has_op() const override {
    return GatedCell::has_op() && is_named(args.recurrent_activation, "sigmoid");
  }
  Sequence run_op(const Tensor& x, const Tensors& states, const K::RnnOptions& options) const override {
    return K::lstm(x, kernel_, recurrent_kernel_, bias(), states,
                   {.go_backwards = options.go_backwards,
                    .mask = options.mask,
                    .zero_output_for_mask = options.zero_output_for_mask});
  }
};

class GRUCellImpl final : public GatedCell<CellKind::Gru> {
 public:
  using GatedCell::GatedCell;

 protected:
  Tensors step(const Tensor& x, const Tensor& h, const Tensors& states) const override {
    const auto& gate = args.recurrent_activation;
    const std::int64_t units = args.units;
    const Tensor input_bias = !args.reset_after || !args.use_bias ? bias() : K::squeeze(row_of_bias(0), 0);
    Tensor projected = K::dot(x, kernel_);
    if (input_bias.defined()) projected = K::bias_add(projected, input_bias);
    const Tensors xs = K::split(projected, 3, -1);
    Tensor z, r, candidate;
    if (args.reset_after) {
      Tensor recurrent = K::dot(h, recurrent_kernel_);
      if (args.use_bias) recurrent = recurrent + row_of_bias(1);
      const Tensors hs = K::split(recurrent, 3, -1);
      z = gate(xs[0] + hs[0]), r = gate(xs[1] + hs[1]);
      candidate = args.activation(xs[2] + r * hs[2]);
    } else {
      const Tensors kernels = K::split(recurrent_kernel_, {2 * units, units}, -1);
      const Tensors hs = K::split(K::dot(h, kernels[0]), 2, -1);
      z = gate(xs[0] + hs[0]), r = gate(xs[1] + hs[1]);
      candidate = args.activation(xs[2] + K::dot(r * h, kernels[1]));
    }
    return {z * states[0] + (1 - z) * candidate};
  }
  bool has_op() const override {
    return GatedCell::has_op() && is_named(args.recurrent_activation, "sigmoid");
  }
  Sequence run_op(const Tensor& x, const Tensors& states, const K::RnnOptions& options) const override {
    return K::gru(x, kernel_, recurrent_kernel_, bias(), states,
                  {.reset_after = args.reset_after,
                   .go_backwards = options.go_backwards,
                   .mask = options.mask,
                   .zero_output_for_mask = options.zero_output_for_mask});
  }

 private:
  Tensor row_of_bias(std::int64_t row) const { return K::slice(bias_, {row, 0}, {1, -1}); }
};

// --- StackedRNNCells ---------------------------------------------------------------------------------------

struct StackedArguments : LayerOptions {
  std::vector<LayerArgument> cells;
};
template <class F>
void fields(StackedArguments& a, F&& field) {
  field("cells", a.cells);
}

class StackedRNNCellsImpl final : public CellImpl {
 public:
  explicit StackedRNNCellsImpl(const StackedArguments& arguments)
      : CellImpl("StackedRNNCells", arguments), cells_(arguments.cells) {
    if (cells_.empty()) fail("[StackedRNNCells] there must be a cell: received none");
    for (const Layer& cell : cells_) as_cell(cell, "StackedRNNCells"), add_layer(cell);
  }

  Config get_config() const override { return {{"cells", cells_}}; }

  std::vector<std::int64_t> state_size() const override {
    std::vector<std::int64_t> sizes;
    for (const Layer& cell : cells_)
      for (const std::int64_t size : implementation(cell).state_size()) sizes.push_back(size);
    return sizes;
  }
  std::int64_t output_size() const override { return implementation(cells_.back()).output_size(); }

  void build(const Shape& input) override {
    Shape shape = input;
    for (const Layer& cell : cells_) {
      cell.build(shape);
      shape[-1] = implementation(cell).output_size();
    }
  }

  Tensors call(const Tensors& inputs, const CallArguments& arguments) override {
    return stepped(*this, step_for(inputs[0], arguments), inputs);
  }

  K::RnnStep step_for(const Tensor& x, const CallArguments& arguments) override {
    std::vector<std::pair<K::RnnStep, std::size_t>> steps;
    Tensor input = x;
    for (const Layer& cell : cells_) {
      CellImpl& own = implementation(cell);
      steps.emplace_back(step_of(own, input, arguments), own.state_size().size());
      input = K::repeat_elements(K::slice(x, {0, 0}, {-1, 1}), own.output_size(), 1);
    }
    return [steps](const Tensors& x, const Tensors& states) {
      Tensors output = x, all;
      auto at = states.begin();
      for (const auto& [step, count] : steps) {
        const auto end = at + static_cast<std::ptrdiff_t>(count);
        auto [next, own] = step(output, Tensors(at, end));
        output = next, at = end;
        all.insert(all.end(), own.begin(), own.end());
      }
      return std::pair{output, all};
    };
  }

  std::vector<DType> state_dtypes() const {
    std::vector<DType> dtypes;
    for (const Layer& cell : cells_)
      for (const DType dtype : nn::state_dtypes(implementation(cell))) dtypes.push_back(dtype);
    return dtypes;
  }

 private:
  static CellImpl& implementation(const Layer& cell) { return static_cast<CellImpl&>(cell.impl()); }

  /// Returns the step of a cell, in the dtypes of the cell if not all cells have the policy of the stack.
  K::RnnStep step_of(CellImpl& cell, const Tensor& x, const CallArguments& arguments) const {
    const bool alike = std::all_of(cells_.begin(), cells_.end(),
                                   [&](const Layer& one) { return same_dtypes(implementation(one), *this); });
    if (alike) return cell.step_for(x, arguments);
    const DType dtype = cell.input_dtype();
    const AutocastScope scope(dtype, K::cast);
    return [dtype, step = cell.step_for(K::as_dtype(x, dtype), arguments)](const Tensors& inputs,
                                                                           const Tensors& states) {
      const AutocastScope scope(dtype, K::cast);
      return step(in_dtype(inputs, dtype), in_dtype(states, dtype));
    };
  }

  std::vector<LayerArgument> cells_;
};

}  // namespace

bool same_dtypes(const LayerImpl& a, const LayerImpl& b) {
  return a.input_dtype() == b.input_dtype() && a.variable_dtype() == b.variable_dtype();
}

Tensors in_dtype(Tensors tensors, DType dtype) {
  for (Tensor& x : tensors) x = K::as_dtype(x, dtype);
  return tensors;
}

std::vector<DType> state_dtypes(const CellImpl& cell) {
  const auto* const stack = dynamic_cast<const StackedRNNCellsImpl*>(&cell);
  return stack ? stack->state_dtypes() : std::vector<DType>(cell.state_shapes().size(), cell.input_dtype());
}

namespace {

Value with_dtype(const Value& layer, const Value& dtype) {
  if (layer.is_list()) {
    Value::List layers;
    for (const Value& each : layer.list()) layers.push_back(with_dtype(each, dtype));
    return layers;
  }
  if (!layer.is_config()) return layer;
  Config whole = layer.config(), own = whole.get("config", Config()).config();
  if (own.get("dtype").is_null()) own.set("dtype", dtype);
  whole.set("config", inner_with_dtype(own));
  return whole;
}

}  // namespace

Config inner_with_dtype(Config config) {
  if (config.get("dtype").is_null()) return config;
  for (const char* inner : {"cell", "cells", "layer", "backward_layer"})
    if (config.contains(inner)) config.set(inner, with_dtype(config.at(inner), config.at("dtype")));
  return config;
}

CellImpl& as_cell(const Layer& cell, const char* layer) {
  auto* found = cell.defined() ? dynamic_cast<CellImpl*>(&cell.impl()) : nullptr;
  if (!found)
    fail("[", layer, "] cell must be a cell, such as an LSTMCell: received ",
         cell.defined() ? cell.class_name() : "None");
  return *found;
}

Layer cell_of(const CellArguments<CellKind::Simple>& arguments) {
  return Layer(std::make_shared<SimpleRNNCellImpl>(arguments));
}
Layer cell_of(const CellArguments<CellKind::Lstm>& arguments) {
  return Layer(std::make_shared<LSTMCellImpl>(arguments));
}
Layer cell_of(const CellArguments<CellKind::Gru>& arguments) {
  return Layer(std::make_shared<GRUCellImpl>(arguments));
}

SimpleRNNCell::SimpleRNNCell(const SimpleRNNCellOptions& options)
    : RecurrentKernelLayer(cell_of(cell_arguments<CellKind::Simple>(
                                       internal::given("SimpleRNNCell", "units", options.units), options))
                               .shared()) {}
LSTMCell::LSTMCell(const LSTMCellOptions& options)
    : RecurrentKernelLayer(cell_of(cell_arguments<CellKind::Lstm>(
                                       internal::given("LSTMCell", "units", options.units), options))
                               .shared()) {}
GRUCell::GRUCell(const GRUCellOptions& options)
    : RecurrentKernelLayer(
          cell_of(cell_arguments<CellKind::Gru>(internal::given("GRUCell", "units", options.units), options))
              .shared()) {}

StackedRNNCells::StackedRNNCells(const StackedRNNCellsOptions& options)
    : Layer(std::make_shared<StackedRNNCellsImpl>(
          StackedArguments{layer_options_of(options), {options.cells.begin(), options.cells.end()}})) {}

void add_recurrent_cells(ClassRegistry& registry) {
  add_layer<SimpleRNNCellImpl, CellArguments<CellKind::Simple>>(registry, "SimpleRNNCell");
  add_layer<LSTMCellImpl, CellArguments<CellKind::Lstm>>(registry, "LSTMCell");
  add_layer<GRUCellImpl, CellArguments<CellKind::Gru>>(registry, "GRUCell");
  add_outer_layer<StackedRNNCellsImpl, StackedArguments>(registry, "StackedRNNCells");
}

}  // namespace ktape::nn
