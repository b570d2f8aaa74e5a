#pragma once
#include <ktape/autograd/graph/execution_plan.hpp>

#include <string_view>

namespace ktape {

/// Finds the symbols of a plan that need no step, because their results are known: a symbol that repeats an
/// earlier call with equal operands, or an identity. Internal: sources only.
class EqualSteps {
 public:
  /// Adds the symbol to the plan as the equal of known slots, if there are such slots. Returns whether the
  /// symbol needs no step.
  bool merge(const Symbol& symbol, ExecutionPlan& plan);
  /// Remembers a step that the plan has for the symbol, with the slot of the first result.
  void remember(const Symbol& symbol, ExecutionPlan& plan);

 private:
  using Key = std::pair<std::string_view, std::vector<ExecutionPlan::Source>>;
  struct Known {
    const Symbol* symbol;
    ExecutionPlan::Source first_result;
  };
  static Key key_of(const Symbol& symbol, ExecutionPlan& plan);

  std::multimap<Key, Known> known_;
};

}  // namespace ktape
