#include <ktape/autograd/graph/steady_steps.hpp>

#include <algorithm>
#include <mutex>
#include <span>

namespace ktape {

struct SteadySteps::Kept {
  std::mutex mutex;
  std::shared_ptr<const Results> results;
};

void SteadySteps::find(const ExecutionPlan& plan, bool reads_variables,
                       const std::vector<ExecutionPlan::Source>& outputs) {
  kept_ = std::make_shared<Kept>();
  std::vector<bool> steady_slot(plan.slots());
  keeps_.assign(plan.slots(), false);
  const auto keep = [&](ExecutionPlan::Source source) {
    if (source >= 0) keeps_[static_cast<std::size_t>(source)] = true;
  };
  std::for_each(outputs.begin(), outputs.end(), keep);
  steady_.assign(plan.steps().size(), false);
  std::size_t next = 0;
  for (std::size_t i = 0; i < plan.steps().size(); ++i) {
    const ExecutionPlan::Step& step = plan.steps()[i];
    const std::span sources(plan.sources().data() + next, step.operands);
    next += step.operands;
    const auto is_steady = [&](ExecutionPlan::Source source) {
      if (source >= 0) return static_cast<bool>(steady_slot[static_cast<std::size_t>(source)]);
      return reads_variables || !plan.constant(source).variable.defined();
    };
    steady_[i] = step.operands > 0 && step.operands == step.arguments && step.symbol->pure() &&
                 std::all_of(sources.begin(), sources.end(), is_steady);
    if (!steady_[i]) {
      std::for_each(sources.begin(), sources.end(), keep);
      continue;
    }
    any_ = true;
    for (std::uint32_t k = 0; k < step.results; ++k) {
      const auto slot = static_cast<std::size_t>(step.first_result) + k;
      steady_slot[slot] = true;
    }
    for (const ExecutionPlan::Source source : sources)
      if (source < 0 && plan.constant(source).variable.defined())
        variables_.push_back(plan.constant(source).variable);
  }
}

std::vector<Tensor> SteadySteps::values_read() const {
  std::vector<Tensor> values;
  for (const Variable& variable : variables_) values.push_back(variable.stored().detach());
  return values;
}

std::shared_ptr<const SteadySteps::Results> SteadySteps::current() const {
  const std::lock_guard lock(kept_->mutex);
  const auto same = [](const Variable& variable, const Tensor& value) {
    return variable.stored().get()->storage.get() == value.get()->storage.get();
  };
  if (!kept_->results ||
      !std::equal(variables_.begin(), variables_.end(), kept_->results->read.begin(), same))
    return nullptr;
  return kept_->results;
}

void SteadySteps::keep(const std::vector<Tensor>& read,
                       std::vector<std::pair<std::size_t, Tensor>> slots) const {
  auto results = std::make_shared<Results>(Results{read, std::move(slots)});
  const std::lock_guard lock(kept_->mutex);
  kept_->results = std::move(results);
}

}  // namespace ktape
