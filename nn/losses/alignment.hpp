#pragma once
#include <ktape/autograd/shape_rules.hpp>
#include <ktape/ops/unmasked.hpp>

/// Alignment of weights and masks with the values that they belong to. Internal: sources only.
namespace ktape::nn {

/// Returns x with axes of extent 1 appended up to the given rank, so that weights of the first axes
/// broadcast.
inline Tensor with_rank(const Tensor& x, int rank) {
  if (x.ndim() >= rank) return x;
  Shape shape = x.shape();
  while (shape.rank() < rank) shape.push_back(1);
  return backend::reshape(x, shape);
}

/// Returns targets or predictions with a harmless number in place of masked samples or steps. Floats get
/// `harmless`, at which losses and their slopes are finite; integers get class 0. x stays as it is if its first axes
/// are not those of the mask.
inline Tensor unmasked_samples(const Tensor& x, const Tensor& given, double harmless) {
  if (!x.defined() || !given.defined()) return x;
  Tensor mask = given;
  while (mask.ndim() > x.ndim() && mask.shape().back() == 1) mask = backend::squeeze(mask, -1);
  bool fits = mask.ndim() <= x.ndim();
  for (int axis = 0; fits && axis < mask.ndim(); ++axis)
    fits = mask.shape()[axis] == 1 || compatible(mask.shape()[axis], x.shape()[axis]);
  if (!fits) return x;
  return op_helpers::unmasked(x, mask, x.dtype().is_floating() ? Scalar(harmless) : Scalar(0));
}

}  // namespace ktape::nn
