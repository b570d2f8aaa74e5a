#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/autograd/environment.hpp>
#include <ktape/autograd/tensor_metadata.hpp>
#include <ktape/nn/layers/base/call_reports.hpp>
#include <ktape/nn/layers/base/layer_call.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include <algorithm>

/// The calls of layers: inputs are checked, weights are built, masks and losses are kept, and errors get the
/// name of the layer.
namespace ktape::nn {
namespace K = backend;

namespace {

/// The layer whose `call` is running on this thread.
thread_local LayerImpl* caller [[gnu::tls_model("initial-exec")]] = nullptr;
/// The number of calls on this thread that no other layer made.
thread_local std::uint64_t outermost [[gnu::tls_model("initial-exec")]] = 0;

}  // namespace

class LayerImpl::CallScope {
 public:
  CallScope(LayerImpl& layer, const CallArguments& arguments) : before_(caller) {
    if (const ThreadState* trainer = layer.trained_by_.load(std::memory_order_relaxed);
        trainer && trainer != &thread_state()) [[unlikely]]
      fail("[", layer.name_, "] a model must not be called while another thread trains the model");
    if (arguments.training) phase_.emplace(*arguments.training ? 1 : 0);
    if (!before_) ++outermost;
    else if (before_ != &layer && layer.part_of_.load(std::memory_order_relaxed) != before_->number_)
      before_->adopt_called(layer);
    caller = &layer;
  }
  ~CallScope() { caller = before_; }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  LayerImpl* before_;
  std::optional<K::learning_phase_scope> phase_;
};

/// A scope in which this thread builds layers while other threads wait to build layers. The first call of a
/// layer belongs to the scope, so that no other thread sees weights that a failure removes again.
class LayerImpl::FirstCall {
 public:
  FirstCall() : turn_(mutex()), outer_(std::exchange(current_, this)) {}
  ~FirstCall() {
    current_ = outer_;
    if (outer_) return;
    for (const Before& before : began_)
      if (before.layer->stage_.load(std::memory_order_relaxed) == Stage::FirstCall)
        before.layer->stage_.store(Stage::Built, std::memory_order_release);
  }
  FirstCall(const FirstCall&) = delete;
  FirstCall& operator=(const FirstCall&) = delete;

  static bool running() { return current_ != nullptr; }

  /// Records the state of a layer before its build. Returns the position of the record, for `take_back`.
  std::size_t begin(LayerImpl& layer) {
    std::vector<Before>& began = outermost().began_;
    began.push_back(
        {layer.shared_from_this(), layer.weights_.size(), layer.sublayers_.size(), layer.input_spec});
    return began.size() - 1;
  }
  /// Restores all layers whose records are at position `from` or later to the state before their build.
  void take_back(std::size_t from) {
    std::vector<Before>& began = outermost().began_;
    for (; began.size() > from; began.pop_back()) {
      const Before& before = began.back();
      before.layer->unbuild(before.weights, before.layers, before.spec);
    }
  }

 private:
  struct Before {
    std::shared_ptr<LayerImpl> layer;
    std::size_t weights, layers;
    std::vector<InputSpec> spec;
  };

  FirstCall& outermost() {
    FirstCall* call = this;
    while (call->outer_) call = call->outer_;
    return *call;
  }
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex& mutex = *new std::recursive_mutex;
    return mutex;
  }

  static thread_local FirstCall* current_ [[gnu::tls_model("initial-exec")]];
  const std::lock_guard<std::recursive_mutex> turn_;
  FirstCall* outer_;
  std::vector<Before> began_;
};
thread_local LayerImpl::FirstCall* LayerImpl::FirstCall::current_ [[gnu::tls_model("initial-exec")]] =
    nullptr;

bool LayerImpl::in_first_call() { return FirstCall::running(); }

GraphScope::GraphScope() : before_(std::exchange(caller, nullptr)) {}
GraphScope::~GraphScope() { caller = before_; }

