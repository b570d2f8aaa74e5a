#include <ktape/autograd/graph/execution_plan.hpp>
#include <ktape/autograd/graph/reach.hpp>

#include <algorithm>

namespace ktape {

void ExecutionPlan::add_input(const Tensor& input) { slot_of_[symbol_result(input)] = slots_++; }

ExecutionPlan::Source ExecutionPlan::source(const Operand& operand) {
  if (is_symbolic(operand.tensor)) return slot_of_.at(symbol_result(operand.tensor));
  const auto same = [&](const Operand& x) {
    return operand.variable.defined() ? x.variable.is(operand.variable)
                                      : !x.variable.defined() && x.tensor.get() == operand.tensor.get();
  };
  if (shares_constants_)
    if (const auto known = std::find_if(constants_.begin(), constants_.end(), same);
        known != constants_.end())
      return ~static_cast<Source>(known - constants_.begin());
  constants_.push_back(operand);
  return ~static_cast<Source>(constants_.size() - 1);
}

void ExecutionPlan::add_equal(const Symbol& symbol, Source first) {
  for (std::uint32_t i = 0; i < symbol.outputs().size(); ++i)
    slot_of_.try_emplace({&symbol, i}, first + static_cast<Source>(i));
}

void ExecutionPlan::add_step(const Ref<Symbol>& symbol, std::size_t operands, std::size_t arguments) {
  Step step{symbol};
  step.operands = static_cast<std::uint32_t>(operands);
  step.arguments = static_cast<std::uint32_t>(arguments);
  step.results = static_cast<std::uint32_t>(symbol->outputs().size());
  step.first_result = slots_;
  for (const Operand& operand : symbol->operands().first(operands)) sources_.push_back(source(operand));
  for (std::uint32_t i = 0; i < step.results; ++i, ++slots_) slot_of_.try_emplace({symbol.get(), i}, slots_);
  steps_.push_back(std::move(step));
}

void ExecutionPlan::find_last_uses(const std::vector<Source>& kept) {
  std::vector<bool> needed(slots());
  for (const Source source : kept)
    if (source >= 0) needed[static_cast<std::size_t>(source)] = true;
  std::size_t next = sources_.size();
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    const auto last_use = [&](Source slot) {
      if (slot < 0 || needed[static_cast<std::size_t>(slot)]) return;
      needed[static_cast<std::size_t>(slot)] = true;
      last_uses_.push_back(slot);
      ++step->last_uses;
    };
    for (std::uint32_t i = 0; i < step->results; ++i) last_use(step->first_result + static_cast<Source>(i));
    next -= step->operands;
    for (std::uint32_t i = 0; i < step->operands; ++i) last_use(sources_[next + i]);
  }
  std::reverse(last_uses_.begin(), last_uses_.end());
}

std::optional<std::size_t> ExecutionPlan::slot_of(const Tensor& symbolic) const {
  const auto slot = slot_of_.find(symbol_result(symbolic));
  if (slot == slot_of_.end()) return std::nullopt;
  return static_cast<std::size_t>(slot->second);
}

}  // namespace ktape
