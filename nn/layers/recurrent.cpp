#include <ktape/autograd/symbolic.hpp>
#include <ktape/nn/layers/recurrent.hpp>
#include <ktape/nn/layers/recurrent_arguments.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn {
namespace K = backend;

using Tensors = std::vector<Tensor>;

/// Of RNNOptions, those that the layer's config holds.
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

namespace {

/// Runs a cell over the steps.
class RecurrentImpl : public LayerImpl {
 public:
  RecurrentImpl(const char* class_name, const Layer& cell, const RNNOptions& options)
      : LayerImpl(class_name, {options.name, options.trainable, options.dtype}),
        options_(options),
        cell_(add_layer(cell)) {
    supports_masking = true;
    activity_regularizer = options.activity_regularizer;
    input_spec = {{.ndim = 3}, {}};
  }

  void build(const std::vector<Shape>& inputs) override {
    cell_.build(Shape{inputs[0][0], inputs[0][2]});
    input_spec = {{.ndim = 3, .axes = {{2, inputs[0][2]}}}, {}};
  }

  Tensors call(const Tensors& inputs, const CallArguments& arguments) override {
    const Tensor& x = inputs[0];
    const Tensors states = initial_states(x, inputs, arguments);
    K::RnnOptions options{.go_backwards = options_.go_backwards,
                          .unroll = options_.unroll,
                          .zero_output_for_mask = options_.zero_output_for_mask};
    if (!arguments.mask.empty()) options.mask = arguments.mask[0];
    std::optional<CellImpl::Sequence> whole = cell().run(x, states, options, training(arguments));
    if (!whole) {
      const Tensor first = K::squeeze(K::slice(x, {0, 0, 0}, {-1, 1, -1}), 1);
      auto [last, all, next] = K::rnn(cell().step_for(first, arguments), x, states, options);
      whole = {last[0], all[0], next};
    }
    if (options_.stateful && !is_symbolic(x)) keep(whole->new_states);
    Tensors outputs{options_.return_sequences ? whole->outputs : whole->last_output};
    if (options_.return_state)
      outputs.insert(outputs.end(), whole->new_states.begin(), whole->new_states.end());
    return outputs;
  }

  Tensors compute_mask(const Tensors&, const Tensors& masks) override {
    return {options_.return_sequences && !masks.empty() ? masks[0] : Tensor()};
  }

  const Tensors& states() const { return states_; }
  void reset_states() { states_.clear(); }
  void reset_states(const Tensors& states) {
    check_states("reset_states", states, {});
    keep(states);
  }

 protected:
  CellImpl& cell() const { return static_cast<CellImpl&>(cell_.impl()); }
  const RNNOptions options_;

 private:
  void keep(const Tensors& states) {
    Tensors kept;
    for (const Tensor& state : states) kept.push_back(state.detach());
    states_ = std::move(kept);
  }

  void check_states(const char* argument, const Tensors& states, std::optional<std::int64_t> batch) const {
    const std::vector<std::int64_t> sizes = cell().state_size();
    if (states.size() != sizes.size())
      fail("[", name(), "] ", argument, " must be one tensor for each of the ", sizes.size(),
           " states: received ", states.size());
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (!states[i].defined()) fail("[", name(), "] ", argument, " must be tensors: received None");
      const Shape want{batch.value_or(None), sizes[i]};
      if (!compatible(states[i].shape(), want))
        fail("[", name(), "] ", argument, " must have the shape ", want, " for state ", i,
             ": received shape=", states[i].shape());
    }
  }

  Tensors initial_states(const Tensor& x, const Tensors& inputs, const CallArguments& arguments) const {
    Tensors given = arguments.initial_state.vector();
    if (given.empty()) given.assign(inputs.begin() + 1, inputs.end());
    if (given.empty() && options_.stateful && !is_symbolic(x)) given = states_;
    if (!given.empty()) {
      check_states("initial_state", given, x.shape()[0]);
      return given;
    }
    for (const std::int64_t size : cell().state_size()) given.push_back(zero_state(x, size));
    return given;
  }

  static Tensor zero_state(const Tensor& x, std::int64_t size) {
    if (x.shape()[0] != None) return K::zeros({x.shape()[0], size}, {.dtype = x.dtype()});
    return K::repeat_elements(K::expand_dims(K::sum(K::zeros_like(x), {1, 2})), size, 1);
  }

  Layer cell_;
  Tensors states_;
};

// --- RNN ---------------------------------------------------------------------------------------------------

/// A cell, or a list of cells, which are stacked.
struct CellArgument : Layer {
  CellArgument() = default;
  CellArgument(const Layer& cell) : Layer(cell) {}
  explicit CellArgument(const Value& value)
      : Layer(value.is_list() ? stacked(value.list()) : Layer::from_value(value)) {}

