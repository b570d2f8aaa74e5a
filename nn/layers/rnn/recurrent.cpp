#include <ktape/nn/layers/rnn/recurrent_loop.hpp>

namespace ktape::nn {

namespace {

// --- RNN ---------------------------------------------------------------------------------------------------

/// The cell argument of RNN: a cell, or a list of cells that RNN stacks.
struct CellArgument : Layer {
  CellArgument() = default;
  CellArgument(const Layer& cell) : Layer(cell) {}
  explicit CellArgument(const Value& value)
      : Layer(value.is_list() ? stacked(value.list()) : Layer::from_value(value)) {}

  static Layer stacked(const Value::List& values) {
    std::vector<Layer> cells;
    for (const Value& value : values) cells.push_back(Layer::from_value(value));
    return StackedRNNCells(cells,
                           {.dtype = cells.empty() ? std::nullopt : std::optional(cells[0].dtype_policy())});
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

template <CellKind which>
class CellLayer final : public RecurrentImpl {
 public:
  using Arguments = RecurrentArguments<CellArguments<which>>;
  static constexpr const char* class_name = which == CellKind::Simple ? "SimpleRNN"
                                            : which == CellKind::Lstm ? "LSTM"
                                                                      : "GRU";

  explicit CellLayer(const Arguments& arguments)
      : RecurrentImpl(class_name, cell_of(arguments.cell), arguments.loop), args_(arguments) {}
  Config get_config() const override { return config_of(args_); }

 private:
  const Arguments args_;
};

template <CellKind kind, class Options>
std::shared_ptr<CellLayer<kind>> layer_of(std::int64_t units, const Options& o) {
  typename CellLayer<kind>::Arguments a{cell_arguments<kind>(units, o), loop_options(o)};
  a.cell.name = {};
  return std::make_shared<CellLayer<kind>>(a);
}

RecurrentImpl& as_recurrent(const Layer& layer) {
  auto* found = dynamic_cast<RecurrentImpl*>(&layer.impl());
  if (!found) fail("[RecurrentLayer] the layer must be recurrent: received ", layer.class_name());
  return *found;
}

}  // namespace

RecurrentLayer::RecurrentLayer(const Layer& layer) : RecurrentKernelLayer(layer.shared()) {
  as_recurrent(layer);
}
std::vector<Tensor> RecurrentLayer::states() const { return as_recurrent(*this).states(); }
void RecurrentLayer::reset_states() const { as_recurrent(*this).reset_states(); }
void RecurrentLayer::reset_states(const std::vector<Tensor>& states) const {
  as_recurrent(*this).reset_states(states);
}

RNN::RNN(const RNNOptions& options)
    : RecurrentLayer(
          std::make_shared<RNNImpl>(RNNArguments{options, internal::given("RNN", "cell", options.cell)})) {}

SimpleRNN::SimpleRNN(const SimpleRNNOptions& options)
    : RecurrentLayer(
          layer_of<CellKind::Simple>(internal::given("SimpleRNN", "units", options.units), options)) {}
LSTM::LSTM(const LSTMOptions& options)
    : RecurrentLayer(layer_of<CellKind::Lstm>(internal::given("LSTM", "units", options.units), options)) {}
GRU::GRU(const GRUOptions& options)
    : RecurrentLayer(layer_of<CellKind::Gru>(internal::given("GRU", "units", options.units), options)) {}

namespace {

template <CellKind kind>
void add_cell_layer(ClassRegistry& registry) {
  using Impl = CellLayer<kind>;
  add_outer_layer<Impl, typename Impl::Arguments>(registry, Impl::class_name);
}

}  // namespace

void add_recurrent_layers(ClassRegistry& registry) {
  add_outer_layer<RNNImpl, RNNArguments>(registry, "RNN");
  add_cell_layer<CellKind::Simple>(registry);
  add_cell_layer<CellKind::Lstm>(registry);
  add_cell_layer<CellKind::Gru>(registry);
}

}  // namespace ktape::nn