namespace {

std::vector<Shape> shapes_of(const std::vector<Tensor>& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& x : tensors) shapes.push_back(x.shape());
  return shapes;
}

bool any_symbolic(const CallArguments& arguments) {
  return is_symbolic(arguments.mask.vector()) || is_symbolic(arguments.initial_state.vector()) ||
         is_symbolic(arguments.attention_mask, arguments.count_weights);
}

/// Rethrows the current error with the name of the layer and the shapes of the inputs added.
[[noreturn]] void rethrow_from(const std::string& layer, const std::vector<Tensor>& inputs) {
  const auto text = [&](const Error& error) {
    std::ostringstream out;
    out << error.what();
    if (out.str().find('[' + layer + ']') != std::string::npos) return out.str();
    out << " (in layer '" << layer << "', called on shape";
    for (const Tensor& x : inputs)
      if (x.defined()) out << ' ' << x.shape();
    out << ')';
    return out.str();
  };
  try {
    throw;
  } catch (const ValueError& error) {
    throw ValueError(text(error));
  } catch (const TypeError& error) {
    throw TypeError(text(error));
  } catch (const IOError& error) {
    throw IOError(text(error));
  }
}

const Tensor& own_mask(const Tensor& x) {
  static const Tensor none;
  const auto& metadata = x.get()->metadata;
  return metadata ? metadata->mask : none;
}

/// Returns a mask for each input: the given masks or, if none are given, the masks that the inputs carry. The
/// mask is undefined for an input without a mask.
std::vector<Tensor> masks_for(const std::vector<Tensor>& inputs, const TensorList& given) {
  std::vector<Tensor> masks = given.vector();
  if (masks.empty())
    for (const Tensor& x : inputs) masks.push_back(own_mask(x));
  return masks;
}

CallArguments with_mask_argument(CallArguments arguments, TensorList mask) {
  arguments.mask = std::move(mask);
  return arguments;
}

}  // namespace

Tensor mask_of(const Tensor& x) { return x.defined() ? own_mask(x) : Tensor(); }

Tensor with_mask(const Tensor& x, const Tensor& mask) {
  expect_defined("with_mask", "x", x);
  if (own_mask(x).get() == mask.get()) return x;
  const TensorImpl& from = x.impl();
  Tensor out(Ref<TensorImpl>::adopt(new TensorImpl(from.shape, from.size, from.dtype, from.storage)));
  TensorImpl& to = *out.get();
  to.output = from.output;
  to.node = from.node;
  to.symbol = from.symbol;
  to.metadata =
      from.metadata ? std::make_unique<TensorMetadata>(*from.metadata) : std::make_unique<TensorMetadata>();
  to.metadata->mask = mask;
  return out;
}

// --- Functions that an Impl may override -------------------------------------------------------------------

/// The forms of an object that no Layer of the object's class holds: the virtual functions for one tensor.
const CallForms LayerImpl::virtual_forms{
    .one = [](LayerImpl& layer, const Tensor& x, const CallArguments& arguments) {
      return layer.call(x, arguments);
    }};

Tensor LayerImpl::call(const Tensor& x, const CallArguments&) { return call(x); }
Tensor LayerImpl::call(const Tensor&) { fail_without_result(); }

void LayerImpl::fail_without_result() const {
  fail("[", name_,
       "] a form of call must be overridden and return what it computes: received None from class ",
       class_name());
}

std::vector<Tensor> LayerImpl::call_many(const std::vector<Tensor>& inputs, const CallArguments& arguments) {
  if (!forms_->several && forms_ != &virtual_forms)
    fail("[", name_, "] the layer takes one input: received ", inputs.size());
  std::vector<Tensor> outputs;
  if (forms_->several) outputs = forms_->several(*this, inputs, arguments);
  const bool defined =
      std::all_of(outputs.begin(), outputs.end(), [](const Tensor& y) { return y.defined(); });
  if (outputs.empty() || !defined) fail_without_result();
  return outputs;
}

