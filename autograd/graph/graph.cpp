#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/autograd/graph/graph.hpp>
#include <ktape/autograd/graph/reach.hpp>
#include <ktape/autograd/graph/trace.hpp>

#include <algorithm>
#include <set>

namespace ktape {
namespace {

/// Moves the updates, and the symbols that read results of updates, after all other symbols.
void put_updates_last(std::vector<Ref<Symbol>>& symbols) {
  std::set<const Symbol*> late;
  for (const Ref<Symbol>& symbol : symbols) {
    const auto reads_late = [&](const Operand& x) {
      return is_symbolic(x.tensor) && late.count(x.tensor.get()->symbol.get());
    };
    if (symbol->updates() || std::any_of(symbol->operands().begin(), symbol->operands().end(), reads_late))
      late.insert(symbol.get());
  }
  std::stable_partition(symbols.begin(), symbols.end(),
                        [&](const auto& symbol) { return !late.count(symbol.get()); });
}

bool differentiates(const Ref<Symbol>& symbol) {
  return symbol->first_differentiated() < symbol->operands().size() - symbol->captured();
}

}  // namespace

Graph::Graph(const char* op, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
             const std::vector<Tensor>& updates, bool simplify)
    : inputs_(inputs) {
  std::set<SymbolResult> cuts;
  for (const Tensor& input : inputs) {
    if (!is_symbolic(input))
      fail("[", op,
           "] an input must be a placeholder or made from one: received a tensor with a value, or none");
    if (!cuts.insert(symbol_result(input)).second)
      fail("[", op, "] an input must be named once: received it twice");
    plan_.add_input(input);
  }
  expect_defined(op, "outputs", outputs);
  expect_defined(op, "updates", updates);
  std::vector<Tensor> wanted = outputs;
  wanted.insert(wanted.end(), updates.begin(), updates.end());

  std::vector<Ref<Symbol>> symbols = reachable_symbols(wanted, cuts);
  for (const Ref<Symbol>& symbol : symbols)
    if (symbol->placeholder())
      fail("[", op, "] the outputs need a value for the placeholder '", symbol->name(),
           "', which must be among the inputs: received ", inputs.size(), " inputs without it");
  put_updates_last(symbols);
  if (std::any_of(symbols.begin(), symbols.end(), differentiates)) simplify = false;
  add_steps(symbols, simplify);
  for (const Tensor& output : outputs) outputs_.push_back(plan_.source(Operand(output)));
  find_watched();
  // The inputs are never emptied, because a callable inside of an op may read them later.
  std::vector<ExecutionPlan::Source> kept = outputs_;
  for (std::size_t i = 0; i < inputs_.size(); ++i) kept.push_back(static_cast<ExecutionPlan::Source>(i));
  plan_.find_last_uses(kept);
  const auto updates_variable = [](const Ref<Symbol>& symbol) { return symbol->updates(); };
  if (simplify) steady_.find(plan_, std::none_of(symbols.begin(), symbols.end(), updates_variable), outputs_);
}

void Graph::add_steps(const std::vector<Ref<Symbol>>& symbols, bool simplify) {
  EqualSteps equal;
  if (simplify) plan_.share_constants();
  for (const Ref<Symbol>& symbol : symbols) {
    if (simplify && equal.merge(*symbol, plan_)) continue;
    const std::size_t operands = symbol->operands().size();
    plan_.add_step(symbol, operands, operands - symbol->captured());
    if (simplify) equal.remember(*symbol, plan_);
  }
}

void Graph::find_watched() {
  watched_.resize(plan_.slots());
  std::size_t next = 0;
  for (const ExecutionPlan::Step& step : plan_.steps()) {
    for (std::size_t i = step.symbol->first_differentiated(); i < step.arguments; ++i) {
      differentiates_ = true;
      const ExecutionPlan::Source source = plan_.sources()[next + i];
      if (source >= 0) watched_[static_cast<std::size_t>(source)] = true;
    }
    next += step.operands;
  }
}

/// One run of a graph, which stores the values by slot.
class GraphRun final : public Environment {
 public:
  GraphRun(const Graph& graph, const std::vector<Tensor>& values)
      : graph_(graph), slots_(graph.plan_.slots()), scope_(graph.differentiates_) {
    for (std::size_t i = 0; i < values.size(); ++i) slots_[i] = values[i].detach(), finish(i);
  }

