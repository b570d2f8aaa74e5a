#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/called_op.hpp>
#include <ktape/autograd/base/structure_version.hpp>
#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/autograd/reading.hpp>
#include <ktape/nn/core/loading.hpp>
#include <ktape/nn/core/rethrow.hpp>
#include <ktape/nn/layers/base/call_reports.hpp>
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/updates.hpp>

#include <algorithm>
#include <string_view>

namespace ktape::nn {
namespace K = backend;

// --- Weights and sublayers of an Impl -----------------------------------------------------------------------

Variable LayerImpl::add_weight(const std::string& name, const Shape& shape, const WeightOptions& options) {
  for (const std::int64_t extent : shape)
    if (extent < 0)
      fail("[", name_, "] the extents of the weight '", name,
           "' must be known when the layer is built: received shape=", shape);
  weight_limit_scope::count(name_, name, shape);
  const DType dtype = options.dtype.value_or(variable_dtype_);
  check_extents((name_ + "/" + name).c_str(), shape, dtype.size());
  const Initializer initializer = options.initializer.defined() ? options.initializer
                                  : dtype.is_floating()         ? Initializer("glorot_uniform")
                                                                : Initializer("zeros");
  const std::string scope = K::current_name_scope() + (building_ ? "" : name_ + '/');
  Tensor start = weight_loading_scope::zeros(shape, dtype);
  if (!start.defined()) start = initializer(shape, dtype);
  Variable weight(start, scope + name, options.constraint.function());
  weight.set_trainable(options.trainable);
  weight.set_autocast(options.autocast);
  const std::lock_guard lock(structure());
  weights_.push_back({weight, options.regularizer, name});
  count_structure_change();
  return weight;
}

void LayerImpl::adopt(const Layer& layer) {
  if (layer.impl().name().empty()) return;
  const std::lock_guard lock(structure());
  const auto same = [&](const Layer& other) { return other.is(layer); };
  if (std::none_of(sublayers_.begin(), sublayers_.end(), same)) sublayers_.push_back(layer);
  count_structure_change();
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
    adopt(Layer(shared));
    {
      const std::lock_guard lock(structure());
      called.adopted_by_call_ = true;
    }
    drop_unused_sublayers();  // last, so that no thread sees the layer without the weights of either
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
  count_structure_change();
}

std::vector<Layer> LayerImpl::sublayers() const {
  const std::lock_guard lock(structure());
  return sublayers_;
}

std::vector<LayerImpl::Weight> LayerImpl::own_weights() const {
  const std::lock_guard lock(structure());
  return weights_;
}

std::vector<LayerImpl::Weight> LayerImpl::regularized_weights() const {
  std::vector<Weight> found;
  const std::lock_guard lock(structure());
  std::copy_if(weights_.begin(), weights_.end(), std::back_inserter(found),
               [&](const Weight& weight) { return penalizes(weight); });
  return found;
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
  for (const Weight& weight : regularized_weights()) losses.push_back(weight.regularizer(weight.variable));
  for (const Layer& layer : sublayers()) {
    const std::vector<Tensor> inner = layer.losses();
    losses.insert(losses.end(), inner.begin(), inner.end());
  }
  return losses;
}

// --- Weights of the handle ----------------------------------------------------------------------------------

std::vector<Tensor> Layer::get_weights() const {
  const ReadingScope reading;
  std::vector<Tensor> values;
  for (const Variable& weight : weights()) values.push_back(weight.value().detach());
  return values;
}

void Layer::set_weights(const std::vector<Tensor>& values) const {
  const std::vector<Variable> all = weights();
  if (values.size() != all.size())
    fail("[", name(), "] set_weights must be given one value for each of the ", all.size(),
         " weights: received ", values.size());
  expect_defined("set_weights", "values", values);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (values[i].shape() != all[i].shape())
      fail("[", name(), "] a value must have the shape ", all[i].shape(), " of the weight '", all[i].name(),
           "': received shape=", values[i].shape());
  std::vector<std::pair<Assignable, ArrayLike>> pairs;
  for (std::size_t i = 0; i < all.size(); ++i) pairs.emplace_back(all[i], values[i]);
  const CalledOp called("set_weights");
  try {
    K::batch_set_value(pairs);
  } catch (const Error&) {
    rethrow_with([&](const Error& error) { return error.what() + (" (a weight of '" + name() + "')"); });
  }
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
    fail("[", this->name(), "] the name must identify one weight: received name='", name, "', which is ",
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

}  // namespace ktape::nn
