#include <ktape/autograd/graph/equal_steps.hpp>

namespace ktape {

EqualSteps::Key EqualSteps::key_of(const Symbol& symbol, ExecutionPlan& plan) {
  Key key{symbol.op(), {}};
  for (const Operand& operand : symbol.operands()) key.second.push_back(plan.source(operand));
  return key;
}

bool EqualSteps::merge(const Symbol& symbol, ExecutionPlan& plan) {
  if (!symbol.pure()) return false;
  const Key key = key_of(symbol, plan);
  if (key.first == "identity" && key.second.size() == 1 && key.second[0] >= 0) {
    plan.add_equal(symbol, key.second[0]);
    return true;
  }
  const auto [begin, end] = known_.equal_range(key);
  for (auto call = begin; call != end; ++call) {
    if (!symbol.same_call(*call->second.symbol)) continue;
    plan.add_equal(symbol, call->second.first_result);
    return true;
  }
  return false;
}

void EqualSteps::remember(const Symbol& symbol, ExecutionPlan& plan) {
  if (!symbol.pure()) return;
  known_.emplace(key_of(symbol, plan), Known{&symbol, plan.steps().back().first_result});
}

}  // namespace ktape
