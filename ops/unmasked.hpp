#pragma once
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/shape.hpp>

/// Internal: sources only.
namespace ktape::op_helpers {

/// Returns x with a harmless number in place of the elements whose mask is 0: they have no influence and no
/// gradient then, whatever they are (infinity and NaN would outlive a product with 0). The axes of the mask, of
/// any dtype, are the first axes of x. Returns x for an undefined mask.
inline Tensor unmasked(const Tensor& x, const Tensor& mask, Scalar harmless = 0) {
  if (!mask.defined()) return x;
  Tensor seen = backend::as_dtype(mask, DType::Bool);
  while (seen.ndim() < x.ndim()) seen = backend::expand_dims(seen);
  return backend::where(seen, x, harmless);
}

}  // namespace ktape::op_helpers
