#include <ktape/nn/core/loading.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/base/call_reports.hpp>
#include <ktape/nn/layers/base/layer_call.hpp>
#include <ktape/nn/layers/base/shared_layers.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/updates.hpp>

#include <algorithm>
#include <atomic>
#include <string_view>

namespace ktape::nn {
namespace K = backend;

std::string automatic_name(const std::string& class_name) {
  const std::string name = to_snake_case(class_name);
  const int uid = K::get_uid(name);
  return uid == 1 ? name : name + '_' + std::to_string(uid - 1);
}

Config own_arguments(const Config& config) {
  Config own = config;
  for (const char* name : {"name", "trainable", "dtype", "batch_input_shape", "build_config", "autocast"})
    own.erase(name);
  return own;
}

std::optional<DType> dtype_in(const Config& config, const std::string& what) {
  Value dtype = config.get("dtype");
  if (dtype.is_config()) dtype = dtype.config().at("config").config().at("name");  // a Keras 3 policy
  // Keras 2 writes the dtype "string" for text layers, which is no dtype for weights.
  if (dtype.is_null() || dtype == Value("string")) return {};
  return DType(dtype.string(what + "dtype"));
}

LayerOptions layer_options(const std::string& class_name, const Config& config) {
  const std::string what = '[' + class_name + "] ";
  LayerOptions options;
  if (const Value name = config.get("name"); !name.is_null()) options.name = name.string(what + "name");
  if (const Value trainable = config.get("trainable"); !trainable.is_null())
    options.trainable = trainable.boolean(what + "trainable");
  options.dtype = dtype_in(config, what);
  if (const Value shape = config.get("batch_input_shape"); !shape.is_null())
    options.batch_input_shape = shape.shape(what + "batch_input_shape");
  return options;
}

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
      dtype_(options.dtype.value_or(K::floatx())),
      number_(++layers_made) {}

LayerImpl::~LayerImpl() { CallReports::forget(*this); }

std::mutex& LayerImpl::structure() {
  static std::mutex& mutex = *new std::mutex;  // never destroyed: layers in static storage end late
  return mutex;
}

Config LayerImpl::full_config() const {
  Config config{{"name", name_}, {"trainable", trainable_}, {"dtype", dtype_.name()}};
  if (batch_input_shape_) config.set("batch_input_shape", *batch_input_shape_);
  config.update(get_config());
  return config;
}

Value described(const LayerImpl& layer, const Config& config) {
  for (const auto& [argument, value] : config)
    if (value.is_config() && value.config().get("class_name") == Value("function") &&
        !value.config().get("config").is_string())
      fail("[", layer.name(), "] a function has no config from which it could be made again: received ",
           argument, " of class ", layer.class_name(), "; make it a class of its own and register it");
  Config described{{"class_name", layer.class_name()}, {"config", config}};
  const Value number = SharedLayers::number_of(layer);
  if (!number.is_null()) described.set("shared_object_id", number);
  return with_module(LayerImpl::kind, described);
}

namespace {

Value without_input_shapes(const Value& value) {
  if (value.is_list()) {
    Value::List list;
    for (const Value& item : value.list()) list.push_back(without_input_shapes(item));
    return list;
  }
  if (!value.is_config()) return value;
  Config config;
  for (const auto& [name, item] : value.config())
    if (name != "batch_input_shape") config.set(name, without_input_shapes(item));
  return config;
}

}  // namespace

Value as_member(const Layer& layer) { return without_input_shapes(layer.to_value()); }

Value LayerImpl::to_value() const { return described(*this, full_config()); }

void LayerImpl::restore(const Config& config) {
  const LayerOptions options = layer_options(class_name_, config);
  if (!options.name.empty()) name_ = options.name;
  if (!config.get("trainable").is_null()) trainable_ = options.trainable;  // inner layers unchanged
  dtype_ = options.dtype.value_or(dtype_);
  if (options.batch_input_shape) batch_input_shape_ = options.batch_input_shape;
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
  for (const Layer& layer : sublayers()) layer.set_trainable(trainable);
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

void Layer::adapt(const Tensor& data) const { impl().adapt(data); }
void Layer::reset_state() const { impl().reset_state(); }
void Layer::update_state(const Tensor& batch) const { impl().update_state(batch); }
void Layer::finalize_state() const { impl().finalize_state(); }

// --- Weights -----------------------------------------------------------------------------------------------

void LayerImpl::build(const Shape&) {}
void LayerImpl::build(const std::vector<Shape>& inputs) { build(inputs.empty() ? Shape() : inputs[0]); }

Variable LayerImpl::add_weight(const std::string& name, const Shape& shape, const WeightOptions& options) {
  for (const std::int64_t extent : shape)
    if (extent < 0)
      fail("[", name_, "] the extents of the weight '", name,
           "' must be known when the layer is built: received shape=", shape);
  weight_limit_scope::count(name_, name, shape);
  const DType dtype = options.dtype.value_or(dtype_);
  const Initializer initializer = options.initializer.defined() ? options.initializer
                                  : dtype.is_floating()         ? Initializer("glorot_uniform")
                                                                : Initializer("zeros");
  const std::string scope = K::current_name_scope() + (building_ ? "" : name_ + '/');
  Tensor start = weight_loading_scope::zeros(shape, dtype);
  if (!start.defined()) start = initializer(shape, dtype);
  Variable weight(start, scope + name, options.constraint.function());
  weight.set_trainable(options.trainable);
  const std::lock_guard lock(structure());
  weights_.push_back({weight, options.regularizer, name});
  return weight;
}

void LayerImpl::adopt(const Layer& layer) {
  if (layer.impl().name().empty()) return;
  const std::lock_guard lock(structure());
  const auto same = [&](const Layer& other) { return other.is(layer); };
  if (std::none_of(sublayers_.begin(), sublayers_.end(), same)) sublayers_.push_back(layer);
}

/// Makes a layer that this layer has called a sublayer of this layer.
void LayerImpl::adopt_called(LayerImpl& called) {
  const auto is_part = [&] {
    const std::vector<Layer> parts = sublayers();
    return std::any_of(parts.begin(), parts.end(),
                       [&](const Layer& layer) { return &layer.impl() == &called; });
  };
  if (!is_part()) {
    const std::shared_ptr<LayerImpl> shared = called.weak_from_this().lock();
    if (!shared) return;
    drop_unused_sublayers();
    adopt(Layer(shared));
    const std::lock_guard lock(structure());
    called.adopted_by_call_ = true;
  }
  called.part_of_.store(number_, std::memory_order_relaxed);
}

/// Removes the sublayers that earlier calls made and that no other handle holds.
void LayerImpl::drop_unused_sublayers() {
  const auto used = [](const Layer& layer) {
    return !layer.impl().adopted_by_call_ || layer.shared().use_count() > 1;
  };
  std::vector<Layer> leftovers;  // the destructors run without the lock
  const std::lock_guard lock(structure());
  const auto unused = std::stable_partition(sublayers_.begin(), sublayers_.end(), used);
  leftovers.assign(std::make_move_iterator(unused), std::make_move_iterator(sublayers_.end()));
  sublayers_.erase(unused, sublayers_.end());
}

std::vector<Layer> LayerImpl::sublayers() const {
  const std::lock_guard lock(structure());
  return sublayers_;
}

std::vector<LayerImpl::Weight> LayerImpl::own_weights() const {
  const std::lock_guard lock(structure());
  return weights_;
}

void LayerImpl::collect(std::vector<Variable>& found, std::optional<bool> trainable, bool frozen) const {
  frozen = frozen || !trainable_;
  const auto take = [&](const Weight& weight) {
    const auto same = [&](const Variable& other) { return other.is(weight.variable); };
    const bool trains = weight.variable.trainable() && !frozen;
    if ((!trainable || *trainable == trains) && std::none_of(found.begin(), found.end(), same))
      found.push_back(weight.variable);
  };
  {
    const std::lock_guard lock(structure());
    for (const bool can_train : {true, false})
      for (const Weight& weight : weights_)
        if (weight.variable.trainable() == can_train) take(weight);
  }
  for (const Layer& layer : sublayers()) layer.impl().collect(found, trainable, frozen);
}

std::vector<Variable> LayerImpl::weights() const {
  std::vector<Variable> found;
  collect(found, {}, false);
  return found;
}

std::vector<Variable> LayerImpl::weights_where(bool trainable) const {
  std::vector<Variable> found;
  found.reserve(16);
  collect(found, trainable, false);
  return found;
}

bool LayerImpl::penalizes(const Weight& weight) const {
  return weight.regularizer.defined() && trainable_ && weight.variable.trainable();
}

std::vector<Tensor> LayerImpl::losses() const {
  std::vector<Tensor> losses = CallReports::of(*this).losses;
  for (const Weight& weight : own_weights())
    if (penalizes(weight)) losses.push_back(weight.regularizer(weight.variable));
  for (const Layer& layer : sublayers()) {
    const std::vector<Tensor> inner = layer.losses();
    losses.insert(losses.end(), inner.begin(), inner.end());
  }
  return losses;
}

std::vector<Tensor> LayerImpl::recorded_tensors(int call,
                                                std::vector<Tensor> (LayerCall::*of_call)() const) const {
  const std::lock_guard lock(structure());  // the destructor of LayerCall waits for this lock
  if (call < 0 || call >= std::ssize(calls_))
    fail("[", name_, "] the layer must have been called on symbolic tensors, such as nn::Input's, ", call + 1,
         " times: received ", calls_.size(), " calls that are still in use");
  return (calls_[static_cast<std::size_t>(call)]->*of_call)();
}

// --- The handle --------------------------------------------------------------------------------------------

const std::string& Layer::name() const { return impl().name(); }
DType Layer::dtype() const { return impl().dtype(); }
bool Layer::trainable() const { return impl().trainable(); }
void Layer::set_trainable(bool trainable) const { impl().set_trainable(trainable); }
bool Layer::built() const { return impl().built(); }
std::vector<Variable> Layer::weights() const { return impl().weights(); }
std::vector<Variable> Layer::trainable_weights() const { return impl().trainable_weights(); }
std::vector<Variable> Layer::non_trainable_weights() const { return impl().non_trainable_weights(); }
std::vector<Tensor> Layer::losses() const { return impl().losses(); }
Config Layer::get_config() const { return impl().full_config(); }

std::vector<Tensor> Layer::get_weights() const {
  std::vector<Tensor> values;
  for (const Variable& weight : weights()) values.push_back(weight.value().detach());
  return values;
}

void Layer::set_weights(const std::vector<Tensor>& values) const {
  const std::vector<Variable> all = weights();
  if (values.size() != all.size())
    fail("[", name(), "] set_weights must be given one value for each of the ", all.size(),
         " weights: received ", values.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (values[i].shape() != all[i].shape())
      fail("[", name(), "] a value must have the shape ", all[i].shape(), " of the weight '", all[i].name(),
           "': received shape=", values[i].shape());
  for (std::size_t i = 0; i < all.size(); ++i) K::set_value(all[i], values[i]);
}

namespace {

/// Returns whether a path ends in the last part of the name and contains the name's other parts in their
/// order, perhaps with further layers between: "bidirectional/forward_lstm/kernel" for "forward_lstm/kernel".
bool leads_to(std::string_view path, std::string_view name) {
  const auto take_last = [](std::string_view& from) {
    const std::size_t slash = from.rfind('/');
    const std::string_view last = from.substr(slash == from.npos ? 0 : slash + 1);
    from = from.substr(0, slash == from.npos ? 0 : slash);
    return last;
  };
  if (take_last(path) != take_last(name)) return false;
  while (!name.empty()) {
    const std::string_view wanted = take_last(name);
    do
      if (path.empty()) return false;
    while (take_last(path) != wanted);
  }
  return true;
}

}  // namespace

void LayerImpl::collect_paths(const std::string& prefix,
                              std::vector<std::pair<std::string, Variable>>& found) const {
  for (const Weight& weight : own_weights()) found.emplace_back(prefix + weight.name, weight.variable);
  for (const Layer& layer : sublayers()) layer.impl().collect_paths(prefix + layer.name() + '/', found);
}

Variable Layer::weight(const std::string& name) const {
  std::vector<std::pair<std::string, Variable>> all;
  impl().collect_paths("", all);
  std::vector<std::string> paths, fitting;
  Variable found;
  for (const auto& [path, variable] : all) {
    if (path == name) return variable;
    paths.push_back(path);
    if (!leads_to(path, name) || (!fitting.empty() && found.is(variable))) continue;
    fitting.push_back(path);
    found = variable;
  }
  if (fitting.size() == 1) return found;
  if (fitting.size() > 1)
    fail("[", this->name(), "] the name must be that of one weight: received name='", name, "', which is ",
         in_quotes(fitting));
  if (all.empty() && !built())
    fail("[", this->name(),
         "] the layer must be built, by a call or by build(), before it has weights: received "
         "name='",
         name, "'");
  fail("[", this->name(), "] the layer must have the weight: received name='", name, "'; ",
       all.empty() ? "it has none" : "its weights are " + in_quotes(paths));
}

std::int64_t Layer::count_params() const {
  if (!built())
    fail("[", name(), "] the layer must be built, by a call or by build(), before its weights are counted");
  std::int64_t count = 0;
  for (const Variable& weight : weights()) count += weight.size();
  return count;
}

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

}  // namespace ktape::nn