  std::vector<Tensor> go() {
    VariableTransaction changes;
    std::vector<Tensor> constants;  // outputs that are constants, with their values from before the updates
    for (const ExecutionPlan::Source output : graph_.outputs_)
      constants.push_back(output < 0 ? at(output).detach() : Tensor());
    if (graph_.steady_.any()) run_beside_steady();
    else
      graph_.plan_.run(slots_, [&](const ExecutionPlan::Step& step, const ExecutionPlan::Source* source) {
        run_step(step, source);
      });
    changes.commit();
    return outputs(std::move(constants));
  }

  /// Returns the value of a symbolic tensor that a callable inside an op reads; computes a value that is not
  /// in a slot.
  Tensor value(const Tensor& symbolic) override {
    const std::optional<std::size_t> slot = graph_.plan_.slot_of(symbolic);
    if (slot && slots_[*slot].defined()) return slots_[*slot];
    const Graph rest(symbolic.get()->symbol->op(), graph_.inputs_, {symbolic});
    std::vector<Tensor> inputs(slots_.begin(),
                               slots_.begin() + static_cast<std::ptrdiff_t>(graph_.inputs_.size()));
    return rest.run(inputs)[0];
  }

 private:
  void run_step(const ExecutionPlan::Step& step, const ExecutionPlan::Source* source) {
    graph_.plan_.run_op(step, source, slots_);
    const auto first = static_cast<std::size_t>(step.first_result);
    for (std::size_t slot = first; slot < first + step.results; ++slot) finish(slot);
  }

  /// Runs the steps. The results of the steady steps are taken from an earlier run, or kept for later runs.
  void run_beside_steady() {
    const std::shared_ptr<const SteadySteps::Results> known = graph_.steady_.current();
    const std::vector<Tensor> read = known ? std::vector<Tensor>() : graph_.steady_.values_read();
    std::vector<std::pair<std::size_t, Tensor>> computed;
    std::size_t next = 0, next_known = 0;
    graph_.plan_.run(slots_, [&](const ExecutionPlan::Step& step, const ExecutionPlan::Source* source) {
      if (!graph_.steady_.contains(next++)) return run_step(step, source);
      if (!known) run_step(step, source);
      const auto first = static_cast<std::size_t>(step.first_result);
      for (std::size_t slot = first; slot < first + step.results; ++slot) {
        if (!graph_.steady_.keeps(slot)) continue;
        if (known) slots_[slot] = known->slots[next_known++].second.detach();
        else computed.emplace_back(slot, slots_[slot].detach());
      }
    });
    for (const auto& [slot, value] : computed) value.raw();  // other threads will read the value
    if (!known) graph_.steady_.keep(read, std::move(computed));
  }

  std::vector<Tensor> outputs(std::vector<Tensor> constants) const {
    std::vector<Tensor> out = std::move(constants);
    for (auto result = out.begin(); result != out.end(); ++result) {
      const ExecutionPlan::Source output = graph_.outputs_[static_cast<std::size_t>(result - out.begin())];
      if (output >= 0) *result = at(output);
      const bool again =
          std::any_of(out.begin(), result, [&](const Tensor& x) { return x.get() == result->get(); });
      if (again || result->node()) *result = result->detach();
    }
    return out;
  }

  const Tensor& at(ExecutionPlan::Source source) const {
    return graph_.plan_.values({&source, 1}, slots_)[0];
  }

