#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/compiled/plan.hpp>
#include <ktape/nn/layers/base/planned.hpp>

#include <algorithm>
#include <map>

namespace ktape::nn {
namespace K = backend;

ObservedSlot observe(const Tensor& x) {
  if (!x.defined() || is_symbolic(x)) return {};
  const bool rank = x.ndim() == 2 || x.ndim() == 4;
  return {x.shape(), rank && x.size() > 0 && x.dtype() == DType::Float32 && !mask_of(x).defined()};
}

namespace {

std::size_t at(int slot) { return static_cast<std::size_t>(slot); }

class PlanMaker {
 public:
  PlanMaker(const std::vector<PlannedCall>& calls, const std::vector<ObservedSlot>& slots, std::size_t inputs,
            const std::vector<int>& outputs, std::int64_t smallest)
      : smallest_(smallest),
        calls_(calls),
        slots_(slots),
        outputs_(outputs),
        made_(slots.size()),
        done_(calls.size()) {
    std::fill_n(made_.begin(), inputs, true);
  }

  Plan make() {
    for (std::size_t left = calls_.size() + 1; left > remaining();) {
      left = remaining();
      add_network();
      add_calls();
    }
    std::fill(refused_.begin(), refused_.end(), true);  // calls that no network takes are called in any case
    add_calls();
    find_last_uses();
    return std::move(plan_);
  }

 private:
  std::size_t remaining() const {
    return static_cast<std::size_t>(std::count(done_.begin(), done_.end(), false));
  }
  bool is_output(int slot) const {
    return std::find(outputs_.begin(), outputs_.end(), slot) != outputs_.end();
  }

  const Planned* planned(const PlannedCall& call) const {
    if (!call.plain || !call.layer.defined() || !slots_[at(call.first_result)].usable) return nullptr;
    for (const int slot : call.inputs)
      if (slot < 0 || !slots_[at(slot)].usable) return nullptr;
    return dynamic_cast<const Planned*>(&call.layer.impl());
  }

  /// The network under construction: the node of each slot that the network reads or makes.
  struct Draft {
    K::NetworkBuilder builder;
    std::map<int, int> nodes;
    std::vector<int> inputs;
    std::vector<std::size_t> calls;
  };

  bool add_to(Draft& draft, std::size_t index) const {
    const PlannedCall& call = calls_[index];
    const Planned* const layer = planned(call);
    if (!layer) return false;
    for (const int slot : call.inputs)
      if (!draft.nodes.contains(slot) && !made_[at(slot)]) return false;
    std::vector<int> nodes;
    for (const int slot : call.inputs) {
      if (!draft.nodes.contains(slot)) {
        draft.nodes[slot] = draft.builder.input(slots_[at(slot)].shape);
        draft.inputs.push_back(slot);
      }
      nodes.push_back(draft.nodes[slot]);
    }
    const std::optional<int> made = layer->plan(draft.builder, nodes);
    if (!made || Shape(draft.builder.shape(*made)) != slots_[at(call.first_result)].shape) return false;
    draft.nodes[call.first_result] = *made;
    draft.calls.push_back(index);
    return true;
  }

  /// Adds a network of all calls that can be computed now; does nothing where a network does not pay.
  void add_network() {
    Draft draft;
    std::vector<bool> in(calls_.size());
    for (std::size_t i = 0; i < calls_.size(); ++i) in[i] = !done_[i] && !refused_[i] && add_to(draft, i);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const auto known = [&](int slot) { return slot < 0 || made_[at(slot)] || draft.nodes.contains(slot); };
      if (!in[i] && std::all_of(calls_[i].inputs.begin(), calls_[i].inputs.end(), known)) refused_[i] = true;
    }
    if (draft.calls.empty()) return;
    PlanItem item{.calls = draft.calls, .inputs = draft.inputs};
    std::vector<int> nodes;
    for (const std::size_t i : draft.calls) {
      const int slot = calls_[i].first_result, node = draft.nodes[slot];
      const auto reads = [&](std::size_t other) {
        const std::vector<int>& inputs = calls_[other].inputs;
        return !in[other] && std::find(inputs.begin(), inputs.end(), slot) != inputs.end();
      };
      bool read = is_output(slot);
      for (std::size_t other = 0; !read && other < calls_.size(); ++other) read = reads(other);
      if (!read) continue;
      const auto same = std::find_if(draft.inputs.begin(), draft.inputs.end(),
                                     [&](int input) { return draft.nodes[input] == node; });
      const auto before = std::find(nodes.begin(), nodes.end(), node);
      if (same != draft.inputs.end()) item.copies.emplace_back(slot, *same);
      else if (before != nodes.end())
        item.copies.emplace_back(slot, item.outputs[static_cast<std::size_t>(before - nodes.begin())]);
      else nodes.push_back(node), item.outputs.push_back(slot);
    }
    draft.builder.set_outputs(nodes);
    const bool pays = !nodes.empty() && draft.builder.products() >= smallest_;
    item.network = pays ? K::CompiledNetwork::make(draft.builder) : nullptr;
    for (const std::size_t i : draft.calls) refused_[i] = true;
    if (!item.network) return;
    plan_.has_networks = true;
    for (const std::size_t i : draft.calls) finish(i);
    plan_.items.push_back(std::move(item));
  }

