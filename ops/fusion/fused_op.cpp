#include <ktape/ops/fusion/fused_op.hpp>

namespace ktape::op_helpers {

void run_loop_of_any_size(const kernels::ElementLoop& loop, const Tensor& out,
                          std::initializer_list<const Tensor*> x) {
  const void* from[4];
  bool broadcasts = false;
  for (const void** each = from; const Tensor* const operand : x) {
    *each++ = operand->raw();
    broadcasts |= operand->size() != out.size();
  }
  if (!broadcasts) return kernels::map_elements(loop, out.size(), out.raw(), from);
  const Tensor* const* const operands = x.begin();
  const kernels::BroadcastPlan plan(out.shape(), operands[0]->shape(), operands[1]->shape());
  kernels::map_broadcast(loop, plan, out.raw(), from[0], from[1]);
}

}  // namespace ktape::op_helpers