Tensor LayerImpl::compute_mask(const Tensor&, const Tensor& mask) { return mask; }

std::vector<Tensor> LayerImpl::compute_mask(const std::vector<Tensor>& inputs,
                                            const std::vector<Tensor>& masks) {
  return {compute_mask(inputs[0], masks[0])};
}

bool LayerImpl::training(const CallArguments& arguments) {
  return arguments.training ? *arguments.training : K::learning_phase() == 1;
}

void LayerImpl::forget_reports() const {
  CallReports::forget(*this);
  for (const Layer& layer : sublayers()) layer.impl().forget_reports();
}

void LayerImpl::add_loss(const Tensor& loss) {
  if (is_symbolic(loss)) return;  // a symbolic call only infers the shapes of the outputs
  CallReports::begin(shared_from_this(), outermost).losses.push_back(loss);
}

void LayerImpl::add_metric(const Tensor& value, const std::string& name) {
  if (is_symbolic(value)) return;
  CallReports::begin(shared_from_this(), outermost).metrics.emplace_back(name, value.detach());
}

// --- Calls of an Impl --------------------------------------------------------------------------------------

namespace {

bool fits(const InputSpec& spec, const Shape& shape) {
  const int rank = shape.rank();
  if (rank != spec.ndim.value_or(rank) || rank < spec.min_ndim.value_or(rank) ||
      rank > spec.max_ndim.value_or(rank))
    return false;
  return std::all_of(spec.axes.begin(), spec.axes.end(), [&](const auto& wanted) {
    const int at = wanted.first < 0 ? wanted.first + rank : wanted.first;
    return at >= 0 && at < rank && (shape[at] == wanted.second || shape[at] == None);
  });
}

std::string text_of(const InputSpec& spec) {
  std::ostringstream out;
  const auto write = [&](const auto&... parts) {
    out << (out.tellp() > 0 ? ", " : "");
    (out << ... << parts);
  };
  if (spec.ndim) write("ndim=", *spec.ndim);
  if (spec.min_ndim) write("min_ndim=", *spec.min_ndim);
  if (spec.max_ndim) write("max_ndim=", *spec.max_ndim);
  for (const auto& [axis, extent] : spec.axes) write("shape[", axis, "]=", extent);
  return out.str();
}

}  // namespace

Tensor LayerImpl::accepted(const Tensor& x, std::size_t place, std::size_t count) const {
  const auto which = [&] { return count == 1 ? "the input" : "input " + std::to_string(place); };
  if (!x.defined()) fail("[", name_, "] ", which(), " must be a tensor: received None");
  if (!input_spec.empty()) {
    const InputSpec& spec = input_spec[std::min(place, input_spec.size() - 1)];
    if (!fits(spec, x.shape()))
      fail("[", name_, "] ", which(), " must have ", text_of(spec), ": received shape=", x.shape());
  }
  const bool other = x.dtype() != dtype_ && x.dtype().is_floating() && dtype_.is_floating();
  return other ? with_mask(K::as_dtype(x, dtype_), own_mask(x)) : x;
}

/// Builds the layer, then calls `go_on` in the scope of the layer's name. When the build or `go_on` throws,
/// all layers that were built meanwhile are unbuilt again.
template <class F>
auto LayerImpl::building(FirstCall& turn, const std::vector<Shape>& inputs, F&& go_on) {
  const std::size_t begin = turn.begin(*this);
  std::optional<K::name_scope> scope;
  if (names_weights) scope.emplace(name_);
  building_ = names_weights;
  try {
    {
      const InferenceScope computing(false);  // weights get values even while a call is traced
      build(inputs);
    }
    building_ = false;
    stage_.store(Stage::FirstCall, std::memory_order_relaxed);
    return go_on();
  } catch (...) {
    turn.take_back(begin);
    throw;
  }
}