  /// Adds the calls that no network computes and whose inputs are made.
  void add_calls() {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (done_[i] || (planned(calls_[i]) && !refused_[i] && plannable(i))) continue;
      const auto missing = [&](int slot) { return slot >= 0 && !made_[at(slot)]; };
      if (std::any_of(calls_[i].inputs.begin(), calls_[i].inputs.end(), missing)) continue;
      finish(i);
      plan_.items.push_back({.calls = {i}});
    }
  }
  /// Returns whether a network alone can compute the call once its inputs are made.
  bool plannable(std::size_t i) const {
    K::NetworkBuilder builder;
    std::vector<int> nodes;
    for (const int slot : calls_[i].inputs) nodes.push_back(builder.input(slots_[at(slot)].shape));
    return planned(calls_[i])->plan(builder, nodes).has_value();
  }

  void finish(std::size_t call) {
    done_[call] = true;
    for (int k = 0; k < calls_[call].results; ++k) made_[at(calls_[call].first_result + k)] = true;
  }

  void find_last_uses() {
    std::vector<bool> needed(slots_.size());
    for (const int slot : outputs_) needed[at(slot)] = true;
    for (auto item = plan_.items.rbegin(); item != plan_.items.rend(); ++item) {
      const auto use = [&](int slot) {
        if (slot < 0 || needed[at(slot)]) return;
        needed[at(slot)] = true;
        item->last_uses.push_back(slot);
      };
      for (const std::size_t call : item->calls) {
        for (int k = 0; k < calls_[call].results; ++k) use(calls_[call].first_result + k);
        for (const int slot : calls_[call].inputs) use(slot);
      }
    }
  }

  const std::int64_t smallest_;
  const std::vector<PlannedCall>& calls_;
  const std::vector<ObservedSlot>& slots_;
  const std::vector<int>& outputs_;
  std::vector<bool> made_, done_;
  std::vector<bool> refused_ = std::vector<bool>(calls_.size());
  Plan plan_;
};

}  // namespace

Plan make_plan(const std::vector<PlannedCall>& calls, const std::vector<ObservedSlot>& slots,
               std::size_t inputs, const std::vector<int>& outputs, std::int64_t smallest) {
  return PlanMaker(calls, slots, inputs, outputs, smallest).make();
}

void run_plan(const Plan& plan, const std::vector<PlannedCall>& calls, std::vector<Tensor>& slots) {
  for (const PlanItem& item : plan.items) {
    std::optional<std::vector<Tensor>> results;
    if (item.network) {
      std::vector<Tensor> inputs;
      for (const int slot : item.inputs) inputs.push_back(slots[at(slot)]);
      results = item.network->run(inputs);
    }
    if (results) {
      for (std::size_t i = 0; i < item.outputs.size(); ++i)
        slots[at(item.outputs[i])] = std::move((*results)[i]);
      for (const auto& [to, from] : item.copies) slots[at(to)] = slots[at(from)];
    } else {
      for (const std::size_t call : item.calls) calls[call].run(slots);
    }
    for (const int slot : item.last_uses) slots[at(slot)] = Tensor();
  }
}

}  // namespace ktape::nn
