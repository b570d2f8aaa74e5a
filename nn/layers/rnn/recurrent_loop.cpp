#include <ktape/autograd/scope.hpp>
#include <ktape/autograd/shape_rules.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/layers/rnn/recurrent_loop.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn {
namespace K = backend;

using Tensors = std::vector<Tensor>;

namespace {

/// Returns zeros of shape (batch, shape...), with the batch size of x, which may be unknown.
Tensor zero_state(const Tensor& x, const Shape& shape) {
  Shape whole = shape;
  whole.insert(0, x.shape()[0]);
  if (x.shape()[0] != None) return K::zeros(whole, {.dtype = x.dtype()});
  std::vector<int> others;
  for (int axis = 1; axis < x.ndim(); ++axis) others.push_back(axis);
  Tensor samples = K::sum(K::zeros_like(x), others);
  for (int axis = 0; axis < shape.rank(); ++axis) samples = K::expand_dims(samples);
  return samples + K::zeros(shape, {.dtype = x.dtype()});
}

/// Returns the first time step of x.
Tensor first_step(const Tensor& x) {
  Shape begin, size;
  for (int axis = 0; axis < x.ndim(); ++axis) begin.push_back(0), size.push_back(axis == 1 ? 1 : -1);
  return K::squeeze(K::slice(x, begin, size), 1);
}

/// Returns a cell's step that reads weights in the compute dtype outside of the layer's call, too: exports call it.
K::RnnStep casting(const Layer& cell, K::RnnStep step) {
  if (cell.compute_dtype() == cell.variable_dtype()) return step;
  return [step = std::move(step), dtype = cell.input_dtype()](const auto&... arguments) {
    const AutocastScope scope(dtype, K::cast);
    return step(arguments...);
  };
}

}  // namespace

RecurrentImpl::RecurrentImpl(const char* class_name, const Layer& cell, const RNNOptions& options, int rank)
    : LayerImpl(class_name, layer_options_of(options)),
      options_(options),
      rank_(rank),
      cell_(add_layer(cell)) {
  supports_masking = true;
  activity_regularizer = options.activity_regularizer;
  input_spec = {{.ndim = rank}, {}};
}

void RecurrentImpl::build(const std::vector<Shape>& inputs) {
  Shape step = inputs[0];
  step.erase(1);
  cell_.build(step);
  InputSpec spec{.ndim = rank_};
  for (int axis = 2; axis < rank_; ++axis)
    if (inputs[0][axis] != None) spec.axes.emplace_back(axis, inputs[0][axis]);
  input_spec = {spec, {}};
}

Tensors RecurrentImpl::call(const Tensors& inputs, const CallArguments& arguments) {
  if (same_dtypes(cell_.impl(), *this)) return call_cell(inputs, arguments);
  const AutocastScope scope(cell_.input_dtype(), K::cast);  // the cell has another policy than the layer
  return call_cell(in_dtype(inputs, cell_.input_dtype()), arguments);
}

Tensors RecurrentImpl::call_cell(const Tensors& inputs, const CallArguments& arguments) {
  const Tensor& x = inputs[0];
  Tensors states = initial_states(x, inputs, arguments);
  const std::vector<DType> dtypes = state_dtypes(cell());
  for (std::size_t i = 0; i < states.size(); ++i) states[i] = K::as_dtype(states[i], dtypes[i]);
  K::RnnOptions options{.go_backwards = options_.go_backwards,
                        .unroll = options_.unroll,
                        .zero_output_for_mask = options_.zero_output_for_mask};
  if (!arguments.mask.empty()) options.mask = arguments.mask[0];
  std::optional<CellImpl::Sequence> whole = cell().run(x, states, options, training(arguments));
  if (!whole) {
    auto [last, all, next] =
        K::rnn(casting(cell_, cell().step_for(first_step(x), arguments)), x, states, options);
    whole = {last[0], all[0], next};
  }
  if (options_.stateful && !is_symbolic(x)) keep(whole->new_states);
  Tensors outputs{options_.return_sequences ? whole->outputs : whole->last_output};
  if (options_.return_state)
    outputs.insert(outputs.end(), whole->new_states.begin(), whole->new_states.end());
  return outputs;
}

std::optional<int> RecurrentImpl::plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const {
  const auto* const known = dynamic_cast<const PlannedCell*>(&cell_.impl());
  if (!known || inputs.size() != 1 || rank_ != 3 || options_.stateful || options_.return_state ||
      activity_regularizer.defined())
    return {};
  return known->plan(network, inputs[0],
                     {.go_backwards = options_.go_backwards, .return_sequences = options_.return_sequences});
}

Tensors RecurrentImpl::compute_mask(const Tensors&, const Tensors& masks) {
  return {options_.return_sequences && !masks.empty() ? masks[0] : Tensor()};
}

void RecurrentImpl::reset_states(const Tensors& states) {
  check_states("reset_states", states, None);
  keep(states);
}

void RecurrentImpl::keep(const Tensors& states) {
  Tensors kept;
  for (const Tensor& state : states) kept.push_back(state.detach());
  const std::lock_guard lock(kept_);
  states_.swap(kept);
}

Tensors RecurrentImpl::states() const {
  const std::lock_guard lock(kept_);
  return states_;
}

void RecurrentImpl::state(Archive& state) {
  Tensors states = this->states();
  state("states", states);
  keep(states);
}

void RecurrentImpl::check_states(const char* argument, const Tensors& states, std::int64_t batch) const {
  const std::vector<Shape> shapes = cell().state_shapes();
  if (states.size() != shapes.size())
    fail("[", name(), "] ", argument, " must be one tensor for each of the ", shapes.size(),
         " states: received ", states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (!states[i].defined()) fail("[", name(), "] ", argument, " must be tensors: received None");
    Shape want = shapes[i];
    want.insert(0, batch);
    if (!compatible(states[i].shape(), want))
      fail("[", name(), "] ", argument, " must have the shape ", want, " for state ", i,
           ": received shape=", states[i].shape());
  }
}

Tensors RecurrentImpl::initial_states(const Tensor& x, const Tensors& inputs,
                                      const CallArguments& arguments) const {
  Tensors given = arguments.initial_state.vector();
  if (given.empty()) given.assign(inputs.begin() + 1, inputs.end());
  if (given.empty() && options_.stateful && !is_symbolic(x)) {
    const Tensors kept = states();
    if (!kept.empty() && kept[0].shape()[0] != x.shape()[0])
      fail("[", name(),
           "] a stateful layer must see batches of one size until reset_states() is called: received ",
           x.shape()[0], " samples after ", kept[0].shape()[0]);
    if (!kept.empty()) return kept;
  }
  if (!given.empty()) {
    check_states("initial_state", given, x.shape()[0]);
    return given;
  }
  for (const Shape& shape : cell().state_shapes()) given.push_back(zero_state(x, shape));
  return given;
}

}  // namespace ktape::nn
