#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/composed_gradient.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/hiding.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/kernels/reduce/reductions.hpp>
#include <ktape/ops/linalg/matmul.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/rnn/internal/recurrent_arguments.hpp>
#include <ktape/ops/rnn/recorded_rnn.hpp>
#include <ktape/ops/rnn/recurrent.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/unmasked.hpp>

#include <array>

namespace ktape::backend {
namespace {

using Result = RnnResult<Tensor>;
using Tensors = std::vector<Tensor>;

using Kind = op_helpers::RecurrentKind;
using Arguments = op_helpers::RecurrentArguments;

// --- The fused op -----------------------------------------------------------------------------------------

/// Calls `f.operator()<Cell>()` with the kernels of the op.
template <class F>
void with_cell(const Kind& kind, const F& f) {
  const bool hard = kind.activation == "hard_sigmoid";
  if (kind.states == 2)
    hard ? f.template operator()<kernels::LstmCell<kernels::HardSigmoid>>()
         : f.template operator()<kernels::LstmCell<kernels::Sigmoid>>();
  else if (kind.gates == 3)
    hard ? f.template operator()<kernels::GruCell<kernels::HardSigmoid>>()
         : f.template operator()<kernels::GruCell<kernels::Sigmoid>>();
  else if (kind.activation == "relu") f.template operator()<kernels::SimpleCell<kernels::Relu>>();
  else f.template operator()<kernels::SimpleCell<kernels::Tanh>>();
}

Tensor zeros_of(const Shape& shape, DType dtype) { return zeros(shape, {.dtype = dtype}); }

/// Returns the results as the op's outputs.
Tensors in_order(const Result& result) {
  Tensors all{result.outputs, result.last_output};
  all.insert(all.end(), result.new_states.begin(), result.new_states.end());
  return all;
}

/// Calls a function of tensors on each tensor of a result.
template <class F>
Result each_of(Result result, const F& f) {
  for (Tensor* t : {&result.outputs, &result.last_output}) *t = f(*t);
  for (Tensor& t : result.new_states) t = f(t);
  return result;
}

/// Returns the results by recorded ops; half precision is converted to float32 and back.
Result by_ops(const Arguments& a) {
  if (!a.x.dtype().is_half()) return op_helpers::composed(a);
  Tensors tensors = a.tensors();
  for (Tensor& t : tensors) t = t.defined() ? cast(t, DType::Float32) : t;
  return each_of(op_helpers::composed(a.with(tensors)),
                 [&](const Tensor& t) { return cast(t, a.x.dtype()); });
}

/// One run over sequences, with the values that the gradient needs. Half precision is computed in float32; between the
/// forward and the backward pass the values are rounded.
class Recurrence {
 public:
  explicit Recurrence(const Arguments& a)
      : a_(widened(a)),
        dtype_(a.x.dtype()),
        rows_(a.samples() * a.steps()),
        features_(a.x.shape()[2]),
        units_(a.units()) {}

  Result forward() {
    const Shape state{a_.samples(), units_};
    Shape all = a_.x.shape();
    all[2] = units_;
    Result out{like(state), like(all), {like(state)}};
    if (a_.kind.states == 2) out.new_states.push_back(like(state));
    with_type([&]<class A>() { forward<A>(out); });
    return each_of(std::move(out), [&](const Tensor& t) { return op_helpers::narrowed(t, dtype_); });
  }

  /// Keeps the arguments as given, and the other values with their dtype.
  void keep(const Arguments& given) {
    a_ = given;
    for (Tensor* t : {&gates_, &h_, &c_, &apart_}) *t = op_helpers::narrowed(*t, dtype_);
  }

  void backward(Grads& grads) const {
    const Tensors given = a_.tensors();
    if (recording())
      return op_helpers::composed_gradient(
          grads, given, [&](const Tensors& own) { return in_order(by_ops(a_.with(own))); });
    std::vector<int> input(given.size(), -1);  // the index of each tensor on the tape; -1 for other tensors
    for (std::size_t i = 0, next = 0; i < given.size(); ++i)
      if (given[i].defined()) input[i] = static_cast<int>(next++);
    Recurrence wide = *this;
    wide.a_ = widened(a_);
    for (Tensor* t : {&wide.gates_, &wide.h_, &wide.c_, &wide.apart_}) *t = op_helpers::widened(*t);
    wide.with_type([&]<class A>() { wide.backward<A>(grads, input); });
  }

