#pragma once
#include <ktape/nn/compiled/explanation.hpp>

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

/// Plans for the calls of a model's layers in inference. Internal: sources only.
namespace ktape::nn {

/// A scope of predict, evaluate and so on, in which models that are made from symbolic tensors, and
/// Sequential models, make plans. Does nothing if the environment variable KTAPE_COMPILE is 0.
class CompilingScope {
 public:
  CompilingScope();
  ~CompilingScope();
  CompilingScope(const CompilingScope&) = delete;
  CompilingScope& operator=(const CompilingScope&) = delete;

 private:
  bool before_;
};

/// The calls of a model's layers, with a plan for each of the most recent signatures (shapes and dtypes of the
/// inputs). The first run with a signature makes the plan, so that all runs give the same bits. Several threads
/// may run the calls at once.
class CompiledCalls {
 public:
  /// Slots are numbered from the inputs on.
  CompiledCalls(std::vector<PlannedCall> calls, std::size_t inputs, std::size_t slots,
                std::vector<int> outputs);
  ~CompiledCalls();

  /// Returns whether a plan may run on these inputs: in a CompilingScope, without recording, with the engine
  /// onednn, and on values without masks. The caller checks that the call is inference.
  static bool usable(const std::vector<Tensor>& inputs);

  std::vector<Tensor> run(const std::vector<Tensor>& inputs);
  /// Runs the plan of an earlier run with inputs of these shapes and dtypes. Returns none if a plan may not run on
  /// the inputs, or if no plan is a single network.
  std::optional<std::vector<Tensor>> run_again(const std::vector<Tensor>& inputs);
  /// Measures the plan that ran last; returns none if there is no plan.
  std::optional<ExplainedPlan> explanation();

 private:
  struct Entry;
  using Entries = std::list<std::shared_ptr<Entry>>;
  /// Returns the place of the entry for inputs of these shapes and dtypes. The caller holds the mutex.
  Entries::iterator find(const std::vector<Tensor>& inputs);
  std::shared_ptr<Entry> entry_of(const std::vector<Tensor>& inputs);
  void keep(Entry& entry, const std::shared_ptr<const Plan>& made);
  std::vector<Tensor> slots_of(const std::vector<Tensor>& inputs) const;
  std::vector<Tensor> outputs_of(const std::vector<Tensor>& slots) const;
  /// Logs the layers that the plan calls.
  void say_what_is_called(const Plan& plan) const;

  const std::vector<PlannedCall> calls_;
  const std::size_t inputs_, slots_;
  const std::vector<int> outputs_;
  std::atomic<bool> said_{false};  ///< whether the log names the called layers
  std::mutex mutex_;               ///< guards the entries, and the plan of each
  Entries entries_;                ///< the most recently used entry first
};

}  // namespace ktape::nn
