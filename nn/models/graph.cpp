#include <ktape/autograd/environment.hpp>
#include <ktape/autograd/graph/reach.hpp>
#include <ktape/nn/models/graph.hpp>
#include <ktape/nn/operations/operations.hpp>

#include <set>

namespace ktape::nn {
LayerGraph::LayerGraph(const std::string& model, const std::vector<Tensor>& inputs,
                       const std::vector<Tensor>& outputs)
    : inputs_(inputs), outputs_(outputs) {
  std::set<SymbolResult> cuts;
  for (const Tensor& input : inputs) {
    if (!is_symbolic(input))
      fail("[", model,
           "] an input must be symbolic, as nn::Input makes it: received a tensor with a value, or None");
    if (!cuts.insert(symbol_result(input)).second)
      fail("[", model, "] an input must be named once: received it twice");
    plan_.add_input(input);
  }
  for (const Tensor& output : outputs)
    if (!is_symbolic(output))
      fail("[", model, "] an output must be made from the inputs: received a tensor with a value, or None");
  const std::vector<Ref<Symbol>> symbols = reachable_symbols(outputs, cuts);
  for (const Tensor& input : inputs)
    if (input.get()->symbol->placeholder()) add_layer(model, call_of(input));
  for (const Ref<Symbol>& symbol : symbols) {
    if (symbol->placeholder())
      fail("[", model, "] the outputs need the input '", symbol->name(),
           "', which must be among the inputs: received ", inputs.size(), " inputs without it");
    add_layer(model, call_of(*symbol));
    add_step(symbol);
  }
  name_ops();
  for (const Tensor& output : outputs) results_.push_back(plan_.source(Operand(output)));
  if (!captures_) plan_.find_last_uses(results_);  // otherwise a callable inside an op may read any tensor
}

void LayerGraph::add_layer(const std::string& model, const LayerCall* call) {
  if (!call) return;
  for (const Layer& known : layers_) {
    if (known.is(call->layer)) return;
    if (known.name() == call->layer.name())
      fail("[", model, "] layers must have different names: received two layers named '", known.name(), "'");
  }
  layers_.push_back(call->layer);
}

void LayerGraph::name_ops() {
  std::set<std::string> names;
  for (const Layer& layer : layers_) names.insert(layer.name());
  const auto add = [&](const Symbol& symbol, std::string name) {
    const std::string stem = name + '_';
    for (int number = 1; !names.insert(name).second; ++number) name = stem + std::to_string(number);
    op_names_.emplace(&symbol, name);
  };
  for (const bool with_given_names : {true, false}) {
    for (const ExecutionPlan::Step& step : plan_.steps()) {
      const std::string given = given_name(*step.symbol);
      if (call_of(*step.symbol) || given.empty() == with_given_names) continue;
      const Operation* const operation = operation_named_by(*step.symbol);
      add(*step.symbol, !given.empty() ? given : operation ? snake_name(*operation) : step.symbol->op());
    }
  }
}

std::string LayerGraph::name_of(const Symbol& symbol) const {
  if (const LayerCall* call = call_of(symbol)) return call->layer.name();
  const auto op = op_names_.find(&symbol);
  return op == op_names_.end() ? symbol.op() : op->second;
}

void LayerGraph::add_step(const Ref<Symbol>& symbol) {
  const LayerCall* call = call_of(*symbol);
  const std::size_t count = call ? call->operand_count() : symbol->operands().size() - symbol->captured();
  plan_.add_step(symbol, count, count);
  calls_.push_back({call, call && call->plain() && symbol->outputs().size() == 1});
  captures_ = captures_ || symbol->captured() > 0;
}

std::vector<GraphNode> LayerGraph::nodes() const {
  std::vector<GraphNode> nodes;
  std::map<SymbolResult, std::size_t> made_by;
  const auto add = [&](const Symbol& symbol, std::span<const Operand> operands) {
    GraphNode node;
    if (const LayerCall* call = call_of(symbol)) node.layer = call->layer;
    else node.op = name_of(symbol);
    const Operation* const operation = node.op.empty() ? nullptr : operation_named_by(symbol);
    if (operation) node.op_class = operation->name;
    for (const GraphNode& other : nodes) node.call += node.layer.defined() && other.layer.is(node.layer);
    for (const Operand& operand : operands) {
      if (!is_symbolic(operand.tensor)) continue;
      node.inputs.push_back(operand.tensor.shape());
      node.from.emplace_back(made_by.at(symbol_result(operand.tensor)), operand.tensor.get()->output);
    }
    for (std::uint32_t i = 0; i < symbol.outputs().size(); ++i) {
      node.outputs.push_back(symbol.outputs()[i].shape);
      node.dtypes.push_back(symbol.outputs()[i].dtype);
      made_by.emplace(SymbolResult{&symbol, i}, nodes.size());
    }
    nodes.push_back(std::move(node));
  };
  for (const Tensor& input : inputs_) add(*input.get()->symbol, {});
  for (const ExecutionPlan::Step& step : plan_.steps())
    add(*step.symbol, step.symbol->operands().first(step.operands));
  return nodes;
}

std::vector<Ref<Symbol>> LayerGraph::symbols() const {
  std::vector<Ref<Symbol>> symbols;
  for (const ExecutionPlan::Step& step : plan_.steps()) symbols.push_back(step.symbol);
  return symbols;
}

namespace {

/// Returns whether a call has inputs only, and computes in inference what the layer computes by default.
bool has_no_arguments(const LayerCall& call) {
  const CallArguments& a = call.arguments;
  const bool training = a.training.value_or(false);
  return !training && a.mask.empty() && a.initial_state.empty() && !a.attention_mask.defined() &&
         !a.count_weights.defined() && !a.use_causal_mask && !a.return_attention_scores;
}

}  // namespace

std::vector<PlannedCall> LayerGraph::planned_calls() const {
  std::vector<PlannedCall> list;
  const ExecutionPlan::Source* source = plan_.sources().data();
  auto next = calls_.begin();
  for (const ExecutionPlan::Step& step : plan_.steps()) {
    const CallOfStep call = *next++;
    PlannedCall& planned = list.emplace_back();
    planned.first_result = step.first_result, planned.results = static_cast<int>(step.results);
    planned.inputs.assign(source, source + step.operands);
    if (call.call) {
      planned.layer = call.call->layer;
      planned.plain = step.results == 1 && has_no_arguments(*call.call);
      if (planned.plain) planned.inputs.resize(call.call->input_count);  // undefined arguments follow
    } else if (const std::optional<PlannedOperation> op = planned_operation(*step.symbol)) {
      planned.plan = op->plan, planned.order = op->order;
      planned.read = std::exchange(planned.inputs, {});
      for (const Tensor& x : op->inputs) planned.inputs.push_back(static_cast<int>(plan_.slot_of(x).value()));
    }
    planned.pure = !call.call && step.symbol->pure();
    planned.run = [this, &step, source, call](std::vector<Tensor>& slots) {
      if (call.plain)
        slots[static_cast<std::size_t>(step.first_result)] =
            call.call->layer(slots[static_cast<std::size_t>(*source)], call.call->arguments);
      else plan_.run_op(step, source, slots);
    };
    source += step.operands;
  }
  return list;
}

CompiledCalls* LayerGraph::plans() const {
  if (captures_ || plan_.steps().empty()) return nullptr;
  const std::lock_guard lock(making_plans_);
  if (!plans_)
    plans_ = std::make_unique<CompiledCalls>(planned_calls(), inputs_.size(), plan_.slots(), results_);
  return plans_.get();
}

/// One run of a graph, which stores the values by slot.
class LayerGraphRun {
 public:
  LayerGraphRun(const LayerGraph& graph, const std::vector<Tensor>& values) : graph_(graph), slots_(values) {
    slots_.resize(graph.plan_.slots());
    if (graph.captures_) captured_.emplace(*this);
  }

