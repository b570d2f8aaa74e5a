#include <ktape/autograd/tensor_metadata.hpp>

#include <string_view>

namespace ktape {

void set_computed_from(const Tensor& out, ComputedFrom from) {
  out.impl().metadata = std::make_unique<TensorMetadata>(TensorMetadata{.computed_from = std::move(from)});
}

const ComputedFrom* computed_from(const Tensor& x, const char* op) {
  const TensorMetadata* metadata = x.impl().metadata.get();
  const bool known = metadata && metadata->computed_from.op == std::string_view(op);
  return known ? &metadata->computed_from : nullptr;
}

}  // namespace ktape
