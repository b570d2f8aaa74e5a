#include <ktape/autograd/companions.hpp>

#include <string_view>

namespace ktape {

void set_computed_from(const Tensor& out, ComputedFrom from) {
  out.impl().companions = std::make_unique<Companions>(Companions{.computed_from = std::move(from)});
}

const ComputedFrom* computed_from(const Tensor& x, const char* op) {
  const Companions* companions = x.impl().companions.get();
  const bool known = companions && companions->computed_from.op == std::string_view(op);
  return known ? &companions->computed_from : nullptr;
}

}  // namespace ktape