/// Restores the layer after a failed build: unbuilt, with its first `weights` weights and `layers` sublayers.
void LayerImpl::unbuild(std::size_t weights, std::size_t layers, const std::vector<InputSpec>& spec) {
  std::vector<Weight> later_weights;  // the destructors run without the lock
  std::vector<Layer> later_layers;
  const auto cut = [](auto& list, std::size_t size, auto& rest) {
    if (size >= list.size()) return;
    const auto end = list.begin() + static_cast<std::ptrdiff_t>(size);
    rest.assign(end, list.end());
    list.erase(end, list.end());
  };
  const std::lock_guard lock(structure());
  cut(weights_, weights, later_weights);
  cut(sublayers_, layers, later_layers);
  for (const Layer& layer : later_layers) layer.impl().part_of_ = 0;
  input_spec = spec;
  building_ = false;
  stage_.store(Stage::Unbuilt, std::memory_order_relaxed);
}

Tensor LayerImpl::operator()(const Tensor& x, const CallArguments& arguments) {
  if (!built() || !x.defined() || is_symbolic(x) || any_symbolic(arguments))
    return only(apply({x}, arguments));
  const Tensor input = accepted(x, 0, 1);
  if (!caller && CallReports::any()) forget_reports();
  try {
    return forms_->one ? compute_one(input, arguments) : only(compute_many({input}, arguments));
  } catch (const Error&) {
    rethrow_from(name_, {input});
  }
}

std::vector<Tensor> LayerImpl::apply(const std::vector<Tensor>& given, const CallArguments& arguments) {
  std::optional<FirstCall> turn;
  if (!built()) turn.emplace();
  if (built()) turn.reset();  // another thread has built the layer meanwhile
  std::vector<Tensor> inputs;
  for (const Tensor& x : given) inputs.push_back(accepted(x, inputs.size(), given.size()));
  const auto go = [&] {
    // Inside the call of another layer, only the outer call is part of the graph.
    const bool waits = !caller && (is_symbolic(inputs) || any_symbolic(arguments));
    if (waits) return defer_call(inputs, arguments);
    if (!caller && CallReports::any()) forget_reports();
    return compute(inputs, arguments);
  };
  try {
    return turn ? building(*turn, shapes_of(inputs), go) : go();
  } catch (const Error&) {
    rethrow_from(name_, inputs);
  }
}

Tensor LayerImpl::only(std::vector<Tensor> outputs) const {
  if (outputs.size() != 1)
    fail("[", name_, "] layer(x) is for one output; apply(x) returns all of them: received ", outputs.size(),
         " outputs");
  return std::move(outputs[0]);
}

std::vector<Tensor> LayerImpl::defer_call(const std::vector<Tensor>& inputs, const CallArguments& arguments) {
  const std::vector<Tensor> traced = [&] {
    // A traced call infers the shapes, dtypes and masks of the outputs and changes nothing.
    const InferenceScope tracing;
    return compute(inputs, arguments);
  }();
  std::vector<OutputInfo> infos;
  for (const Tensor& y : traced) infos.push_back({y.shape(), y.dtype()});
  std::vector<Tensor> outputs =
      defer(LayerCallSymbol::make(Layer(shared_from_this()), inputs, arguments), std::move(infos));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (const Tensor& mask = own_mask(traced[i]); mask.defined())
      outputs[i] = with_mask(outputs[i], defer("mask_of", {mask.shape(), mask.dtype()}, mask_of, outputs[i]));
  return outputs;
}

std::vector<Tensor> LayerImpl::compute(const std::vector<Tensor>& inputs, const CallArguments& arguments) {
  if (inputs.size() == 1 && forms_->one) return {compute_one(inputs[0], arguments)};
  return compute_many(inputs, arguments);
}