  static Layer stacked(const Value::List& values) {
    std::vector<Layer> cells;
    for (const Value& value : values) cells.push_back(Layer::from_value(value));
    return StackedRNNCells(cells);
  }
};

struct RNNArguments : RNNOptions {
  CellArgument cell;
};
template <class F>
void fields(RNNArguments& a, F&& field) {
  field("cell", a.cell);
  fields(static_cast<RNNOptions&>(a), field);
}

class RNNImpl final : public RecurrentImpl {
 public:
  explicit RNNImpl(const RNNArguments& arguments)
      : RecurrentImpl("RNN", checked(arguments.cell), arguments), args_(arguments) {}
  Config get_config() const override { return config_of(args_); }

 private:
  static const Layer& checked(const Layer& cell) { return as_cell(cell, "RNN"), cell; }
  const RNNArguments args_;
};

// --- SimpleRNN, LSTM, GRU ----------------------------------------------------------------------------------

/// What a layer that runs a cell of its own is made from.
template <CellKind kind>
struct RecurrentArguments {
  CellArguments<kind> cell;
  RNNOptions loop;
};
template <CellKind kind, class F>
void fields(RecurrentArguments<kind>& a, F&& field) {
  fields(a.cell, field);
  fields(a.loop, field);
}

template <CellKind which>
class CellLayer final : public RecurrentImpl {
 public:
  static constexpr const char* class_name = which == CellKind::Simple ? "SimpleRNN"
                                            : which == CellKind::Lstm ? "LSTM"
                                                                      : "GRU";

  explicit CellLayer(const RecurrentArguments<which>& arguments)
      : RecurrentImpl(class_name, cell_of(arguments.cell), arguments.loop), args_(arguments) {}
  Config get_config() const override { return config_of(args_); }

 private:
  const RecurrentArguments<which> args_;
};

template <CellKind kind, class Options>
std::shared_ptr<CellLayer<kind>> layer_of(std::int64_t units, const Options& o) {
  RecurrentArguments<kind> a;
  a.cell = cell_arguments<kind>(units, o);
  a.cell.name = {};
  a.loop = {.return_sequences = o.return_sequences,
            .return_state = o.return_state,
            .go_backwards = o.go_backwards,
            .stateful = o.stateful,
            .unroll = o.unroll,
            .zero_output_for_mask = o.zero_output_for_mask,
            .activity_regularizer = o.activity_regularizer,
            .name = o.name,
            .trainable = o.trainable,
            .dtype = o.dtype};
  return std::make_shared<CellLayer<kind>>(a);
}

RecurrentImpl& as_recurrent(const Layer& layer) {
  auto* found = dynamic_cast<RecurrentImpl*>(&layer.impl());
  if (!found) fail("[RecurrentLayer] the layer must be recurrent: received ", layer.class_name());
  return *found;
}

}  // namespace

RecurrentLayer::RecurrentLayer(const Layer& layer) : Layer(layer) { as_recurrent(layer); }
std::vector<Tensor> RecurrentLayer::states() const { return as_recurrent(*this).states(); }
void RecurrentLayer::reset_states() const { as_recurrent(*this).reset_states(); }
void RecurrentLayer::reset_states(const std::vector<Tensor>& states) const {
  as_recurrent(*this).reset_states(states);
}

RNN::RNN(const Layer& cell, const RNNOptions& options)
    : RecurrentLayer(std::make_shared<RNNImpl>(RNNArguments{options, cell})) {}
RNN::RNN(const std::vector<Layer>& cells, const RNNOptions& options)
    : RNN(StackedRNNCells(cells, {.dtype = options.dtype}), options) {}

SimpleRNN::SimpleRNN(std::int64_t units, const SimpleRNNOptions& options)
    : RecurrentLayer(layer_of<CellKind::Simple>(units, options)) {}
LSTM::LSTM(std::int64_t units, const LSTMOptions& options)
    : RecurrentLayer(layer_of<CellKind::Lstm>(units, options)) {}
GRU::GRU(std::int64_t units, const GRUOptions& options)
    : RecurrentLayer(layer_of<CellKind::Gru>(units, options)) {}

void add_recurrent_layers(Catalogue& catalogue) {
  add_outer_layer<RNNImpl, RNNArguments>(catalogue, "RNN");
  add_outer_layer<CellLayer<CellKind::Simple>, RecurrentArguments<CellKind::Simple>>(catalogue, "SimpleRNN");
  add_outer_layer<CellLayer<CellKind::Lstm>, RecurrentArguments<CellKind::Lstm>>(catalogue, "LSTM");
  add_outer_layer<CellLayer<CellKind::Gru>, RecurrentArguments<CellKind::Gru>>(catalogue, "GRU");
}

}  // namespace ktape::nn
