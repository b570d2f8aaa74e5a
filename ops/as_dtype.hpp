#pragma once
#include <ktape/ops/inspection.hpp>

/// Internal: sources only.
namespace ktape::backend {

/// Returns x itself where it has the dtype, and its cast otherwise: for operands of ops, where `cast` would
/// return a tensor of its own.
inline Tensor as_dtype(const Tensor& x, DType dtype) {
  return x.defined() && x.dtype() == dtype ? x : cast(x, dtype);
}

}  // namespace ktape::backend