Tensor LayerImpl::compute_one(const Tensor& x, const CallArguments& arguments) {
  if (arguments.mask.empty() && own_mask(x).defined())
    return compute_one(x, with_mask_argument(arguments, own_mask(x)));
  const CallScope scope(*this, arguments);
  Tensor y = forms_->one(*this, x, arguments);
  if (!y.defined()) fail_without_result();
  const bool returned_input = y.get() == x.get();
  if (returned_input) y = K::identity(x);  // so that the output and the input get separate gradients
  if (supports_masking && (returned_input || !own_mask(y).defined())) {
    const Tensor mask = compute_mask(x, arguments.mask.empty() ? Tensor() : arguments.mask[0]);
    if (mask.get() != own_mask(y).get()) y = with_mask(y, mask);
  }
  if (activity_regularizer.defined()) add_activity_loss(y);
  return y;
}

std::vector<Tensor> LayerImpl::compute_many(const std::vector<Tensor>& inputs, const CallArguments& given) {
  const CallArguments arguments = with_mask_argument(given, masks_for(inputs, given.mask));
  const CallScope scope(*this, arguments);
  std::vector<Tensor> outputs = call_many(inputs, arguments);
  for (Tensor& y : outputs)
    if (std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& x) { return x.get() == y.get(); }))
      y = K::identity(y);
  if (supports_masking) {
    std::vector<Tensor> given_masks = arguments.mask.vector();
    given_masks.resize(std::max(given_masks.size(), inputs.size()));
    const std::vector<Tensor> masks = compute_mask(inputs, given_masks);
    for (std::size_t i = 0; i < std::min(masks.size(), outputs.size()); ++i)
      outputs[i] = with_mask(outputs[i], masks[i]);
  }
  if (activity_regularizer.defined())
    for (const Tensor& y : outputs) add_activity_loss(y);
  return outputs;
}

void LayerImpl::add_activity_loss(const Tensor& y) {
  const Tensor loss = activity_regularizer(y);
  add_loss(y.ndim() == 0 || is_symbolic(y) ? loss : loss / y.shape()[0]);
}

// --- The handle's calls -----------------------------------------------------------------------------------

Tensor Layer::operator()(const Tensor& x) const {
  static const CallArguments none;
  return impl()(x, none);
}
Tensor Layer::operator()(const Tensor& x, const CallArguments& arguments) const {
  return impl()(x, arguments);
}
Tensor Layer::operator()(std::initializer_list<Tensor> inputs, const CallArguments& arguments) const {
  return (*this)(std::vector<Tensor>(inputs), arguments);
}
Tensor Layer::operator()(const std::vector<Tensor>& inputs, const CallArguments& arguments) const {
  return impl().only(impl().apply(inputs, arguments));
}
std::vector<Tensor> Layer::apply(const TensorList& inputs, const CallArguments& arguments) const {
  return impl().apply(inputs.vector(), arguments);
}

void Layer::build(const Shape& input) const { build(std::vector<Shape>{input}); }

void Layer::build(const std::vector<Shape>& inputs) const {
  if (built()) return;
  LayerImpl::FirstCall turn;
  if (built()) return;
  impl().building(turn, inputs, [&] {
    const auto unbuilt = [](const Layer& layer) { return !layer.built(); };
    const std::vector<Layer> layers = impl().sublayers();
    if (std::any_of(layers.begin(), layers.end(), unbuilt)) compute_output_shapes(inputs);
  });
}

Shape Layer::compute_output_shape(const Shape& input) const { return compute_output_shapes({input})[0]; }

std::vector<Shape> Layer::compute_output_shapes(const std::vector<Shape>& inputs) const {
  const LayerImpl::CallScope scope(impl(), {});  // keeps the call out of the graph of a model
  std::vector<Tensor> placeholders;
  for (const Shape& input : inputs) placeholders.push_back(make_placeholder(input, dtype(), name()));
  return shapes_of(apply(placeholders));
}

}  // namespace ktape::nn
