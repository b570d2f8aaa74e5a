#pragma once
#include <ktape/ops/inspection.hpp>

/// Internal: sources only.
namespace ktape::backend {

/// Returns x itself if x has the dtype, else its cast: for operands of ops, since `cast` always returns a new
/// tensor.
inline Tensor as_dtype(const Tensor& x, DType dtype) {
  return x.defined() && x.dtype() == dtype ? x : cast(x, dtype);
}

}  // namespace ktape::backend
