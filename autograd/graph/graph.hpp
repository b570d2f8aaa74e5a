#pragma once
#include <ktape/autograd/graph/execution_plan.hpp>
#include <ktape/autograd/graph/steady_steps.hpp>

#include <functional>

namespace ktape {

/// The ops that compute some symbolic tensors from other symbolic tensors, in the order of execution. A Graph
/// is immutable: several threads may run one graph.
///
///     Tensor x = ktape::make_placeholder({2}, ktape::DType::Float32, "x");
///     const auto before = ktape::newest_symbol();
///     Tensor y = K::exp(x) + K::exp(x);
///     std::cout << ktape::newest_symbol() - before << " symbols\n";
///     ktape::Graph graph("sum", ktape::placeholders_of({y}), {y}, {}, true);
///     std::cout << graph.plan().steps().size() << " steps\n"
///               << graph.run({K::zeros({2})})[0];
class Graph {
 public:
  /// Collects the ops from `inputs` to `outputs`. Inputs are placeholders, or other symbolic tensors, which
  /// are then not computed. `updates` are computed after the outputs and not returned. Throws ValueError,
  /// naming the op, for an input that is not symbolic or is listed twice, an undefined output, and a
  /// placeholder that the outputs need and `inputs` lacks. With `simplify`, equal pure ops run once, identities
  /// take no step, and pure ops on values and unchanged variables keep their results from run to run. A graph with
  /// gradients is not simplified.
  Graph(const char* op, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
        const std::vector<Tensor>& updates = {}, bool simplify = false);

  /// Runs the ops on one value per input and returns the outputs, which are not recorded. Variables are read
  /// at the time of the call. Ops are recorded on the tape only where the graph contains gradients; no
  /// recorded op is kept.
  std::vector<Tensor> run(const std::vector<Tensor>& values) const;

  std::span<const Tensor> inputs() const { return inputs_; }
  const ExecutionPlan& plan() const { return plan_; }
  const SteadySteps& steady() const { return steady_; }

 private:
  friend class GraphRun;

  void add_steps(const std::vector<Ref<Symbol>>& symbols, bool simplify);
  void find_watched();

  std::vector<Tensor> inputs_;
  ExecutionPlan plan_;
  std::vector<ExecutionPlan::Source> outputs_;
  std::vector<bool> watched_;  ///< for each slot, whether gradients with respect to the slot are taken
  bool differentiates_ = false;
  SteadySteps steady_;
};

/// Returns the placeholders on which the tensors depend, in the order of their creation.
std::vector<Tensor> placeholders_of(const std::vector<Tensor>& tensors);

/// A function that differentiates losses, weighted by seeds, with respect to variables. Returns one tensor
/// for each variable, zeros where there is no gradient. Internal: for the functions of gradients.
using Derivatives =
    std::function<std::vector<Tensor>(const std::vector<Tensor>& losses, const std::vector<Tensor>& variables,
                                      const std::vector<Tensor>& seeds)>;

/// Defers `derivatives` where a loss or seed is symbolic. Returns, for each variable that gradients can
/// reach, a tensor with the shape and dtype that `info` gives; undefined tensors for others. Internal: for gradients.
std::vector<Tensor> symbolic_derivatives(const char* op, const Derivatives& derivatives,
                                         const std::function<OutputInfo(const Tensor& variable)>& info,
                                         const std::vector<Tensor>& losses,
                                         const std::vector<Tensor>& variables,
                                         const std::vector<Tensor>& seeds = {});

}  // namespace ktape
