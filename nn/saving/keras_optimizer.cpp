#include <ktape/autograd/log.hpp>
#include <ktape/nn/models/trainer.hpp>
#include <ktape/nn/saving/keras_layers.hpp>
#include <ktape/nn/saving/keras_optimizer.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>

#include <algorithm>
#include <set>

namespace ktape::nn::saving {
namespace {

/// The trainable weights in Keras's order of layers.
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

/// What an optimizer keeps: for all, for each weight, and behind that.
class State {
 public:
  explicit State(const Model& model) {
    const Optimizer& optimizer = model.optimizer();
    const std::vector<Variable> weights = model.trainable_weights();
    optimizer.build(weights);
    all_ = optimizer.variables();
    const OptimizerOptions& options = optimizer.impl().options();
    head_ = options.learning_rate.schedule().defined() ? 1 : 2;
    const std::size_t averages =
        std::size_t{options.use_ema} + options.gradient_accumulation_steps.has_value();
    std::vector<Variable> ordered;
    collect_trainable(model, ordered);
    std::size_t average = head_, state = head_ + averages * weights.size();
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

  std::vector<Variable> by_weight() const {
    if (!fits_) return all_;  // built for other weights
    std::vector<Variable> order = slice(0, head_);
    for (const auto& part : averages_) append(order, part);
    for (const auto& part : states_) append(order, part);
    append(order, rest_);
    return order;
  }

  std::vector<Variable> by_kind() const {
    std::vector<Variable> order = slice(0, head_);
    std::size_t most = 0;
    for (const auto& part : states_) most = std::max(most, part.size());
    for (std::size_t kind = 0; kind < most; ++kind)
      for (const auto& part : states_)
        if (kind < part.size()) order.push_back(part[kind]);
    append(order, rest_);
    return order;
  }

  bool has_rate() const { return head_ == 2; }
  /// An order without the learning rate, which is its second variable.
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

  std::vector<Variable> all_, rest_;
  std::size_t head_;
  std::vector<std::vector<Variable>> averages_, states_;  ///< of each weight
  bool fits_ = true;
};

/// Whether the names are those of Keras 2's first optimizers: "training/Adam/...", "Adam/dense/kernel/m:0".
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

/// The variables that a state gives values to; none when it does not fit.
std::vector<Variable> matching(const State& own, NamedTensors& state) {
  std::vector<std::vector<Variable>> orders{listed_by_kind(state) ? own.by_kind() : own.by_weight()};
  if (own.has_rate()) orders.push_back(own.without_rate(orders[0]));
  for (const std::vector<Variable>& order : orders) {
    if (fits(order, state)) return order;
    // Keras 2.2's Adam has numbers in place of the largest second moments where it does not use them.
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

std::vector<Variable> optimizer_variables(const Model& model) { return State(model).by_weight(); }

std::vector<Variable> keras2_optimizer_variables(const Model& model) {
  const State state(model);
  return state.without_rate(state.by_weight());
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
