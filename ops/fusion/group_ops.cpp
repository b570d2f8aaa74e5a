#include <ktape/ops/fusion/element_ops.hpp>

namespace ktape::fusion {
namespace {

bool read_outside(const ElementOps& list, const ElementOp& op) {
  return list.values[static_cast<std::size_t>(op.result)].storage->shared();
}

}  // namespace

std::vector<bool> ops_in_use(const ElementOps& list) {
  std::vector<bool> value_used(list.values.size()), used(list.ops.size());
  for (std::size_t i = list.ops.size(); i-- > 0;) {
    const ElementOp& op = list.ops[i];
    used[i] = value_used[static_cast<std::size_t>(op.result)] || read_outside(list, op);
    if (!used[i]) continue;
    for (const ElementOperand& x : op.x)
      if (x.value >= 0) value_used[static_cast<std::size_t>(x.value)] = true;
  }
  return used;
}

std::vector<ElementGroup> group_ops(const ElementOps& list, const std::vector<bool>& used) {
  std::vector<ElementGroup> groups;
  std::vector<std::size_t> group_of(list.ops.size());
  for (std::size_t i = 0; i < list.ops.size(); ++i) {
    if (!used[i]) continue;
    const ElementOp& op = list.ops[i];
    std::size_t first = 0;  // the first group that may hold the op
    for (const ElementOperand& x : op.x) {
      const int maker = x.value >= 0 ? list.values[static_cast<std::size_t>(x.value)].made_by : -1;
      if (maker < 0) continue;
      const bool in_chain = x.broadcast < 0 && list.ops[static_cast<std::size_t>(maker)].size == op.size;
      first = std::max(first, group_of[static_cast<std::size_t>(maker)] + (in_chain ? 0 : 1));
    }
    std::size_t group = groups.size();
    while (group > first && list.ops[static_cast<std::size_t>(groups[group - 1][0])].size != op.size) --group;
    group = group > first ? group - 1 : groups.size();
    if (group == groups.size()) groups.emplace_back();
    groups[group].push_back(static_cast<int>(i));
    group_of[i] = group;
  }
  return groups;
}

}  // namespace ktape::fusion
