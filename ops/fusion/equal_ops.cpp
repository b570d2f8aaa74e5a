#include <ktape/ops/fusion/element_ops.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace ktape::fusion {
namespace {

bool equal(const ElementOp& a, const ElementOp& b) {
  const kernels::ElementLoop &f = a.loop, &g = b.loop;
  return f.run == g.run && a.size == b.size && f.inputs == g.inputs && f.in_size == g.in_size &&
         f.out_size == g.out_size && f.halves == g.halves && f.results_halves == g.results_halves &&
         a.x == b.x && a.closure_bytes == b.closure_bytes &&
         std::memcmp(a.closure.data(), b.closure.data(), a.closure_bytes) == 0;
}

}  // namespace

void merge_equal_ops(ElementOps& list) {
  std::vector<int> same(list.values.size());
  std::iota(same.begin(), same.end(), 0);
  for (auto op = list.ops.begin(); op != list.ops.end(); ++op) {
    for (ElementOperand& x : op->x)
      if (x.value >= 0) x.value = same[static_cast<std::size_t>(x.value)];
    const auto before = std::find_if(list.ops.begin(), op, [&](const ElementOp& a) { return equal(a, *op); });
    if (before != op) same[static_cast<std::size_t>(op->result)] = before->result;
  }
}

}  // namespace ktape::fusion
