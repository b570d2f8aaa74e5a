#include <ktape/autograd/base/interrupt.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/compiled/plan.hpp>
#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/ops/fusion/fusion_scope.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace ktape::nn {
namespace K = backend;

bool fits_network(const Tensor& x) {
  return x.defined() && !is_symbolic(x) && x.ndim() >= 2 && x.ndim() <= 5 && x.size() > 0 &&
         K::network_numbers(x.dtype()) && !mask_of(x).defined();
}

namespace {

std::size_t at(int slot) { return static_cast<std::size_t>(slot); }

void run_item(const PlanItem& item, const std::vector<PlannedCall>& calls, std::vector<Tensor>& slots) {
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

/// Builds a layer on tensors of the shapes of nodes. Returns whether the layer is built: a layer that refuses
/// the shapes is called, and the call reports the error.
bool build(const Layer& layer, const K::NetworkBuilder& builder, const std::vector<int>& nodes) {
  if (layer.built()) return true;
  std::vector<Shape> shapes;
  for (const int node : nodes) shapes.emplace_back(builder.shape(node));
  try {
    layer.build(shapes);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    return false;
  }
  return layer.built();
}

class PlanMaker {
 public:
  PlanMaker(const std::vector<PlannedCall>& calls, std::vector<Tensor>& slots, std::size_t inputs,
            const std::vector<int>& outputs)
      : calls_(calls), slots_(slots), made_(slots.size()), readers_(slots.size()), done_(calls.size()) {
    std::fill_n(made_.begin(), inputs, true);
    for (const int slot : outputs) ++readers_[at(slot)];
    for (const PlannedCall& call : calls)
      for (const int slot : call.inputs)
        if (slot >= 0) ++readers_[at(slot)];
    for (std::size_t i = 0; i < calls.size(); ++i)
      for (const int slot : calls[i].read)
        if (slot >= 0 && readers_[at(slot)] > 0 && !reads(calls[i], slot)) extra_[i].push_back(slot);
    for (const auto& [call, slots] : extra_)
      for (const int slot : slots) ++readers_[at(slot)];
    leave_out_unread();
  }

  Plan make() {
    while (std::find(done_.begin(), done_.end(), false) != done_.end()) {
      const std::size_t before = plan_.items.size();
      add_network();
      add_calls();
      if (plan_.items.size() == before) fail("[compile] a call of the model lacks an input");
    }
    return std::move(plan_);
  }

 private:
  /// Returns the function that adds a call to a network; null for a call that no network computes.
  static PlanOfOp plan_of(const PlannedCall& call) {
    if (!call.layer.defined()) return call.plan;
    const auto numbers = K::network_numbers(call.layer.compute_dtype());
    const bool fits = call.plain && numbers &&
                      std::all_of(call.inputs.begin(), call.inputs.end(), [](int slot) { return slot >= 0; });
    const auto* const layer = fits ? dynamic_cast<const Planned*>(&call.layer.impl()) : nullptr;
    if (!layer) return nullptr;
    return [layer, handle = call.layer, numbers](K::NetworkBuilder& builder,
                                                 std::vector<int> nodes) -> std::optional<int> {
      for (int& node : nodes) node = builder.cast(node, *numbers);
      if (!build(handle, builder, nodes)) return {};
      return layer->plan(builder, nodes);
    };
  }

  static bool reads(const PlannedCall& call, int slot) {
    return std::find(call.inputs.begin(), call.inputs.end(), slot) != call.inputs.end();
  }
  /// Returns the slots that a call reads as such, and other calls read, too.
  std::vector<int> extra(std::size_t call) const {
    const auto found = extra_.find(call);
    return found == extra_.end() ? std::vector<int>() : found->second;
  }

  /// Marks the calls as done whose results nothing reads: another op does their work.
  void leave_out_unread() {
    for (std::size_t i = calls_.size(); i-- > 0;) {
      const PlannedCall& call = calls_[i];
      bool unread = call.pure;
      for (int slot = call.first_result; slot < call.first_result + call.results; ++slot)
        unread = unread && readers_[at(slot)] == 0;
      if (!unread) continue;
      done_[i] = true;
      for (int slot = call.first_result; slot < call.first_result + call.results; ++slot)
        unread_.emplace(slot, i);
      for (const int slot : call.inputs)
        if (slot >= 0) --readers_[at(slot)];
      for (const int slot : extra(i)) --readers_[at(slot)];
    }
  }
  /// Returns the calls of a network with those that were left out and which they need if the network refuses its inputs.
  std::vector<std::size_t> with_unread(const std::vector<std::size_t>& calls) const {
    std::set<std::size_t> all(calls.begin(), calls.end());
    std::vector<std::size_t> open = calls;
    while (!open.empty()) {
      const PlannedCall& call = calls_[open.back()];
      open.pop_back();
      for (const std::vector<int>* const slots : {&call.read, &call.inputs})
        for (const int slot : *slots)
          if (const auto made = unread_.find(slot); made != unread_.end() && all.insert(made->second).second)
            open.push_back(made->second);
    }
    return {all.begin(), all.end()};
  }

  /// The nodes of a tensor: in its own order of axes, and with the channels, axis 1, as the last axis. None where it is below 0.
  struct Nodes {
    int own = -1, channels_last = -1;
  };
  /// The network under construction: the nodes of each slot that the network reads or makes.
  struct Draft {
    K::NetworkBuilder builder;
    std::map<int, Nodes> nodes;
    std::vector<int> inputs;
    std::vector<std::size_t> calls;

    int own(int slot) {
      Nodes& made = nodes.at(slot);
      if (made.own < 0) made.own = permuted(made.channels_last, false);
      return made.own;
    }
    int channels_last(int slot) {
      Nodes& made = nodes.at(slot);
      if (made.channels_last < 0)
        made.channels_last = builder.rank(made.own) < 3 ? made.own : permuted(made.own, true);
      return made.channels_last;
    }

   private:
    /// Moves the channels to the end, or back to axis 1. Channels of one position need not move.
    int permuted(int x, bool to_end) {
      const Shape from(builder.shape(x));
      const int rank = from.rank();
      std::vector<int> axes{0};
      if (!to_end) axes.push_back(rank - 1);
      for (int axis = to_end ? 2 : 1; axis < (to_end ? rank : rank - 1); ++axis) axes.push_back(axis);
      if (to_end) axes.push_back(1);
      Shape made;
      for (const int axis : axes) made.push_back(from[axis]);
      const std::int64_t channels = from[to_end ? 1 : -1];
      const bool one = from.count() == from[0] * channels;
      return *(one ? builder.reshape(x, made) : builder.permutation(x, axes));
    }
  };

  bool add_to(Draft& draft, std::size_t index) const {
    const PlannedCall& call = calls_[index];
    const PlanOfOp plan = plan_of(call);
    if (!plan) return false;
    const auto readable = [&](int slot) {
      return draft.nodes.contains(slot) || (made_[at(slot)] && fits_network(slots_[at(slot)]));
    };
    const std::vector<int> more = extra(index);  // for the call itself, if the network refuses its inputs
    if (!std::all_of(call.inputs.begin(), call.inputs.end(), readable) ||
        !std::all_of(more.begin(), more.end(), [&](int slot) { return made_[at(slot)]; }))
      return false;
    for (const int slot : call.inputs) {
      if (draft.nodes.contains(slot)) continue;
      draft.nodes[slot].own =
          draft.builder.input(slots_[at(slot)].shape(), *K::network_numbers(slots_[at(slot)].dtype()));
      draft.inputs.push_back(slot);
    }
    AxisOrder order = call.order;
    if (order == AxisOrder::ToLast) {  // of three axes, the op moves either way
      const Nodes& only = draft.nodes.at(call.inputs[0]);
      if (only.channels_last < 0 && draft.builder.rank(only.own) == 3) order = AxisOrder::FromLast;
    }
    const bool moved = order == AxisOrder::ChannelsLast || order == AxisOrder::ToLast ||
                       (order == AxisOrder::Any && is_moved(draft, call));
    std::vector<int> nodes;
    for (const int slot : call.inputs) nodes.push_back(moved ? draft.channels_last(slot) : draft.own(slot));
    const std::optional<int> made = plan(draft.builder, nodes);
    if (!made) return false;
    const bool stays = order == AxisOrder::FromLast ||
                       (moved && order != AxisOrder::ToLast && draft.builder.rank(*made) > 2);
    draft.nodes[call.first_result] = stays ? Nodes{-1, *made} : Nodes{*made, -1};
    draft.calls.push_back(index);
    return true;
  }
  /// Returns whether an input has its channels last, and all have one rank.
  static bool is_moved(const Draft& draft, const PlannedCall& call) {
    const auto node = [&](int slot) { return draft.nodes.at(slot); };
    const auto rank = [&](int slot) {
      return draft.builder.rank(node(slot).own < 0 ? node(slot).channels_last : node(slot).own);
    };
    bool any = false;
    for (const int slot : call.inputs) {
      if (rank(slot) != rank(call.inputs[0])) return false;
      any = any || node(slot).own < 0;
    }
    return any;
  }

  /// Adds and runs a network of calls that can be computed now; does nothing where there is no network.
  void add_network() {
    for (std::size_t most = calls_.size(); most > 0;) most = add_network(most);
  }
  /// Adds a network of at most that many calls, and returns 0. If a node of the network is refused, returns the
  /// number of calls for the next attempt.
  std::size_t add_network(std::size_t most) {
    Draft draft;
    for (std::size_t i = 0; i < calls_.size() && draft.calls.size() < most; ++i)
      if (!done_[i] && !refused_.contains(i)) add_to(draft, i);
    if (draft.calls.empty()) return 0;
    PlanItem item{.calls = draft.calls, .inputs = draft.inputs};
    draft.builder.set_outputs(find_outputs(draft, item));
    if (draft.builder.multiplies()) item.network = K::CompiledNetwork::make(draft.builder);
    if (!item.network) {
      if (draft.builder.multiplies() && draft.calls.size() > 1) return draft.calls.size() / 2;
      refused_.insert(draft.calls.begin(), draft.calls.end());
      return 0;
    }
    plan_.has_networks = true;
    finish(std::move(item));
    return 0;
  }

  /// Finds the slots that others read, and returns their nodes.
  std::vector<int> find_outputs(Draft& draft, PlanItem& item) const {
    std::map<int, int> inner;  // the number of readers inside of the network
    for (const std::size_t i : draft.calls)
      for (const int slot : calls_[i].inputs) ++inner[slot];
    std::vector<int> nodes;
    for (const std::size_t i : draft.calls) {
      const int slot = calls_[i].first_result;
      if (readers_[at(slot)] == inner[slot]) continue;
      const int node = draft.own(slot);
      const auto same = std::find_if(draft.inputs.begin(), draft.inputs.end(),
                                     [&](int input) { return draft.own(input) == node; });
      const auto before = std::find(nodes.begin(), nodes.end(), node);
      if (same != draft.inputs.end()) item.copies.emplace_back(slot, *same);
      else if (before != nodes.end())
        item.copies.emplace_back(slot, item.outputs[static_cast<std::size_t>(before - nodes.begin())]);
      else nodes.push_back(node), item.outputs.push_back(slot);
    }
    return nodes;
  }

  /// Adds and runs the calls whose inputs are made and which no network computes.
  void add_calls() {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const auto made = [&](int slot) { return slot < 0 || made_[at(slot)]; };
      const std::vector<int> more = extra(i);
      if (done_[i] || !std::all_of(calls_[i].inputs.begin(), calls_[i].inputs.end(), made) ||
          !std::all_of(more.begin(), more.end(), made))
        continue;
      if (refused_.contains(i) || !plannable(i)) finish({.calls = {i}});
    }
  }
  /// Returns whether a network alone can compute the call, whose inputs are made.
  bool plannable(std::size_t i) const {
    Draft alone;
    return add_to(alone, i);
  }

  /// Runs an item, and empties the slots that no other item reads.
  void finish(PlanItem item) {
    std::set<int> used;
    for (const std::size_t call : item.calls) {
      done_[call] = true;
      for (int slot = calls_[call].first_result; slot < calls_[call].first_result + calls_[call].results;
           ++slot)
        made_[at(slot)] = true, used.insert(slot);
      for (const int slot : calls_[call].inputs)
        if (slot >= 0) --readers_[at(slot)], used.insert(slot);
      for (const int slot : extra(call)) --readers_[at(slot)], used.insert(slot);
    }
    if (!unread_.empty()) item.calls = with_unread(item.calls);
    for (const std::size_t call : item.calls)
      for (const int slot : calls_[call].read)
        if (unread_.contains(slot)) used.insert(slot);
    std::copy_if(used.begin(), used.end(), std::back_inserter(item.last_uses),
                 [&](int slot) { return readers_[at(slot)] == 0; });
    run_item(item, calls_, slots_);
    plan_.items.push_back(std::move(item));
  }

  const std::vector<PlannedCall>& calls_;
  std::vector<Tensor>& slots_;
  std::vector<bool> made_;    ///< of each slot: whether an item has made the tensor
  std::vector<int> readers_;  ///< of each slot: the calls that are not done, and the model's outputs
  std::vector<bool> done_;    ///< of each call
  std::map<std::size_t, std::vector<int>>
      extra_;                          ///< the slots that a call reads as such, besides its inputs
  std::map<int, std::size_t> unread_;  ///< of the slots that nothing reads: the calls that would make them
  std::set<std::size_t> refused_;      ///< the calls of which no network can be made
  Plan plan_;
};

}  // namespace

Plan make_plan(const std::vector<PlannedCall>& calls, std::vector<Tensor>& slots, std::size_t inputs,
               const std::vector<int>& outputs) {
  return PlanMaker(calls, slots, inputs, outputs).make();
}

void run_plan(const Plan& plan, const std::vector<PlannedCall>& calls, std::vector<Tensor>& slots) {
  FusionScope fused;  // of the ops that no network computes
  for (const PlanItem& item : plan.items) run_item(item, calls, slots);
  fused.finish();
}

}  // namespace ktape::nn