 private:
  static Arguments widened(const Arguments& a) {
    if (!a.x.dtype().is_half()) return a;
    Tensors tensors = a.tensors();
    for (Tensor& t : tensors) t = op_helpers::widened(t);
    return a.with(tensors);
  }
  template <class F>
  void with_type(const F& f) const {
    a_.x.dtype() == DType::Float64 ? f.template operator()<double>() : f.template operator()<float>();
  }
  Tensor like(const Shape& shape) const { return Tensor::empty(shape, a_.x.dtype()); }
  template <class A>
  static A* data(const Tensor& t) {
    return t.defined() ? t.pointer<A>() : nullptr;
  }
  template <class A>
  kernels::GateColumns<A> columns() const {
    return {units_, a_.kind.gates};
  }
  kernels::SequenceLayout layout() const {
    return {a_.samples(),
            a_.steps(),
            units_,
            a_.options.time_major,
            a_.options.go_backwards,
            a_.options.zero_output_for_mask,
            a_.options.mask.defined() ? a_.options.mask.pointer<bool>() : nullptr};
  }
  template <class A>
  kernels::RecurrentState<A> state(const A* biases) const {
    return {gates_.pointer<A>(), h_.pointer<A>(), data<A>(c_), biases, data<A>(apart_)};
  }

  /// Returns the input kernel with its columns in blocks.
  template <class A>
  Tensor spread_kernel() const {
    const auto to = columns<A>();
    Tensor out = like({features_, to.width});
    to.spread(a_.kernel.pointer<A>(), features_, out.pointer<A>());
    return out;
  }

  /// Computes the parts of the gates that do not depend on previous steps.
  template <class A>
  void project() {
    const std::int64_t width = columns<A>().width;
    gates_ = like({rows_, width});
    op_helpers::matmul(rows_, width, features_, {a_.x.pointer<A>(), features_},
                       {spread_kernel<A>().template pointer<A>(), width}, gates_.pointer<A>());
  }

  /// Returns the biases in the kernel's layout.
  template <class A>
  Tensor biases() const {
    const auto to = columns<A>();
    const bool apart = a_.kind.reset_after;
    Tensor out = zeros_of({to.blocks.padded * (to.gates + apart)}, a_.x.dtype());
    if (a_.bias.defined()) to.biases(a_.bias.pointer<A>(), apart, out.pointer<A>());
    return out;
  }

  /// Returns memory for the states before each step, with the initial state at the first step.
  template <class A>
  Tensor states_before(const Tensor& initial) const {
    const kernels::UnitBlocks<A> blocks{units_};
    const auto at = layout();
    Tensor out = like({rows_, blocks.padded});
    for (std::int64_t sample = 0; sample < at.samples; ++sample) {
      A* row = out.pointer<A>() + at.input_row(sample, 0) * blocks.padded;
      std::fill_n(std::copy_n(initial.pointer<A>() + sample * units_, units_, row), blocks.padded - units_,
                  A(0));
    }
    return out;
  }

  template <class A>
  void forward(Result& out) {
    project<A>();
    h_ = states_before<A>(a_.states[0]);
    if (a_.kind.states == 2) c_ = states_before<A>(a_.states[1]);
    if (a_.kind.reset_after) apart_ = Tensor::empty_like(h_);
    const Tensor panels = like({units_, columns<A>().width}), bias = biases<A>();
    columns<A>().panels(a_.recurrent_kernel.pointer<A>(), panels.pointer<A>());
    with_cell(a_.kind, [&]<class Cell>() {
      kernels::run_recurrent<Cell, A>(
          layout(), state<A>(bias.pointer<A>()), panels.pointer<A>(),
          {out.outputs.pointer<A>(), out.last_output.pointer<A>(), out.new_states[0].pointer<A>(),
           c_.defined() ? out.new_states[1].pointer<A>() : nullptr});
    });
  }

  /// Returns the gradient of a final state in the kernel's layout; the kernel turns it into the gradient of
  /// the initial state.
  template <class A>
  Tensor padded_state(const Tensor& gradient) const {
    const kernels::UnitBlocks<A> blocks{units_};
    Tensor out = zeros_of({a_.samples(), blocks.padded}, a_.x.dtype());
    for (std::int64_t sample = 0; gradient.defined() && sample < a_.samples(); ++sample)
      std::copy_n(gradient.pointer<A>() + sample * units_, units_, out.pointer<A>() + sample * blocks.padded);
    return out;
  }

