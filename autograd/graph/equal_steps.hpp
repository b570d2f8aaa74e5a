#pragma once
#include <ktape/autograd/graph/execution_plan.hpp>

#include <string_view>

namespace ktape {

/// Says of the name of an op whether results depend on the arguments alone, so that equal calls have equal
/// results: no random numbers, no state, no output.
using PureOp = bool (*)(std::string_view op);

/// Finds the symbols of a plan that need no step, because their results are known: a symbol that repeats an
/// earlier call with equal operands, or an identity. Internal: sources only.
class EqualSteps {
 public:
  explicit EqualSteps(PureOp pure) : pure_(pure) {}
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

  PureOp pure_;
  std::multimap<Key, Known> known_;
};

}  // namespace ktape
