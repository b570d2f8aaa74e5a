#include <ktape/nn/training/trainer.hpp>

#include <algorithm>

/// The state of a training for a backup: weights, layers, measured losses and metrics, the optimizer.
namespace ktape::nn {

namespace {

/// Calls f(number, item) for each item of a list, inside the part `name` of the archive.
template <class List, class F>
void numbered(Archive& state, const char* name, List&& list, F f) {
  state.part(name, [&] {
    std::size_t number = 0;
    for (auto& item : list) f(std::to_string(number++), item);
  });
}

}  // namespace

void Trainer::state(Archive& state) {
  find_layers();
  numbered(state, "weights", model_.weights(),
           [&](const std::string& name, const Variable& v) { state(name, v); });
  std::size_t number = 0;
  each_layer([&](LayerImpl& layer) {
    state.part("layers/" + std::to_string(number++), [&] { layer.state(state); });
  });
  state.part("measured", [&] { measured(state); });
  state.part("optimizer", [&] { optimizer_state(state); });
}

namespace {

/// Returns the index of each variable in a list; -1 for a variable that is not in the list.
std::vector<int> places_of(const std::vector<Variable>& variables, const std::vector<Variable>& list) {
  std::vector<int> places;
  for (const Variable& variable : variables) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const Variable& v) { return v.is(variable); });
    places.push_back(found == list.end() ? -1 : static_cast<int>(found - list.begin()));
  }
  return places;
}

}  // namespace

/// Saves or restores the state of the optimizer. Before restoring, the optimizer is built for the weights of
/// the saved state, because a custom train_step may train only some of the weights.
void Trainer::optimizer_state(Archive& state) {
  const std::vector<Variable> weights = model_.weights();
  std::vector<int> places = places_of(optimizer_.impl().built_for(), weights);
  state("places", places);
  if (state.sets() && !optimizer_.impl().built()) {
    std::vector<Variable> trained;
    for (const int place : places) {
      if (place < 0 || place >= std::ssize(weights))
        fail("[", optimizer_.name(),
             "] the optimizer must have trained weights of the model: received number ", place, " of ",
             weights.size());
      trained.push_back(weights[static_cast<std::size_t>(place)]);
    }
    optimizer_.build(trained);
  }
  if (!places.empty() && places != places_of(optimizer_.impl().built_for(), weights))
    fail("[", optimizer_.name(),
         "] the optimizer must train the weights that the state is of: received the weights ", Value(places));
  const std::vector<Variable> variables = optimizer_.variables();
  std::vector<Tensor> values;
  for (const Variable& variable : variables) values.push_back(variable.value());
  state("variables", values);
  if (!state.sets()) return;
  if (values.size() > variables.size())
    fail("[", optimizer_.name(), "] the optimizer must have ", variables.size(), " variables: received ",
         values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].defined() || values[i].shape() != variables[i].shape() ||
        values[i].dtype() != variables[i].dtype())
      fail("[", optimizer_.name(), "] '", variables[i].name(), "' must be ", variables[i].dtype(),
           " of shape ", variables[i].shape(), ": received another tensor");
  for (std::size_t i = 0; i < values.size(); ++i) Variable(variables[i]).assign(values[i]);
}

void Trainer::measured(Archive& state) {
  const auto metric = [&](const std::string& name, const Metric& m) {
    state.part(name, [&] { m.impl().state(state); });
  };
  mean_loss_.state(state);
  numbered(state, "metrics", own_metrics(), metric);
  std::size_t count = outputs_.size();
  state.count("outputs", count);
  if (count != outputs_.size()) make_outputs(count);
  numbered(state, "outputs", outputs_, [&](const std::string& name, Output& output) {
    state.part(name, [&] {
      output.mean_loss.state(state);
      numbered(state, "metrics", output.metrics, metric);
      numbered(state, "weighted_metrics", output.weighted_metrics, metric);
    });
  });
  std::vector<std::string> names;
  for (const auto& [name, mean] : reported_) names.push_back(name);
  state("reported", names);
  if (state.sets()) {
    reported_.clear();
    for (const std::string& name : names) reported_.emplace_back(name, RunningMean());
  }
  numbered(state, "reported", reported_, [&](const std::string& name, auto& reported) {
    state.part(name, [&] { reported.second.state(state); });
  });
}

}  // namespace ktape::nn
