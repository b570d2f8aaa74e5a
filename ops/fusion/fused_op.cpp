#include <ktape/ops/fusion/fused_op.hpp>

namespace ktape::op_helpers {

void run_loop(const kernels::ElementLoop& loop, std::size_t closure_bytes, const Tensor& out,
              std::initializer_list<const Tensor*> x) {
  if (out.get()->storage->pending()) return fusion::add_op(loop, closure_bytes, out, x);
  const void* from[4] = {};
  bool broadcasts = false;
  for (std::size_t k = 0; const Tensor* const operand : x) {
    from[k++] = operand->raw();
    broadcasts |= operand->size() != out.size();
  }
  if (!broadcasts) return kernels::map_elements(loop, out.size(), out.raw(), from);
  const Tensor* const* const operands = x.begin();
  const kernels::BroadcastPlan plan(out.shape(), operands[0]->shape(), operands[1]->shape());
  kernels::map_broadcast(loop, plan, out.raw(), from[0], from[1]);
}

}  // namespace ktape::op_helpers
