#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/graph/trace.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/rnn/recorded_rnn.hpp>
#include <ktape/ops/rnn/rnn.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/unmasked.hpp>

#include <algorithm>

namespace ktape::backend {
namespace {

using detail::Tensors;

struct Extents {
  std::int64_t samples, steps;
};

std::string text(std::int64_t extent) { return extent == None ? "None" : std::to_string(extent); }

Extents extents_of(const Shape& shape, bool time_major) {
  return time_major ? Extents{shape[1], shape[0]} : Extents{shape[0], shape[1]};
}

Extents check_inputs(const TensorList& inputs, bool time_major) {
  if (inputs.empty()) fail("[rnn] there must be at least one input: received none");
  for (const Tensor& x : inputs)
    if (x.ndim() < 3) fail("[rnn] inputs must have at least rank 3: received inputs=", x.shape());
  Extents first = extents_of(inputs[0].shape(), time_major);
  for (const Tensor& x : inputs) {
    const Extents own = extents_of(x.shape(), time_major);
    if (!compatible(own.samples, first.samples) || !compatible(own.steps, first.steps))
      fail("[rnn] the inputs must agree in samples and time steps: received ", inputs[0].shape(), " and ",
           x.shape());
    first = {merged(first.samples, own.samples), merged(first.steps, own.steps)};
  }
  if (first.steps == 0) fail("[rnn] there must be a time step: received inputs=", inputs[0].shape());
  return first;
}

/// Returns the slices along time in the order in which they are processed.
Tensors in_order(const Tensor& x, const RnnOptions& options) {
  Tensors slices = unstack(x, options.time_major ? 0 : 1);
  if (options.go_backwards) std::reverse(slices.begin(), slices.end());
  return slices;
}

void check_mask(const Tensor& mask, Extents extents, bool has_states, const RnnOptions& options) {
  if (!has_states) fail("[rnn] a mask needs states to keep: received a mask and no initial_states");
  const Shape& shape = mask.shape();
  const Extents own = mask.ndim() < 2 ? Extents{-2, -2} : extents_of(shape, options.time_major);
  if (!compatible(own.samples, extents.samples) || !compatible(own.steps, extents.steps))
    fail("[rnn] the mask must have an entry for each of ", text(extents.samples), " samples and ",
         text(extents.steps), " time steps: received mask=", shape,
         options.time_major ? " (time first)" : "");
}

Tensors steps_of_mask(const Tensor& mask, const RnnOptions& options) {
  const Tensor bits = converted(mask, DType::Bool);
  return in_order(mask.ndim() == 2 ? expand_dims(bits) : bits, options);
}

void check_length(const Tensor& length, Extents extents) {
  if (!length.dtype().is_integer())
    fail<TypeError>("[rnn] input_length must be of an integer dtype: received dtype=", length.dtype());
  if (!compatible(length.shape(), Shape{extents.samples}))
    fail("[rnn] input_length must have one entry for each of ", text(extents.samples),
         " samples: received input_length=", length.shape());
}

Tensors steps_of_length(const Tensor& length, Extents extents, bool go_backwards) {
  const Tensor own = expand_dims(converted(length, DType::Int64));
  const Tensor skipped = go_backwards && own.size() > 0 ? max(own) - own : own;
  Tensors masks;
  for (std::int64_t t = 0; t < extents.steps; ++t) masks.push_back(go_backwards ? skipped <= t : own > t);
  return masks;
}

/// Returns whether the lengths mask steps.
bool uses_length(const Tensor& length, const RnnOptions& options) {
  return !options.mask.defined() && length.defined() && !options.unroll;
}

/// Returns a mask for each step, (samples, 1); empty when nothing is masked.
Tensors masks_of(Extents extents, const Tensor& length, const RnnOptions& options) {
  if (options.mask.defined()) return steps_of_mask(options.mask, options);
  return uses_length(length, options) ? steps_of_length(length, extents, options.go_backwards) : Tensors();
}

bool broadcasts(const Shape& from, const Shape& to) {
  bool fits = from.rank() == to.rank();
  for (int d = 0; fits && d < to.rank(); ++d) fits = from[d] == to[d] || from[d] == 1;
  return fits;
}

/// Returns `fresh` where the mask is true, and `held` elsewhere.
Tensors held_where_masked(const Tensor& mask, const Tensors& fresh, const Tensors& held) {
  Tensors out;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    Shape shape = mask.shape();
    while (shape.rank() > fresh[i].ndim() && shape.back() == 1) shape.erase(shape.rank() - 1);
    while (shape.rank() < fresh[i].ndim()) shape.push_back(1);
    if (!broadcasts(shape, fresh[i].shape()))
      fail("[rnn] the mask of a step must broadcast to its output and states: received mask=", mask.shape(),
           " and ", fresh[i].shape());
    out.push_back(where(reshape(mask, shape), fresh[i], held[i]));
  }
  return out;
}

/// Returns the inputs of a step with zeros for the samples that the step leaves alone. A mask of single units,
/// which has more axes, says nothing of the inputs.
Tensors unmasked_inputs(const Tensors& inputs, const Tensor& mask) {
  if (mask.size() != mask.shape()[0]) return inputs;
  Tensors out;
  for (const Tensor& x : inputs) out.push_back(op_helpers::unmasked(x, reshape(mask, {mask.size()})));
  return out;
}

Tensors zeros_for(const Tensors& tensors) {
  Tensors out;
  for (const Tensor& x : tensors) out.push_back(zeros_like(x));
  return out;
}

void check_states(const Tensors& before, const Tensors& after) {
  if (after.size() != before.size())
    fail("[rnn] the step must return ", before.size(), " states: received ", after.size());
  for (std::size_t i = 0; i < after.size(); ++i)
    if (!compatible(after[i].shape(), before[i].shape()))
      fail("[rnn] the step must keep the shapes of the states: received ", after[i].shape(), " for state ", i,
           " of ", before[i].shape());
}

/// Returns the options that a symbolic call keeps: without their tensors, which are operands.
RnnOptions without_tensors(RnnOptions options) {
  options.constants = {}, options.mask = {};
  if (std::holds_alternative<Tensor>(options.input_length)) options.input_length = Tensor();
  return options;
}

/// Returns the outputs and states of a step that is called with symbolic tensors. The step is called again
/// with the shapes of the states that it returned until these shapes do not change any more.
Trace trace_step(const RnnStep& step, const TensorList& inputs, const TensorList& initial_states,
                 const RnnOptions& options) {
  std::vector<OutputInfo> slices, states;
  for (const Tensor& x : inputs)
    slices.push_back(info_of(x)), slices.back().shape.erase(options.time_major ? 0 : 1);
  for (const Tensor& x : initial_states) states.push_back(info_of(x));
  const auto count = static_cast<std::ptrdiff_t>(slices.size());
  const auto one_step = [&](const Tensors& x) {
    const Tensors before(x.begin() + count, x.end());
    auto [outputs, after] = step({x.begin(), x.begin() + count}, before);
    expect_defined("rnn", "outputs of step", outputs), expect_defined("rnn", "states of step", after);
    check_states({before.begin(), before.begin() + static_cast<std::ptrdiff_t>(states.size())}, after);
    outputs.insert(outputs.end(), after.begin(), after.end());
    return outputs;
  };
  while (true) {
    std::vector<OutputInfo> arguments = slices;
    arguments.insert(arguments.end(), states.begin(), states.end());
    for (const Tensor& x : options.constants) arguments.push_back(info_of(x));
    Trace traced = trace("rnn", arguments, one_step);
    const std::size_t first = traced.results.size() - states.size();
    bool settled = true;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const OutputInfo next = either("rnn", states[i], traced.results[first + i]);
      settled = settled && next.shape == states[i].shape;
      states[i] = traced.results[first + i] = next;
    }
    if (settled) return traced;
  }
}

