#pragma once
#include <ktape/autograd/symbol.hpp>

#include <map>
#include <optional>
#include <vector>

namespace ktape {

/// The steps that compute symbolic tensors from others, in the order of execution. Each tensor of a run has a
/// slot: first the inputs, then the results of the steps. Internal: sources only.
class ExecutionPlan {
 public:
  using Source = OperandValues::Source;  ///< a slot, or the complement of the index of a constant
  struct Step {
    Ref<Symbol> symbol;
    std::uint32_t operands = 0;   ///< the number of sources that the step needs
    std::uint32_t arguments = 0;  ///< the number of sources that `Symbol::run` takes, at most `operands`
    std::uint32_t results = 0;
    Source first_result = 0;      ///< the slot of the first result; the slots of the other results follow
    std::uint32_t last_uses = 0;  ///< the number of slots that no step after this one needs
  };

  /// Gives a symbolic tensor the next slot.
  void add_input(const Tensor& input);
  /// Adds a step. Its sources are the first `operands` operands of the symbol; `Symbol::run` takes the first
  /// `arguments` of them.
  void add_step(const Ref<Symbol>& symbol, std::size_t operands, std::size_t arguments);
  /// Returns the slot of a symbolic tensor; a tensor with a value becomes a constant.
  Source source(const Operand& operand);
  /// Gives the results of a symbol, which gets no step, the slots from `first` on.
  void add_equal(const Symbol& symbol, Source first);
  /// Lets operands that are the same variable or the same value share a constant.
  void share_constants() { shares_constants_ = true; }
  const Operand& constant(Source source) const { return constants_[static_cast<std::size_t>(~source)]; }
  /// Finds the slots that can be emptied after each step. The slots in `kept` are never emptied.
  void find_last_uses(const std::vector<Source>& kept);

  const std::vector<Step>& steps() const { return steps_; }
  std::size_t slots() const { return static_cast<std::size_t>(slots_); }
  /// Returns the slot of a symbolic tensor; none for a tensor outside of the plan.
  std::optional<std::size_t> slot_of(const Tensor& symbolic) const;
  /// Returns the sources of all steps, one step after another.
  const std::vector<Source>& sources() const { return sources_; }
  /// Returns the values of sources during a run.
  OperandValues values(std::span<const Source> sources, const std::vector<Tensor>& slots) const {
    return OperandValues(sources, slots.data(), constants_.data());
  }

  /// Calls f(step, sources of the step) for each step, and empties the slots that are not needed any more.
  template <class F>
  void run(std::vector<Tensor>& slots, F&& f) const {
    const Source *source = sources_.data(), *unused = last_uses_.data();
    for (const Step& step : steps_) {
      f(step, source);
      source += step.operands;
      for (std::uint32_t i = 0; i < step.last_uses; ++i)
        slots[static_cast<std::size_t>(*unused++)] = Tensor();
    }
  }

  /// Runs the op of a step on the values of its arguments and stores the results in their slots.
  void run_op(const Step& step, const Source* source, std::vector<Tensor>& slots) const {
    Results places(slots.data() + step.first_result, step.results);
    step.symbol->run(values({source, step.arguments}, slots), places);
  }

 private:
  std::vector<Step> steps_;
  std::vector<Source> sources_;    ///< the operands of the steps, one step after another
  std::vector<Source> last_uses_;  ///< the slots that no later step needs, one step after another
  std::vector<Operand> constants_;
  bool shares_constants_ = false;
  std::map<std::pair<const Symbol*, std::uint32_t>, Source> slot_of_;
  Source slots_ = 0;
};

}  // namespace ktape
