#include <ktape/ops/fusion/element_ops.hpp>
#include <ktape/ops/kernels/elementwise/chain.hpp>

#include <algorithm>

namespace ktape::fusion {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// Makes the chain of a group and runs the chain.
class GroupRun {
 public:
  GroupRun(ElementOps& list, const ElementGroup& group, const std::vector<bool>& kept)
      : list_(list), plan_(plan_group(list, group, kept)) {
    for (const int op : group)
      if (kept[index(list.ops[index(op)].result)]) make_room(list.ops[index(op)]);
    chain_.size = list.ops[index(group[0])].size;
    chain_.buffers = plan_.buffers;
    for (const auto& [x, buffer] : plan_.sources) {
      const ElementValue& value = list.values[index(x.value)];
      const auto& [from, to] = list.broadcasts[index(x.broadcast)];
      chain_.sources.push_back({value.storage->data(), bytes_of(x.value), from, to, buffer});
    }
    for (const int op : group) add_step(list.ops[index(op)]);
  }

  void run() {
    kernels::run_chain(chain_);
    for (const auto& [value, lender] : made_) {
      list_.values[index(value)].storage->fill(lender);
      list_.values[index(value)].made_by = -1;
    }
  }

 private:
  int bytes_of(int value) const { return static_cast<int>(list_.values[index(value)].dtype.size()); }

  /// Finds memory for a result that stays.
  void make_room(const ElementOp& op) {
    const ElementValue& value = list_.values[index(op.result)];
    const int donor = plan_.donor_of[index(op.result)];
    if (donor >= 0) list_.values[index(donor)].storage->destroy_memo();
    made_.emplace_back(op.result,
                       donor >= 0 ? list_.values[index(donor)].storage->lender()
                                  : Storage::make(value.dtype.size() * static_cast<std::size_t>(op.size)));
  }

  kernels::ChainPlace place(const ElementOperand& x, const ElementOp& op) const {
    const int bytes = bytes_of(x.value);
    if (x.broadcast >= 0) {
      const auto source = std::find_if(plan_.sources.begin(), plan_.sources.end(),
                                       [&](const auto& known) { return known.first == x; });
      const bool repeats = list_.broadcasts[index(x.broadcast)].first.count() == 1 && op.loop.lanes > 1;
      return {nullptr, source->second, bytes, repeats};
    }
    if (const int buffer = plan_.buffer_of[index(x.value)]; buffer >= 0) return {nullptr, buffer, bytes};
    const auto made =
        std::find_if(made_.begin(), made_.end(), [&](const auto& value) { return value.first == x.value; });
    Storage& storage = made == made_.end() ? *list_.values[index(x.value)].storage : *made->second;
    return {static_cast<char*>(storage.data()), -1, bytes};
  }

  void add_step(const ElementOp& op) {
    kernels::ChainStep step{op.loop, place({op.result, -1}, op), {}};
    step.loop.f = op.closure.data();
    for (int k = 0; k < op.loop.inputs; ++k) step.x[k] = place(op.x[index(k)], op);
    chain_.steps.push_back(step);
  }

  ElementOps& list_;
  GroupPlan plan_;
  kernels::Chain chain_;
  std::vector<std::pair<int, Ref<Storage>>> made_;  ///< results that stay, with their memory
};

/// Runs the only op of a list as if the op had not waited.
void run_single(ElementOps& list) {
  ElementOp& op = list.ops[0];
  ElementValue& value = list.values[index(op.result)];
  if (!value.storage->shared()) return;
  Ref<Storage> made;
  const void* x[4] = {};
  for (int k = 0; k < op.loop.inputs; ++k) {
    const ElementValue& operand = list.values[index(op.x[index(k)].value)];
    x[k] = operand.storage->data();
    if (made || !list.broadcasts.empty() || operand.storage->shared() || operand.dtype != value.dtype)
      continue;
    operand.storage->destroy_memo();
    made = operand.storage->lender();
  }
  if (!made) made = Storage::make(value.dtype.size() * static_cast<std::size_t>(op.size));
  op.loop.f = op.closure.data();
  const auto shape_of = [&](int k) {
    const int broadcast = op.x[index(k)].broadcast;
    return broadcast >= 0 ? list.broadcasts[index(broadcast)].first : list.broadcasts[0].second;
  };
  if (list.broadcasts.empty()) kernels::map_elements(op.loop, op.size, made->data(), x);
  else
    kernels::map_broadcast(op.loop,
                           kernels::BroadcastPlan(list.broadcasts[0].second, shape_of(0), shape_of(1)),
                           made->data(), x[0], x[1]);
  value.storage->fill(made);
}

void clear(ElementOps& list) {
  list.ops.clear();
  list.values.clear();
  list.broadcasts.clear();
}

bool runs_single(const ElementOps& list) {
  return list.ops.size() == 1 && list.ops[0].loop.f &&
         (list.broadcasts.empty() || list.ops[0].loop.inputs == 2);
}

/// Returns for each value whether a tensor, or a group after `group`, reads the value.
std::vector<bool> values_kept(const ElementOps& list, const std::vector<ElementGroup>& groups,
                              std::size_t group) {
  std::vector<bool> kept;
  for (const ElementValue& value : list.values) kept.push_back(value.storage->shared());
  for (std::size_t later = group + 1; later < groups.size(); ++later)
    for (const int op : groups[later])
      for (const ElementOperand& x : list.ops[index(op)].x)
        if (x.value >= 0) kept[index(x.value)] = true;
  return kept;
}

/// Removes the ops of the first groups, which have run.
void remove_groups(ElementOps& list, const std::vector<ElementGroup>& groups, std::size_t done) {
  std::vector<bool> ran(list.ops.size());
  for (std::size_t group = 0; group < done; ++group)
    for (const int op : groups[group]) ran[index(op)] = true;
  std::vector<ElementOp> rest;
  for (std::size_t i = 0; i < list.ops.size(); ++i) {
    if (ran[i]) continue;
    ElementValue& value = list.values[index(list.ops[i].result)];
    value.made_by = static_cast<int>(rest.size());
    rest.push_back(list.ops[i]);
  }
  list.ops = std::move(rest);
}

}  // namespace

void run_ops(ElementOps& list) {
  if (runs_single(list)) {
    run_single(list);
    return clear(list);
  }
  if (list.ops.size() > 2) merge_equal_ops(list);
  const std::vector<ElementGroup> groups = group_ops(list, ops_in_use(list));
  std::size_t done = 0;
  try {
    for (; done < groups.size(); ++done) GroupRun(list, groups[done], values_kept(list, groups, done)).run();
  } catch (...) {
    remove_groups(list, groups, done);
    throw;
  }
  clear(list);
}

}  // namespace ktape::fusion
