#include <ktape/ops/fusion/element_ops.hpp>

#include <algorithm>
#include <span>

namespace ktape::fusion {
namespace {

/// The buffers of a block, of which free ones are used again.
class Buffers {
 public:
  int take() {
    if (free_.empty()) return count_++;
    const int buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  void give_back(int buffer) { free_.push_back(buffer); }
  int count() const { return count_; }

 private:
  std::vector<int> free_;
  int count_ = 0;
};

class Planner {
 public:
  Planner(const ElementOps& list, const ElementGroup& group, const std::vector<bool>& kept)
      : list_(list), kept_(kept), last_use_(list.values.size(), -1), broadcast_(list.values.size()) {
    plan_.buffer_of.assign(list.values.size(), -1);
    plan_.donor_of.assign(list.values.size(), -1);
    for (const int op : group)
      for (const ElementOperand& x : operands(op)) {
        last_use_[at(x.value)] = op;
        if (x.broadcast >= 0) broadcast_[at(x.value)] = true;
      }
    for (const int op : group) find_sources(op);
    for (const int op : group) place_result(op);
    plan_.buffers = buffers_.count();
  }

  GroupPlan take() { return std::move(plan_); }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  std::span<const ElementOperand> operands(int op) const {
    const ElementOp& o = list_.ops[at(op)];
    return {o.x.data(), at(o.loop.inputs)};
  }

  /// Gives a broadcast operand a buffer, for all blocks and steps.
  void find_sources(int op) {
    for (const ElementOperand& x : operands(op)) {
      const auto known = [&](const auto& source) { return source.first == x; };
      if (x.broadcast >= 0 && std::none_of(plan_.sources.begin(), plan_.sources.end(), known))
        plan_.sources.emplace_back(x, buffers_.take());
    }
  }

  void place_result(int op) {
    const ElementOp& o = list_.ops[at(op)];
    const bool stays = kept_[at(o.result)];
    int place = -1;
    // Buffers of operands that end here may hold the result if the dtypes are equal.
    std::vector<int> ended;
    for (const ElementOperand& x : operands(op)) {
      const int buffer = plan_.buffer_of[at(x.value)];
      if (x.broadcast >= 0 || buffer < 0 || last_use_[at(x.value)] != op) continue;
      if (std::find(ended.begin(), ended.end(), buffer) != ended.end()) continue;
      ended.push_back(buffer);
      if (!stays && place < 0 && same_dtype(x.value, o.result)) place = buffer;
    }
    if (stays) plan_.donor_of[at(o.result)] = donor(op);
    else plan_.buffer_of[at(o.result)] = place >= 0 ? place : buffers_.take();
    for (const int buffer : ended)
      if (buffer != place) buffers_.give_back(buffer);
    if (!stays && last_use_[at(o.result)] < 0) buffers_.give_back(plan_.buffer_of[at(o.result)]);
  }

  bool same_dtype(int a, int b) const { return list_.values[at(a)].dtype == list_.values[at(b)].dtype; }

  /// Returns an operand in memory that ends with the op and whose memory nothing else sees.
  int donor(int op) const {
    const int result = list_.ops[at(op)].result;
    for (const ElementOperand& x : operands(op)) {
      const ElementValue& value = list_.values[at(x.value)];
      if (value.made_by < 0 && !broadcast_[at(x.value)] && last_use_[at(x.value)] == op &&
          !kept_[at(x.value)] && same_dtype(x.value, result))
        return x.value;
    }
    return -1;
  }

  const ElementOps& list_;
  const std::vector<bool>& kept_;
  std::vector<int> last_use_;
  std::vector<bool> broadcast_;  ///< for each value whether an op reads the value broadcast
  Buffers buffers_;
  GroupPlan plan_;
};

}  // namespace

GroupPlan plan_group(const ElementOps& list, const ElementGroup& group, const std::vector<bool>& kept) {
  return Planner(list, group, kept).take();
}

}  // namespace ktape::fusion