  template <class A>
  void backward(Grads& grads, const std::vector<int>& input) const {
    const auto gates = columns<A>();
    const std::int64_t width = gates.width, padded = gates.blocks.padded;
    const Tensor panels = like({padded, width});
    Tensor slopes = Tensor::empty_like(gates_),
           of_states = apart_.defined() ? Tensor::empty_like(gates_) : slopes;
    gates.transposed_panels(a_.recurrent_kernel.pointer<A>(), panels.pointer<A>());
    const auto gradient = [&](int output) { return op_helpers::widened(grads.output(output)); };
    Tensor dh = padded_state<A>(gradient(2)), dc = c_.defined() ? padded_state<A>(gradient(3)) : Tensor();
    const Tensor all = gradient(0), last = gradient(1);
    with_cell(a_.kind, [&]<class Cell>() {
      kernels::run_recurrent_backward<Cell, A>(layout(), state<A>(nullptr), panels.pointer<A>(), data<A>(all),
                                               data<A>(last), {slopes.pointer<A>(), of_states.pointer<A>()},
                                               dh.pointer<A>(), data<A>(dc));
    });
    // The product with infinity or NaN in the recurrent kernel reaches the gradients of all samples.
    if (dh.size() > 0 && !op_helpers::all_finite(dh, padded))
      for (Tensor* t : {&slopes, &of_states, &dh, &dc}) *t = of_taken(*t, grads);
    const auto give = [&](std::size_t i, const auto& compute) {
      grads.to(input[i], [&] { return op_helpers::narrowed(compute(), dtype_); });
    };
    give(0, [&] {
      const Tensor dx =
          op_helpers::hiding_matmul(slopes, spread_kernel<A>(), {.left = true}, {.transpose_b = true});
      return reshape(dx, a_.x.shape());
    });
    const auto parameter = [&](const Tensor& like_this, const Tensor& left, const Tensor& slope) {
      const std::int64_t rows = like_this.shape()[0], stride = left.shape().back();
      const Tensor out = Tensor::empty_like(like_this);
      Tensor spread = like({rows, width});
      op_helpers::matmul(rows, width, rows_, {left.pointer<A>(), stride, true}, {slope.pointer<A>(), width},
                         spread.pointer<A>());
      if (!op_helpers::all_finite(spread.pointer<A>(), rows, width))
        spread = op_helpers::hiding_matmul(slice(reshape(left, {rows_, stride}), {0, 0}, {rows_, rows}),
                                           slope, {.right = true}, {.transpose_a = true});
      gates.gather(spread.pointer<A>(), rows, out.pointer<A>());
      return out;
    };
    give(1, [&] { return parameter(a_.kernel, a_.x, slopes); });
    give(2, [&] { return parameter(a_.recurrent_kernel, h_, of_states); });
    if (a_.bias.defined())
      give(3, [&] { return bias_gradient<A>({slopes.pointer<A>(), of_states.pointer<A>()}); });
    const Tensor initial[] = {dh, dc};
    for (std::size_t i = 0; i < a_.states.size(); ++i)
      give(4 + i, [&] { return slice(initial[i], {0, 0}, {a_.samples(), units_}); });
  }

  /// Returns slopes, or gradients of states, with zeros for the samples whose results have no gradient.
  Tensor of_taken(const Tensor& t, const Grads& grads) const {
    if (!t.defined()) return t;
    const int step_axis = a_.options.time_major ? 0 : 1;
    Tensor taken = zeros({a_.samples()}, {.dtype = DType::Bool});
    for (int output = 0; output < 2 + a_.kind.states; ++output)
      if (const Tensor& g = grads.output(output); g.defined())
        taken = taken | any(not_equal(g, 0), g.ndim() == 3 ? Axes{step_axis, 2} : Axes{1});
    if (t.shape()[0] == a_.samples()) return where(expand_dims(taken), t, 0);
    Shape steps = a_.x.shape(), place{1, 1, 1};
    steps[2] = t.shape()[1], place[1 - step_axis] = a_.samples();
    return reshape(where(reshape(taken, place), reshape(t, steps), 0), t.shape());
  }

  /// Returns the sums of the slopes over all rows: a row for each bias.
  template <class A>
  Tensor bias_gradient(const std::array<const A*, 2>& slopes) const {
    const auto gates = columns<A>();
    const Tensor sums = like({gates.width});
    Tensor out = Tensor::empty_like(a_.bias);
    for (int row = 0; row < (a_.kind.reset_after ? 2 : 1); ++row) {
      kernels::reduce_sum(slopes[row], sums.pointer<A>(), {1, rows_, gates.width});
      gates.gather(sums.pointer<A>(), 1, out.pointer<A>() + row * gates.columns);
    }
    return out;
  }