/// Returns the shapes and dtypes of the last outputs, the outputs of all steps and the states.
std::vector<OutputInfo> results_of(const Trace& step, std::size_t states, Extents extents, bool time_major) {
  const auto outputs = step.results.begin(), end = step.results.end() - static_cast<std::ptrdiff_t>(states);
  std::vector<OutputInfo> all(outputs, end);
  for (auto output = outputs; output != end; ++output) {
    all.push_back(*output);
    all.back().shape.insert(time_major ? 0 : 1, extents.steps);
  }
  all.insert(all.end(), end, step.results.end());
  return all;
}

/// A deferred loop with its arguments.
class RnnSymbol final : public Symbol {
 public:
  RnnSymbol(Ref<Symbol> call, std::vector<Operand> captured, RecordedRnn loop)
      : Symbol("rnn"), loop(std::move(loop)), call_(std::move(call)) {
    const std::span<const Operand> operands = call_->operands();
    set_operands({operands.begin(), operands.end()});
    set_captured(std::move(captured));
  }
  void run(const OperandValues& values, Results& results) const override { call_->run(values, results); }

  const RecordedRnn loop;

 private:
  Ref<Symbol> call_;
};

/// Defers the loop as one op.
RnnResult<Tensors> later(const RnnStep& step, const TensorList& inputs, const TensorList& initial_states,
                         const RnnOptions& options, const Tensor& length, Extents extents) {
  const auto run = [step, given = without_tensors(options)](
                       const TensorList& inputs, const TensorList& states, const TensorList& constants,
                       const Tensor& mask, const Tensor& length) {
    RnnOptions options = given;
    options.constants = constants, options.mask = mask;
    if (length.defined()) options.input_length = length;
    RnnResult<Tensors> result = rnn(step, inputs, states, options);
    Tensors all = std::move(result.last_output);
    for (const Tensors* list : {&result.outputs, &result.new_states})
      all.insert(all.end(), list->begin(), list->end());
    return all;
  };
  Trace traced = trace_step(step, inputs, initial_states, options);
  const WithoutGradient mask{options.mask}, lengths{length};
  using Call =
      DeferredCall<decltype(run), TensorList, TensorList, TensorList, WithoutGradient, WithoutGradient>;
  auto call = Ref<Symbol>::adopt(
      new Call("rnn", false, run, inputs, initial_states, options.constants, mask, lengths));
  const RecordedRnn loop{step, without_tensors(options), inputs.size(), initial_states.size(),
                         options.constants.size()};
  const Tensors all =
      defer(Ref<Symbol>::adopt(new RnnSymbol(std::move(call), std::move(traced.captured), loop)),
            results_of(traced, initial_states.size(), extents, options.time_major));
  const auto outputs = static_cast<std::ptrdiff_t>(all.size() - initial_states.size()) / 2;
  return {{all.begin(), all.begin() + outputs},
          {all.begin() + outputs, all.begin() + 2 * outputs},
          {all.begin() + 2 * outputs, all.end()}};
}

}  // namespace

