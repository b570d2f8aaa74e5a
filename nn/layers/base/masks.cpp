#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/autograd/tensor_metadata.hpp>
#include <ktape/nn/layers/base/internal/own_mask.hpp>

namespace ktape::nn {

Tensor mask_of(const Tensor& x) { return x.defined() ? own_mask(x) : Tensor(); }

Tensor carrying(const Tensor& x, const Tensor& mask) {
  if (own_mask(x).get() == mask.get()) return x;
  const TensorImpl& from = x.impl();
  Tensor out(Ref<TensorImpl>::adopt(new TensorImpl(from.shape, from.size, from.dtype, from.storage)));
  TensorImpl& to = *out.get();
  to.output = from.output;
  to.node = from.node;
  to.symbol = from.symbol;
  to.metadata =
      from.metadata ? std::make_unique<TensorMetadata>(*from.metadata) : std::make_unique<TensorMetadata>();
  to.metadata->mask = mask;
  return out;
}

Tensor with_mask(const Tensor& x, const Tensor& mask) {
  expect_defined("with_mask", "x", x);
  if (!is_symbolic(x) || own_mask(x).get() == mask.get()) return carrying(x, mask);
  const OutputInfo like_x{x.shape(), x.dtype()};
  if (mask.defined()) return carrying(defer("with_mask", like_x, with_mask, x, mask), mask);
  return defer(
      "with_mask", like_x, [](const Tensor& value) { return with_mask(value, Tensor()); }, x);
}

}  // namespace ktape::nn