  /// Completes a slot that an op or the caller has filled: replaces a symbolic tensor by its value and
  /// watches a value that will be differentiated.
  void finish(std::size_t slot) {
    Tensor& result = slots_[slot];
    if (is_symbolic(result)) result = value(result);
    if (graph_.differentiates_ && graph_.watched_[slot]) watch(result);
  }

  void watch(Tensor& result) {
    if (!result.defined() || result.node() || !result.dtype().is_floating()) return;
    result = result.detach();
    tape_.watch(result);
  }

  const Graph& graph_;
  std::vector<Tensor> slots_;
  RecordingScope scope_;
  GradientTape tape_;
};

std::vector<Tensor> Graph::run(const std::vector<Tensor>& values) const {
  return GraphRun(*this, values).go();
}

std::vector<Tensor> placeholders_of(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> found;
  for (const Ref<Symbol>& symbol : reachable_symbols(tensors, {}))
    if (symbol->placeholder()) found.push_back(symbolic_tensor(symbol, 0));
  return found;
}

void expect_value(const char* op, const Tensor& x) {
  expect_defined(op, "x", x);
  if (!is_symbolic(x)) return;
  std::ostringstream names;
  for (const Tensor& placeholder : placeholders_of({x}))
    names << (names.tellp() > 0 ? ", '" : "'") << placeholder.get()->symbol->name() << '\'';
  fail("[", op,
       "] a symbolic tensor has a value only inside a function that is given its placeholders: received "
       "shape=",
       x.shape(), ", which waits for the placeholder ", names.str());
}

namespace {

class DerivativesSymbol final : public Symbol {
 public:
  DerivativesSymbol(const char* op, Derivatives derivatives, std::vector<Operand> operands,
                    std::size_t losses, std::size_t seeds)
      : Symbol(op), derivatives_(std::move(derivatives)), losses_(losses), seeds_(seeds) {
    set_operands(std::move(operands));
  }

  std::size_t first_differentiated() const override { return losses_ + seeds_; }

  void run(const OperandValues& values, Results& out) const override {
    const auto list = [&](std::size_t begin, std::size_t end) {
      std::vector<Tensor> tensors;
      for (std::size_t i = begin; i < end; ++i) tensors.push_back(values[i]);
      return tensors;
    };
    // The graph declares a tensor for each variable; `derivatives_` gives zeros for a variable that this run
    // does not reach.
    out.set(derivatives_(list(0, losses_), list(losses_ + seeds_, values.size()),
                         list(losses_, losses_ + seeds_)));
  }

 private:
  Derivatives derivatives_;
  std::size_t losses_, seeds_;
};

}  // namespace

std::vector<Tensor> symbolic_derivatives(const char* op, const Derivatives& derivatives,
                                         const std::function<OutputInfo(const Tensor& variable)>& info,
                                         const std::vector<Tensor>& losses,
                                         const std::vector<Tensor>& variables,
                                         const std::vector<Tensor>& seeds) {
  const GradientReach reach(losses);
  std::vector<Operand> operands(losses.begin(), losses.end());
  operands.insert(operands.end(), seeds.begin(), seeds.end());
  std::vector<OutputInfo> infos;
  std::vector<std::size_t> reached;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!reach.contains(variables[i])) continue;
    reached.push_back(i);
    operands.emplace_back(variables[i], false);  // its influence on the gradient goes through the losses
    infos.push_back(info(variables[i]));
  }
  std::vector<Tensor> results(variables.size());
  if (reached.empty()) return results;
  auto symbol = Ref<Symbol>::adopt(
      new DerivativesSymbol(op, derivatives, std::move(operands), losses.size(), seeds.size()));
  const std::vector<Tensor> found = defer(std::move(symbol), std::move(infos));
  for (std::size_t k = 0; k < reached.size(); ++k) results[reached[k]] = found[k];
  return results;
}

}  // namespace ktape
