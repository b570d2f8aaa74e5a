#pragma once
#include <ktape/autograd/symbolic/symbol.hpp>

#include <functional>
#include <map>
#include <memory>

namespace ktape {

/// The ops that lead from some symbolic tensors to others, in the order in which they run. Immutable: several
/// threads may run it.
class Graph {
 public:
  /// Collects the ops from `inputs` (placeholders, or any symbolic tensors, which then are not computed) to
  /// `outputs`; `updates` are computed too, after the outputs, and not returned. Throws ValueError, naming
  /// the op, for an input that is not symbolic or named twice, an undefined output, and a placeholder that
  /// the outputs need and `inputs` lacks.
  Graph(const char* op, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
        const std::vector<Tensor>& updates = {});

  /// Runs the ops on one value per input and returns the outputs, which are not recorded. Variables are read
  /// now. The tape is used only where the graph holds gradients, and nothing is kept.
  std::vector<Tensor> run(const std::vector<Tensor>& values) const;

  std::span<const Tensor> inputs() const { return inputs_; }

 private:
  friend class GraphRun;
  using Source = OperandValues::Source;
  struct Step {
    Ref<Symbol> symbol;
    std::uint32_t operands = 0, arguments = 0;  ///< how many sources, and how many of these run() takes
    std::uint32_t results = 0;
    Source first_result = 0;      ///< the slot of the first result; the others follow
    std::uint32_t last_uses = 0;  ///< how many slots nothing needs after this step
  };

  Source source(const Operand& operand);
  void add_step(const Ref<Symbol>& symbol);
  void find_last_uses();

  std::vector<Tensor> inputs_;
  std::vector<Operand> constants_;
  std::map<std::pair<const Symbol*, std::uint32_t>, Source> slot_of_;
  std::vector<Step> steps_;
  std::vector<Source> sources_;    ///< the operands of the steps, one step after another
  std::vector<Source> last_uses_;  ///< the slots that are free after each step, likewise
  std::vector<Source> outputs_;
  std::vector<bool> watched_;  ///< for each slot, whether a gradient with respect to its value is taken
  Source slots_ = 0;
  bool differentiates_ = false;
};

/// The placeholders that the tensors depend on, in the order in which they were made.
std::vector<Tensor> placeholders_of(const std::vector<Tensor>& tensors);

/// Differentiates losses, weighed by seeds, with respect to variables: one tensor for each variable, zeros
/// where there is no gradient.
using Derivatives =
    std::function<std::vector<Tensor>(const std::vector<Tensor>& losses, const std::vector<Tensor>& variables,
                                      const std::vector<Tensor>& seeds)>;

/// Runs `derivatives` later, where one of the losses or seeds is symbolic. Returns a tensor as `info`
/// describes it for each variable that gradients can reach, an undefined one for the others.
std::vector<Tensor> symbolic_derivatives(const char* op, const Derivatives& derivatives,
                                         const std::function<OutputInfo(const Tensor& variable)>& info,
                                         const std::vector<Tensor>& losses,
                                         const std::vector<Tensor>& variables,
                                         const std::vector<Tensor>& seeds = {});

}  // namespace ktape
