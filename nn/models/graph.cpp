#include <ktape/autograd/environment.hpp>
#include <ktape/autograd/graph/reach.hpp>
#include <ktape/nn/models/graph.hpp>

#include <algorithm>
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
    const Source slot = static_cast<Source>(slot_of_.size());
    slot_of_[symbol_result(input)] = slot;
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
  for (const Tensor& output : outputs) results_.push_back(slot_of_.at(symbol_result(output)));
  find_last_uses();
}

void LayerGraph::add_layer(const std::string& model, const LayerCall* call) {
  if (!call) return;
  for (const Layer& known : layers_) {
    if (known.is(call->layer)) return;
    if (known.name() == call->layer.name())
      fail("[", model, "] each layer must have a name of its own: received two layers named '", known.name(),
           "'");
  }
  layers_.push_back(call->layer);
}

LayerGraph::Source LayerGraph::source(const Operand& operand) {
  if (is_symbolic(operand.tensor)) return slot_of_.at(symbol_result(operand.tensor));
  constants_.push_back(operand);
  return ~static_cast<Source>(constants_.size() - 1);
}

void LayerGraph::add_step(const Ref<Symbol>& symbol) {
  const LayerCall* call = call_of(*symbol);
  const std::span<const Operand> operands = symbol->operands();
  const std::size_t count = call ? call->operand_count() : operands.size() - symbol->captured();
  for (const Operand& operand : operands.first(count)) sources_.push_back(source(operand));
  captures_ = captures_ || symbol->captured() > 0;
  const auto results = static_cast<std::uint32_t>(symbol->outputs().size());
  steps_.push_back({symbol, call, call && call->plain() && results == 1, static_cast<std::uint32_t>(count),
                    results, 0, static_cast<Source>(slot_of_.size())});
  for (std::uint32_t i = 0; i < results; ++i) slot_of_.emplace(Key{symbol.get(), i}, slot_of_.size());
}

void LayerGraph::find_last_uses() {
  if (captures_) return;  // a callable may come to need any of them
  std::vector<bool> needed(slot_of_.size());
  for (const Source result : results_) needed[static_cast<std::size_t>(result)] = true;
  std::size_t next = sources_.size();
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    const auto last_use = [&](Source slot) {
      if (slot < 0 || needed[static_cast<std::size_t>(slot)]) return;
      needed[static_cast<std::size_t>(slot)] = true;
      last_uses_.push_back(slot);
      ++step->last_uses;
    };
    for (std::uint32_t i = 0; i < step->results; ++i) last_use(step->first_result + static_cast<Source>(i));
    next -= step->operands;
    for (std::uint32_t i = 0; i < step->operands; ++i) last_use(sources_[next + i]);
  }
  std::reverse(last_uses_.begin(), last_uses_.end());
}

std::vector<GraphNode> LayerGraph::nodes() const {
  std::vector<GraphNode> nodes;
  std::map<Key, std::size_t> made_by;
  const auto add = [&](const Symbol& symbol, std::span<const Operand> operands) {
    GraphNode node;
    if (const LayerCall* call = call_of(symbol)) node.layer = call->layer;
    else node.op = symbol.op();
    for (const GraphNode& other : nodes) node.call += node.layer.defined() && other.layer.is(node.layer);
    for (const Operand& operand : operands) {
      if (!is_symbolic(operand.tensor)) continue;
      node.inputs.push_back(operand.tensor.shape());
      node.from.emplace_back(made_by.at(symbol_result(operand.tensor)), operand.tensor.get()->output);
    }
    for (std::uint32_t i = 0; i < symbol.outputs().size(); ++i) {
      node.outputs.push_back(symbol.outputs()[i].shape);
      node.dtypes.push_back(symbol.outputs()[i].dtype);
      made_by.emplace(Key{&symbol, i}, nodes.size());
    }
    nodes.push_back(std::move(node));
  };
  for (const Tensor& input : inputs_) add(*input.get()->symbol, {});
  for (const Step& step : steps_) add(*step.symbol, step.symbol->operands().first(step.operands));
  return nodes;
}

std::vector<Ref<Symbol>> LayerGraph::symbols() const {
  std::vector<Ref<Symbol>> symbols;
  for (const Step& step : steps_) symbols.push_back(step.symbol);
  return symbols;
}

/// The values by slot.
class LayerGraphRun {
 public:
  LayerGraphRun(const LayerGraph& graph, const std::vector<Tensor>& values) : graph_(graph), slots_(values) {
    slots_.resize(graph.slot_of_.size());
    if (graph.captures_) captured_.emplace(*this);
  }

  void go() {
    const LayerGraph::Source *source = graph_.sources_.data(), *unused = graph_.last_uses_.data();
    for (const LayerGraph::Step& step : graph_.steps_) {
      Tensor* const results = &slots_[static_cast<std::size_t>(step.first_result)];
      if (step.plain) {
        results[0] = step.call->layer(at(*source), step.call->arguments);
      } else {
        Results places(results, step.results);
        step.symbol->run(OperandValues({source, step.operands}, slots_.data(), graph_.constants_.data()),
                         places);
      }
      source += step.operands;
      for (std::uint32_t i = 0; i < step.last_uses; ++i)
        slots_[static_cast<std::size_t>(*unused++)] = Tensor();
    }
  }

  std::vector<Tensor> outputs() const {
    std::vector<Tensor> outputs;
    for (const LayerGraph::Source slot : graph_.results_)
      outputs.push_back(slots_[static_cast<std::size_t>(slot)]);
    return outputs;
  }

 private:
  /// The values of symbolic tensors that callables inside ops read.
  class Captured final : public Environment {
   public:
    explicit Captured(LayerGraphRun& run) : run_(run) {}
    Tensor value(const Tensor& symbolic) override {
      const auto slot = run_.graph_.slot_of_.find(symbol_result(symbolic));
      if (slot != run_.graph_.slot_of_.end()) return run_.slots_[static_cast<std::size_t>(slot->second)];
      const LayerGraph rest("model", run_.graph_.inputs_, {symbolic});
      const auto inputs = static_cast<std::ptrdiff_t>(run_.graph_.inputs_.size());
      return rest.run({run_.slots_.begin(), run_.slots_.begin() + inputs})[0];
    }

   private:
    LayerGraphRun& run_;
  };

  const Tensor& at(LayerGraph::Source slot) const { return slots_[static_cast<std::size_t>(slot)]; }

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
