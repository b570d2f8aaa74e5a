#pragma once
#include <ktape/autograd/graph/equal_steps.hpp>

#include <memory>

namespace ktape {

/// The steps of a plan that compute equal results in each run, because they depend on constants and variables
/// alone. Their results are kept until a variable changes. A variable counts as unchanged while its value is
/// the tensor that the results were computed from: the results hold that tensor, so that no update can
/// overwrite it. Internal: sources only.
class SteadySteps {
 public:
  /// The results that are kept, by slot, and the values of the variables that were read.
  struct Results {
    std::vector<Tensor> read;
    std::vector<std::pair<std::size_t, Tensor>> slots;
  };

  /// Finds the steps. Variables count as constants only with `reads_variables`: a graph without updates.
  void find(const ExecutionPlan& plan, bool reads_variables,
            const std::vector<ExecutionPlan::Source>& outputs);

  bool any() const { return any_; }
  bool contains(std::size_t step) const { return any_ && steady_[step]; }
  /// Returns whether an output or a step that is not steady reads the slot.
  bool keeps(std::size_t slot) const { return keeps_[slot]; }
  /// Returns the kept results; null when there are none, or a variable has changed.
  std::shared_ptr<const Results> current() const;
  /// Keeps the results of a run, which read these values.
  void keep(const std::vector<Tensor>& read, std::vector<std::pair<std::size_t, Tensor>> slots) const;
  /// Returns the current values of the variables that the steps read.
  std::vector<Tensor> values_read() const;

 private:
  bool any_ = false;
  std::vector<bool> steady_;  ///< for each step of the plan
  std::vector<bool> keeps_;   ///< for each slot
  std::vector<Variable> variables_;
  struct Kept;
  std::shared_ptr<Kept> kept_;
};

}  // namespace ktape
