#pragma once
#include <ktape/ops/inspection.hpp>

/// Internal: sources only.
namespace ktape::backend {

/// Returns x if x has the dtype, otherwise x converted to the dtype. (`cast` always returns a new tensor.)
inline Tensor as_dtype(const Tensor& x, DType dtype) {
  return x.defined() && x.dtype() == dtype ? x : cast(x, dtype);
}

}  // namespace ktape::backend