  Arguments a_;
  DType dtype_;  ///< of the given arguments
  std::int64_t rows_, features_, units_;
  Tensor gates_, h_, c_;
  Tensor apart_;  ///< the recurrent products of a GRU's candidates
};

// --- The entry --------------------------------------------------------------------------------------------

void check_parameters(const Arguments& a) {
  const char* op = a.kind.op;
  if (a.x.ndim() != 3) fail("[", op, "] x must have rank 3: received x=", a.x.shape());
  if (a.steps() == 0) fail("[", op, "] there must be a time step: received x=", a.x.shape());
  const Shape recurrent = a.recurrent_kernel.shape();
  const auto all_gates = [&](std::int64_t units) { return a.kind.gates * units; };
  if (recurrent.rank() != 2 || recurrent[0] == 0 ||
      !compatible(recurrent[1], where_known(all_gates, recurrent[0])))
    fail("[", op, "] recurrent_kernel must be (units, ", a.kind.gates,
         " * units): received recurrent_kernel=", recurrent);
  const Shape kernel{a.x.shape()[2], recurrent[1]},
      bias = a.kind.reset_after ? Shape{2, recurrent[1]} : Shape{recurrent[1]};
  if (!compatible(a.kernel.shape(), kernel))
    fail("[", op, "] kernel must have the shape ", kernel, ": received kernel=", a.kernel.shape());
  if (a.bias.defined() && !compatible(a.bias.shape(), bias))
    fail("[", op, "] bias must have the shape ", bias, ": received bias=", a.bias.shape());
  if (!a.states.empty() && static_cast<int>(a.states.size()) != a.kind.states)
    fail("[", op, "] initial_states must be ", a.kind.states, " or none: received ", a.states.size());
  for (const Tensor& state : a.states)
    if (!compatible(state.shape(), Shape{a.samples(), a.units()}))
      fail("[", op, "] the initial states must have the shape ", Shape{a.samples(), a.units()}, ": received ",
           state.shape());
  op_helpers::expect_floating(op, a.x);
  for (const Tensor& t : a.tensors())
    if (t.defined()) op_helpers::expect_same_dtype(op, a.x, t);
}

/// Returns the mask as a bool tensor of rank 2.
Tensor checked_mask(const Arguments& a) {
  const Tensor& mask = a.options.mask;
  if (!mask.defined()) return mask;
  const Shape wanted{a.x.shape()[0], a.x.shape()[1]};
  const Shape with_axis{wanted[0], wanted[1], 1};
  if (!compatible(mask.shape(), wanted) && !compatible(mask.shape(), with_axis))
    fail("[", a.kind.op, "] the mask must have the shape ", wanted, ": received mask=", mask.shape());
  return is_symbolic(mask) ? mask : cast(reshape(mask.detach(), wanted), DType::Bool);
}

Result run(Arguments a) {
  if (a.states.empty() && a.x.ndim() == 3 && a.recurrent_kernel.ndim() == 2)
    a.states.assign(static_cast<std::size_t>(a.kind.states), zeros_of({a.samples(), a.units()}, a.x.dtype()));
  check_parameters(a);
  a.options.mask = checked_mask(a);
  a.x = op_helpers::unmasked(a.x, a.options.mask);
  if (!a.kind.fused()) return by_ops(a);
  Recurrence recurrence(a);
  Result out = recurrence.forward();
  Tensors inputs;
  for (const Tensor& t : a.tensors())
    if (t.defined()) inputs.push_back(t);
  if (recording(std::span<const Tensor>(inputs))) {
    const Tensors outs = in_order(out);
    recurrence.keep(a);
    record(a.kind.op, std::span<const Tensor>(outs), std::span<const Tensor>(inputs),
           [recurrence = std::move(recurrence)](Grads& grads) { recurrence.backward(grads); });
  }
  return out;
}

Result run_any(const Arguments& a);

/// Returns the shapes and dtypes of the results.
std::vector<OutputInfo> results_of(const Arguments& a) {
  check_parameters(a);
  checked_mask(a);
  std::int64_t samples = a.samples();
  for (const Tensor& state : a.states) samples = merged(samples, state.shape()[0]);
  const Shape state{samples, a.units()};
  Shape outputs = state;
  outputs.insert(a.options.time_major ? 0 : 1, a.steps());
  std::vector<OutputInfo> all(static_cast<std::size_t>(2 + a.kind.states), {state, a.x.dtype()});
  all[0].shape = outputs;
  return all;
}

/// Defers the recurrence as one op.
Result later(const Arguments& a) {
  RnnOptions options = a.options;
  options.mask = {};
  const auto run = [kind = a.kind, options](const Tensors& t, const Tensor& mask) {
    Arguments given{kind, t[0], t[1], t[2], t[3], {t.begin() + 4, t.end()}, options};
    given.options.mask = mask;
    return in_order(run_any(given));
  };
  const WithoutGradient mask{a.options.mask};
  auto symbol = Ref<Symbol>::adopt(
      new DeferredCall<decltype(run), Tensors, WithoutGradient>(a.kind.op, false, run, a.tensors(), mask));
  const RecordedRecurrence recorded{
      a.kind.activation,
      a.kind.reset_after,
      options.go_backwards,
      options.time_major,
      options.zero_output_for_mask,
      static_cast<std::size_t>(a.kind.states),
      [kind = a.kind, options](const Tensors& operands) {
        const Tensors t(operands.begin(), operands.end() - 1);
        RnnOptions own = options;
        own.mask = operands.back();
        return in_order(op_helpers::composed({kind, t[0], t[1], t[2], t[3], {t.begin() + 4, t.end()}, own}));
      }};
  if (!running_graph()) symbol = described(std::move(symbol), {{0, false, recorded}});
  const Tensors results = defer(std::move(symbol), results_of(a));
  return {results[1], results[0], {results.begin() + 2, results.end()}};
}

Result run_any(const Arguments& a) {
  expect_defined(a.kind.op, "x, kernel, recurrent_kernel", a.x, a.kernel, a.recurrent_kernel);
  expect_defined(a.kind.op, "initial_states", a.states);
  if (is_symbolic(a.tensors()) || is_symbolic(a.options.mask)) return later(a);
  return run(a);
}

/// Runs a kind of recurrence on the arguments of its function.
template <class Options>
Result run_kind(const Kind& kind, const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel,
                const Tensor& bias, const TensorList& initial_states, const Options& o) {
  return run_any({kind,
                  TensorArgument(x),
                  TensorArgument(kernel),
                  TensorArgument(recurrent_kernel),
                  TensorArgument(bias),
                  initial_states.vector(),
                  {.go_backwards = o.go_backwards,
                   .mask = o.mask,
                   .time_major = o.time_major,
                   .zero_output_for_mask = o.zero_output_for_mask}});
}

std::string known(const char* op, const char* name, const std::string& activation, const char* first,
                  const char* second) {
  if (activation != first && activation != second)
    fail("[", op, "] ", name, " must be \"", first, "\" or \"", second, "\": received ", name, "=\"",
         activation, '"');
  return activation;
}

}  // namespace

const RecordedRecurrence* recorded_recurrence(const Symbol& symbol) {
  const std::vector<DescribedArgument>* const described = described_arguments(symbol);
  return described && described->size() == 1 ? std::any_cast<RecordedRecurrence>(&(*described)[0].value)
                                             : nullptr;
}

Result lstm(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel, const Tensor& bias,
            const TensorList& initial_states, const LstmOptions& options) {
  const std::string gate =
      known("lstm", "recurrent_activation", options.recurrent_activation, "sigmoid", "hard_sigmoid");
  return run_kind({"lstm", 4, 2, false, gate}, x, kernel, recurrent_kernel, bias, initial_states, options);
}

Result gru(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel, const Tensor& bias,
           const TensorList& initial_states, const GruOptions& options) {
  const std::string gate =
      known("gru", "recurrent_activation", options.recurrent_activation, "sigmoid", "hard_sigmoid");
  return run_kind({"gru", 3, 1, options.reset_after, gate}, x, kernel, recurrent_kernel, bias, initial_states,
                  options);
}

Result simple_rnn(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel, const Tensor& bias,
                  const TensorList& initial_states, const SimpleRnnOptions& options) {
  const std::string activation = known("simple_rnn", "activation", options.activation, "tanh", "relu");
  return run_kind({"simple_rnn", 1, 1, false, activation}, x, kernel, recurrent_kernel, bias, initial_states,
                  options);
}

}  // namespace ktape::backend