const RecordedRnn* recorded_rnn(const Symbol& symbol) {
  const auto* const rnn = dynamic_cast<const RnnSymbol*>(&symbol);
  return rnn ? &rnn->loop : nullptr;
}

void detail::fail_several_inputs(std::size_t received) {
  fail("[rnn] a step that takes one tensor needs one input: received ", received, " inputs");
}

RnnResult<Tensors> rnn(const RnnStep& step, const TensorList& inputs, const TensorList& initial_states,
                       const RnnOptions& options) {
  expect_defined("rnn", "inputs", inputs.vector());
  expect_defined("rnn", "initial_states", initial_states.vector());
  expect_defined("rnn", "constants", options.constants.vector());
  const auto* lengths = std::get_if<Tensor>(&options.input_length);
  const Tensor length = lengths ? *lengths : Tensor();
  const Extents extents = check_inputs(inputs, options.time_major);
  if (options.mask.defined()) check_mask(options.mask, extents, !initial_states.empty(), options);
  else if (uses_length(length, options)) check_length(length, extents);
  if (is_symbolic(inputs.vector()) || is_symbolic(initial_states.vector()) ||
      is_symbolic(options.constants.vector()) || is_symbolic(options.mask, length))
    return later(step, inputs, initial_states, options, length, extents);
  const Tensors masks = masks_of(extents, length, options);
  std::vector<Tensors> slices, outputs;  // for each input and each output, the slices by step
  for (const Tensor& x : inputs) slices.push_back(in_order(x, options));
  Tensors states = initial_states.vector(), output, held;
  for (std::size_t t = 0; t < static_cast<std::size_t>(extents.steps); ++t) {
    Tensors x, arguments = states;
    for (const Tensors& input : slices) x.push_back(input[t]);
    if (!masks.empty()) x = unmasked_inputs(x, masks[t]);
    arguments.insert(arguments.end(), options.constants.begin(), options.constants.end());
    auto [fresh, next] = step(x, arguments);
    expect_defined("rnn", "outputs of step", fresh), expect_defined("rnn", "states of step", next);
    check_states(states, next);
    if (t == 0) outputs.resize(fresh.size()), held = zeros_for(fresh);
    if (fresh.size() != outputs.size())
      fail("[rnn] every step must return ", outputs.size(), " outputs, as the first: received ",
           fresh.size());
    output = masks.empty() ? std::move(fresh) : held_where_masked(masks[t], fresh, held);
    states = masks.empty() ? std::move(next) : held_where_masked(masks[t], next, states);
    if (!options.zero_output_for_mask) held = output;
    for (std::size_t i = 0; i < output.size(); ++i) outputs[i].push_back(output[i]);
  }
  Tensors stacked;
  for (const Tensors& steps : outputs) stacked.push_back(stack(steps, options.time_major ? 0 : 1));
  return {std::move(output), std::move(stacked), std::move(states)};
}

}  // namespace ktape::backend
