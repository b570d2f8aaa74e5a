#include <ktape/autograd/base/log.hpp>
#include <ktape/nn/optimizers/loss_scale_optimizer.hpp>
#include <ktape/nn/saving/keras/keras_layers.hpp>
#include <ktape/nn/saving/keras/keras_optimizer.hpp>
#include <ktape/nn/training/trainer.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>

#include <algorithm>
#include <set>

namespace ktape::nn::saving {
namespace {

/// Appends the trainable weights of a model in Keras's order of layers.
void collect_trainable(const Model& model, std::vector<Variable>& found) {
  const auto add = [&](const Variable& weight) {
    if (std::none_of(found.begin(), found.end(), [&](const Variable& other) { return other.is(weight); }))
      found.push_back(weight);
  };
  for (const Layer& layer : keras_layers(model))
    if (const auto inner = as_model(layer)) collect_trainable(*inner, found);
    else
      for (const Variable& weight : layer.trainable_weights()) add(weight);
  for (const Variable& weight : model.trainable_weights()) add(weight);
}

/// The orders in which releases of Keras list the states of the weights.
enum class Layout {
  Keras3,       ///< stages of states, within a stage weight by weight; the optimizer's own variables last
  Keras3First,  ///< as Keras3, but with the optimizer's own variables first: Nadam of Keras 3.0
  Keras2,       ///< as Keras3, without the optimizer's own variables and Adafactor's zeros for vectors
  ByKind        ///< all first states weight by weight, then all second states: before Keras 2.11
};

/// Returns the stage in which Keras makes the state i of each weight. Adam makes both moments of a weight
/// together, and AMSGrad's state after the moments of all weights; RMSprop makes one state for all weights,
/// then the next.
std::size_t stage_of(const std::string& optimizer, std::size_t i) {
  return optimizer == "RMSprop" ? i : optimizer == "Adafactor" ? 0 : i / 2;
}

/// Returns the states of a weight in the layout of Keras's Adafactor: r and c for every weight (single zeros
/// for vectors), and the velocity, which matrices do not use.
std::vector<Variable> adafactor_states(const Variable& weight, const std::vector<Variable>& states,
                                       Layout layout) {
  const auto zeros = [](const Shape& shape) { return Variable(backend::zeros(shape)); };
  if (states.size() == 2) return {states[0], states[1], zeros(weight.shape())};
  return layout == Layout::Keras2 ? states : std::vector<Variable>{zeros({}), zeros({}), states[0]};
}

/// The variables of an optimizer: the variables for all weights, the states of each weight, the averages.
class State {
 public:
  explicit State(const Model& model) {
    const Optimizer optimizer = without_loss_scale(model.optimizer());
    const std::vector<Variable> weights = model.trainable_weights();
    optimizer.build(weights);
    all_ = optimizer.variables();
    const std::vector<Variable> whole = model.optimizer().variables();
    scale_.assign(whole.begin(), whole.end() - std::ssize(all_));
    const OptimizerOptions& options = optimizer.impl().options();
    head_ = options.learning_rate.schedule().defined() ? 1 : 2;
    const std::size_t averages =
        std::size_t{options.use_ema} + options.gradient_accumulation_steps.has_value();
    std::vector<Variable> ordered;
    collect_trainable(model, ordered);
    std::size_t average = head_, state = head_ + averages * weights.size();
    optimizer_ = optimizer.class_name(), weights_ = ordered;
    averages_.resize(ordered.size()), states_.resize(ordered.size());
    for (const Variable& weight : weights) {
      const auto place = std::find_if(ordered.begin(), ordered.end(),
                                      [&](const Variable& other) { return other.is(weight); }) -
                         ordered.begin();
      const std::size_t count = optimizer.impl().state_of(weight).size();
      fits_ = fits_ && ordered.size() == weights.size() && state + count <= all_.size();
      if (!fits_) return;
      averages_[place] = slice(average, averages);
      states_[place] = slice(state, count);
      average += averages, state += count;
    }
    rest_ = slice(state, all_.size() - state);
  }

  std::vector<Variable> listed(Layout layout) const {
    if (!fits_) return all_;  // the optimizer was built for other weights
    std::vector<Variable> order = slice(0, head_);
    if (layout != Layout::ByKind)
      for (const auto& part : averages_) append(order, part);
    if (layout == Layout::Keras3First) append(order, rest_);
    std::vector<std::vector<Variable>> states = states_;
    if (optimizer_ == "Adafactor")
      for (std::size_t i = 0; i < states.size(); ++i)
        states[i] = adafactor_states(weights_[i], states[i], layout);
    std::size_t most = 0;
    for (const auto& part : states) most = std::max(most, part.size());
    const auto stage = [&](std::size_t i) { return layout == Layout::ByKind ? i : stage_of(optimizer_, i); };
    for (std::size_t begin = 0, end = 0; begin < most; begin = end) {
      while (end < most && stage(end) == stage(begin)) ++end;
      for (const auto& part : states)
        for (std::size_t i = begin; i < std::min(end, part.size()); ++i) order.push_back(part[i]);
    }
    if (layout == Layout::Keras3 || layout == Layout::ByKind) append(order, rest_);
    return order;
  }

