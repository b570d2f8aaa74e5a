#pragma once
#include <ktape/ops/settings/config.hpp>

/// Graphs for one learning phase. Internal: sources only.
namespace ktape::backend {

/// A scope in which `in_train_phase` and `in_test_phase` of symbolic tensors choose a branch at once, by the learning phase
/// of the scope. Outside, the graph chooses whenever it runs. An exported graph has one phase.
class FixedPhaseScope {
 public:
  explicit FixedPhaseScope(int phase);
  ~FixedPhaseScope();
  FixedPhaseScope(const FixedPhaseScope&) = delete;
  FixedPhaseScope& operator=(const FixedPhaseScope&) = delete;

 private:
  learning_phase_scope phase_;
  bool before_;
};

/// Returns whether a FixedPhaseScope is open on this thread.
bool phase_is_fixed();

}  // namespace ktape::backend
