#include <ktape/autograd/base/structure_version.hpp>
#include <ktape/autograd/scope.hpp>
#include <ktape/nn/core/rethrow.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/base/call_reports.hpp>
#include <ktape/nn/layers/base/internal/call_scopes.hpp>
#include <ktape/nn/layers/base/internal/own_mask.hpp>
#include <ktape/nn/layers/base/layer_call.hpp>
#include <ktape/nn/layers/base/shared_layers.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>
#include <atomic>

namespace ktape::nn {
namespace K = backend;

// --- Construction and config -------------------------------------------------------------------------------

namespace {

std::atomic<std::uint64_t> layers_made = 0;

std::optional<Shape> batch_input_shape_in(const LayerOptions& options) {
  if (options.batch_input_shape || !options.input_shape) return options.batch_input_shape;
  Shape shape = *options.input_shape;
  shape.insert(0, None);
  return shape;
}

}  // namespace

LayerImpl::LayerImpl(std::string class_name, const LayerOptions& options)
    : class_name_(std::move(class_name)),
      name_(options.name.empty() ? automatic_name(class_name_) : options.name),
      batch_input_shape_(batch_input_shape_in(options)),
      trainable_(options.trainable),
      policy_(options.dtype ? *options.dtype : nn::dtype_policy()),
      compute_dtype_(policy_.compute_dtype()),
      variable_dtype_(policy_.variable_dtype()),
      number_(++layers_made) {}

LayerImpl::~LayerImpl() { CallReports::forget(*this); }

std::mutex& LayerImpl::structure() {
  static std::mutex& mutex = *new std::mutex;  // never destroyed: layers in static storage end late
  return mutex;
}

Config LayerImpl::full_config() const {
  Config config{{"name", name_}, {"trainable", trainable_}, {"dtype", policy_}};
  if (batch_input_shape_) config.set("batch_input_shape", *batch_input_shape_);
  config.update(get_config());
  return config;
}

Value LayerImpl::to_value() const { return described(*this, full_config()); }

void LayerImpl::restore(const Config& config) {
  const LayerOptions options = layer_options(class_name_, config);
  if (!options.name.empty()) name_ = options.name;
  if (!config.get("trainable").is_null()) trainable_ = options.trainable;  // inner layers unchanged
  count_structure_change();
  if (options.dtype) set_dtypes(policy_ = *options.dtype);
  if (options.batch_input_shape) batch_input_shape_ = options.batch_input_shape;
}

void LayerImpl::set_dtypes(const DTypePolicy& policy) {
  compute_dtype_ = policy.compute_dtype();
  variable_dtype_ = policy.variable_dtype();
}

namespace {

/// A guard that counts the configs that enclose the current config. Throws ValueError above a depth of 100.
class Nesting {
 public:
  Nesting() {
    if (++depth_ <= 100) return;
    --depth_;
    fail("[layer] layers may be nested 100 deep: received a deeper config");
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  static thread_local int depth_;
};
thread_local int Nesting::depth_ = 0;

}  // namespace

Layer Layer::from_value(const Value& value, const std::string&) {
  const Nesting nesting;
  if (const Layer known = SharedLayers::find(value); known.defined()) return known;
  const Layer layer(made(value));
  const Value config = value.is_config() ? value.config().get("config") : Value();
  if (config.is_config()) layer.impl().restore(config.config());
  SharedLayers::remember(value, layer);
  return layer;
}

void LayerImpl::set_trainable(bool trainable) {
  trainable_ = trainable;
  count_structure_change();
  for (const Layer& layer : sublayers()) layer.set_trainable(trainable);
}

/// Takes the dtypes of the layer's path from a DTypePolicyMap.
void LayerImpl::settle_policy() {
  if (policy_.is_map()) set_dtypes(policy_.for_path(K::current_name_scope() + name_));
}

// --- Learning from data ------------------------------------------------------------------------------------

void LayerImpl::adapt(const Tensor& data) {
  reset_state();
  update_state(data);
  finalize_state();
}

void LayerImpl::reset_state() {
  fail<TypeError>("[", name_,
                  "] adapt is for layers that learn from data: received class_name=", class_name_);
}
void LayerImpl::update_state(const Tensor&) { LayerImpl::reset_state(); }
void LayerImpl::finalize_state() { LayerImpl::reset_state(); }

void Layer::adapt(const ArrayLike& data) const {
  data.expect_defined("adapt", "data");
  impl().adapt(data.tensor({}, DType::Float64, "adapt"));
}
void Layer::reset_state() const { impl().reset_state(); }
const Tensor& Layer::only_tensor(const std::vector<Tensor>& batch) const {
  if (batch.size() != 1)
    fail("[", name(),
         "] adapt takes elements of one tensor, so map the dataset to its inputs: received an element of ",
         batch.size());
  return batch[0];
}
void Layer::update_state(const Tensor& batch) const { impl().update_state(batch); }
void Layer::finalize_state() const { impl().finalize_state(); }

// --- Calls on symbolic tensors ------------------------------------------------------------------------------

std::vector<Tensor> LayerImpl::recorded_tensors(int call,
                                                std::vector<Tensor> (LayerCall::*of_call)() const) const {
  const std::lock_guard lock(structure());  // the destructor of LayerCall waits for this lock
  if (call < 0 || call >= std::ssize(calls_))
    fail("[", name_, "] the layer must have been called on symbolic tensors, such as nn::Input's, ", call + 1,
         " times: received ", calls_.size(), " calls that are still in use");
  return (calls_[static_cast<std::size_t>(call)]->*of_call)();
}

bool LayerImpl::in_first_call() { return FirstCall::running(); }

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
  rethrow_with(text);
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

// --- Functions that an Impl may override -------------------------------------------------------------------

void LayerImpl::build(const Shape&) {}
void LayerImpl::build(const std::vector<Shape>& inputs) { build(inputs.empty() ? Shape() : inputs[0]); }

/// The forms of an object that no Layer of the object's class holds: the virtual functions for one tensor.
const CallForms LayerImpl::virtual_forms{
    .one = [](LayerImpl& layer, const Tensor& x, const CallArguments& arguments) {
      return layer.call(x, arguments);
    }};

Tensor LayerImpl::call(const Tensor& x, const CallArguments&) { return call(x); }
Tensor LayerImpl::call(const Tensor&) { fail_without_result(); }

void LayerImpl::fail_without_result() const {
  fail("[", name_, "] an overload of call must be overridden and return a result: received None from class ",
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
  CallReports::begin(shared_from_this(), outermost_calls).losses.push_back(loss);
}

void LayerImpl::add_metric(const Tensor& value, const std::string& name) {
  if (is_symbolic(value)) return;
  CallReports::begin(shared_from_this(), outermost_calls).metrics.emplace_back(name, value.detach());
}

// --- Calls of an Impl --------------------------------------------------------------------------------------

Tensor LayerImpl::accepted(const Tensor& x, std::size_t place, std::size_t count) const {
  const auto which = [&] { return count == 1 ? "the input" : "input " + std::to_string(place); };
  if (!x.defined()) fail("[", name_, "] ", which(), " must be a tensor: received None");
  if (!input_spec.empty()) {
    const InputSpec& spec = input_spec[std::min(place, input_spec.size() - 1)];
    if (!spec.accepts(x.shape()))
      fail("[", name_, "] ", which(), " must have ", spec.text(), ": received shape=", x.shape());
  }
  return autocast ? fitting(x) : x;
}

/// Returns x in the dtype of inputs, with the mask of x; integers stay as they are.
Tensor LayerImpl::fitting(const Tensor& x) const {
  const DType dtype = input_dtype();
  const bool other = x.dtype() != dtype && x.dtype().is_floating() && dtype.is_floating();
  return other ? carrying(K::as_dtype(x, dtype), own_mask(x)) : x;
}

/// Returns the arguments with floating initial states and weights of counts in the dtype of inputs.
CallArguments LayerImpl::fitting(CallArguments arguments) const {
  std::vector<Tensor> states;
  for (const Tensor& state : arguments.initial_state)
    states.push_back(state.defined() ? fitting(state) : state);
  arguments.initial_state = std::move(states);
  if (arguments.count_weights.defined()) arguments.count_weights = fitting(arguments.count_weights);
  return arguments;
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
      const AutocastScope stored({}, K::cast);
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
  count_structure_change();
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
    return forms_->one ? compute_one(input, arguments) : only(compute({input}, arguments));
  } catch (const Error&) {
    rethrow_from(name_, {input});
  }
}

std::vector<Tensor> LayerImpl::apply(const std::vector<Tensor>& given, const CallArguments& arguments) {
  std::optional<FirstCall> turn;
  if (!built()) turn.emplace();
  if (built()) turn.reset();  // another thread has built the layer meanwhile
  if (turn) settle_policy();
  std::vector<Tensor> inputs;
  for (const Tensor& x : given) inputs.push_back(accepted(x, inputs.size(), given.size()));
  const auto go = [&] {
    // Inside the call of another layer, only the outer call is part of the graph.
    const bool waits = (!caller || inner_calls_wait) && (is_symbolic(inputs) || any_symbolic(arguments));
    if (waits) return defer_call(given, arguments);
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
    const InnerCallsScope inlined(false);
    std::vector<Tensor> traced;
    for (const Tensor& x : inputs) traced.push_back(accepted(x, traced.size(), inputs.size()));
    return compute(traced, arguments);
  }();
  std::vector<OutputInfo> infos;
  for (const Tensor& y : traced) infos.push_back({y.shape(), y.dtype()});
  std::vector<Tensor> outputs =
      defer(LayerCallSymbol::make(Layer(shared_from_this()), inputs, arguments), std::move(infos));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (const Tensor& mask = own_mask(traced[i]); mask.defined())
      outputs[i] = carrying(outputs[i], defer("mask_of", {mask.shape(), mask.dtype()}, mask_of, outputs[i]));
  return outputs;
}

std::vector<Tensor> LayerImpl::compute(const std::vector<Tensor>& inputs, const CallArguments& given) {
  const bool casts = autocast && (!given.initial_state.empty() || given.count_weights.defined());
  const std::optional<CallArguments> fit = casts ? std::optional(fitting(given)) : std::nullopt;
  const CallArguments& arguments = fit ? *fit : given;
  if (inputs.size() == 1 && forms_->one) return {compute_one(inputs[0], arguments)};
  return compute_many(inputs, arguments);
}

Tensor LayerImpl::compute_one(const Tensor& x, const CallArguments& arguments) {
  if (arguments.mask.empty()) {
    if (own_mask(x).defined()) return compute_one(x, with_mask_argument(arguments, own_mask(x)));
  } else if (const Tensor& mask = arguments.mask[0]; mask.get() != own_mask(x).get()) {
    return compute_one(carrying(x, mask), arguments);  // for the layers inside
  }
  const CallScope scope(*this, arguments);
  Tensor y = forms_->one(*this, x, arguments);
  if (!y.defined()) fail_without_result();
  const bool returned_input = y.get() == x.get();
  if (returned_input) y = K::identity(x);  // so that the output and the input get separate gradients
  if (supports_masking && (returned_input || !own_mask(y).defined())) {
    const Tensor mask = compute_mask(x, arguments.mask.empty() ? Tensor() : arguments.mask[0]);
    if (mask.get() != own_mask(y).get()) y = carrying(y, mask);
  }
  if (activity_regularizer.defined()) add_activity_loss(y);
  return y;
}

std::vector<Tensor> LayerImpl::compute_many(const std::vector<Tensor>& given_inputs,
                                            const CallArguments& given) {
  std::vector<Tensor> inputs = given_inputs;
  for (std::size_t i = 0; i < std::min(inputs.size(), given.mask.size()); ++i)
    inputs[i] = carrying(inputs[i], given.mask[i]);  // for the layers inside
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
      outputs[i] = carrying(outputs[i], masks[i]);
  }
  if (activity_regularizer.defined())
    for (const Tensor& y : outputs) add_activity_loss(y);
  return outputs;
}

void LayerImpl::add_activity_loss(const Tensor& y) {
  const bool narrow = compute_dtype_ != variable_dtype_ && y.dtype() == compute_dtype_;
  const Tensor loss = activity_regularizer(narrow ? K::as_dtype(y, variable_dtype_) : y);
  add_loss(y.ndim() == 0 || is_symbolic(y) ? loss : loss / y.shape()[0]);
}

// --- The handle --------------------------------------------------------------------------------------------

const std::string& Layer::name() const { return impl().name(); }
DTypePolicy Layer::dtype_policy() const { return impl().dtype_policy(); }
DType Layer::dtype() const { return impl().dtype(); }
DType Layer::variable_dtype() const { return impl().variable_dtype(); }
DType Layer::compute_dtype() const { return impl().compute_dtype(); }
DType Layer::input_dtype() const { return impl().input_dtype(); }
bool Layer::trainable() const { return impl().trainable(); }
void Layer::set_trainable(bool trainable) const { impl().set_trainable(trainable); }
bool Layer::built() const { return impl().built(); }
std::vector<Variable> Layer::weights() const { return impl().weights(); }
std::vector<Variable> Layer::trainable_weights() const { return impl().trainable_weights(); }
std::vector<Variable> Layer::non_trainable_weights() const { return impl().non_trainable_weights(); }
std::vector<Tensor> Layer::losses() const { return impl().losses(); }
Config Layer::get_config() const { return impl().full_config(); }

namespace {

Tensor only_one(const Layer& layer, const char* what, const std::vector<Tensor>& tensors) {
  if (tensors.size() != 1)
    fail("[", layer.name(), "] the layer must have one ", what, ": received ", tensors.size());
  return tensors[0];
}

}  // namespace

Tensor Layer::input_at(int call) const {
  return only_one(*this, "input", impl().recorded_tensors(call, &LayerCall::inputs));
}
Tensor Layer::output_at(int call) const {
  return only_one(*this, "output", impl().recorded_tensors(call, &LayerCall::outputs));
}
Tensor Layer::input() const { return input_at(0); }
Tensor Layer::output() const { return output_at(0); }

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
  impl().settle_policy();
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
  for (const Shape& input : inputs) placeholders.push_back(make_placeholder(input, compute_dtype(), name()));
  return shapes_of(apply(placeholders));
}

}  // namespace ktape::nn