  void go() {
    auto next = graph_.calls_.begin();
    graph_.plan_.run(slots_, [&](const ExecutionPlan::Step& step, const ExecutionPlan::Source* source) {
      const auto& [call, plain] = *next++;
      if (plain)
        slots_[static_cast<std::size_t>(step.first_result)] = call->layer(at(*source), call->arguments);
      else graph_.plan_.run_op(step, source, slots_);
    });
  }

  std::vector<Tensor> outputs() const {
    std::vector<Tensor> outputs;
    for (const ExecutionPlan::Source slot : graph_.results_)
      outputs.push_back(slots_[static_cast<std::size_t>(slot)]);
    return outputs;
  }

 private:
  /// The values of symbolic tensors that callables inside ops read.
  class Captured final : public Environment {
   public:
    explicit Captured(LayerGraphRun& run) : run_(run) {}
    Tensor value(const Tensor& symbolic) override {
      if (const std::optional<std::size_t> slot = run_.graph_.plan_.slot_of(symbolic))
        return run_.slots_[*slot];
      const LayerGraph rest("model", run_.graph_.inputs_, {symbolic});
      const auto inputs = static_cast<std::ptrdiff_t>(run_.graph_.inputs_.size());
      return rest.run({run_.slots_.begin(), run_.slots_.begin() + inputs})[0];
    }

   private:
    LayerGraphRun& run_;
  };

  const Tensor& at(ExecutionPlan::Source slot) const { return slots_[static_cast<std::size_t>(slot)]; }

  const LayerGraph& graph_;
  std::vector<Tensor> slots_;
  std::optional<Captured> captured_;
};

std::vector<Tensor> LayerGraph::run(const std::vector<Tensor>& values) const {
  LayerGraphRun run(*this, values);
  run.go();
  return run.outputs();
}

}  // namespace ktape::nn