  bool has_rate() const { return head_ == 2; }
  bool scales() const { return !scale_.empty(); }
  /// Returns the variables of the LossScaleOptimizer, if there is one, and then those of `order`.
  std::vector<Variable> with_scale(const std::vector<Variable>& order) const {
    std::vector<Variable> all = scale_;
    append(all, order);
    return all;
  }
  /// Returns an order of variables without the learning rate, the second variable.
  std::vector<Variable> without_rate(std::vector<Variable> order) const {
    if (has_rate()) order.erase(order.begin() + 1);
    return order;
  }

 private:
  std::vector<Variable> slice(std::size_t begin, std::size_t count) const {
    const auto first = all_.begin() + static_cast<std::ptrdiff_t>(begin);
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }
  static void append(std::vector<Variable>& to, const std::vector<Variable>& part) {
    to.insert(to.end(), part.begin(), part.end());
  }

  std::string optimizer_;
  std::vector<Variable> all_, rest_, weights_;
  std::vector<Variable> scale_;  ///< the variables that a LossScaleOptimizer adds
  std::size_t head_;
  std::vector<std::vector<Variable>> averages_,
      states_;  ///< the moving averages and the states of each weight
  bool fits_ = true;
};

/// Returns whether the names have the form of Keras 2's first optimizers: "training/Adam/...",
/// "Adam/dense/kernel/m:0".
bool listed_by_kind(const NamedTensors& state) {
  static const std::set<std::string> kinds = {"m",  "v",           "vhat",       "rms",       "momentum",
                                              "mg", "accumulator", "accum_grad", "accum_var", "linear"};
  return std::any_of(state.begin(), state.end(), [](const auto& entry) {
    const std::string name = entry.first.substr(0, entry.first.rfind(':'));
    return name.starts_with("training/") || kinds.contains(name.substr(name.rfind('/') + 1));
  });
}

bool fits(const std::vector<Variable>& variables, const NamedTensors& state) {
  return std::equal(
      variables.begin(), variables.end(), state.begin(), state.end(),
      [](const Variable& variable, const auto& entry) { return variable.shape() == entry.second.shape(); });
}

/// Returns the variables for the values of a state; none if the state does not fit.
std::vector<Variable> matching(const State& own, NamedTensors& state) {
  std::vector<std::vector<Variable>> orders;
  if (listed_by_kind(state)) orders.push_back(own.listed(Layout::ByKind));
  else
    for (const Layout layout : {Layout::Keras3, Layout::Keras3First, Layout::Keras2})
      orders.push_back(own.listed(layout));
  for (std::size_t i = 0, count = orders.size(); own.has_rate() && i < count; ++i)
    orders.push_back(own.without_rate(orders[i]));
  for (std::size_t i = 0, count = orders.size(); own.scales() && i < count; ++i)
    orders.push_back(own.with_scale(orders[i]));
  for (const std::vector<Variable>& order : orders) {
    if (fits(order, state)) return order;
    // Keras 2.2's Adam without amsgrad stores numbers in place of the largest second moments.
    NamedTensors used = state;
    while (used.size() > order.size() && used.back().second.shape() == Shape{1}) used.pop_back();
    if (used.size() < state.size() && fits(order, used)) {
      state = used;
      return order;
    }
  }
  return {};
}

}  // namespace

std::vector<Variable> optimizer_variables(const Model& model) {
  const State state(model);
  return state.with_scale(state.listed(Layout::Keras3));
}

std::vector<Variable> keras2_optimizer_variables(const Model& model) {
  const State state(model);
  return state.without_rate(state.listed(Layout::Keras2));
}

void restore_optimizer(const Model& model, const std::string& path, const NamedTensors& given) {
  if (given.empty()) return;
  NamedTensors state = given;
  const std::vector<Variable> variables = matching(State(model), state);
  if (variables.empty()) {
    if (log::enabled(log::Level::Warn))
      log::write(log::Level::Warn, "[load_model] the optimizer starts anew: received " + path +
                                       ", whose state of an optimizer does not fit " +
                                       model.optimizer().class_name());
    return;
  }
  for (std::size_t i = 0; i < variables.size(); ++i)
    Variable(variables[i]).assign(backend::cast(state[i].second, variables[i].dtype()));
}

}  // namespace ktape::nn::saving
