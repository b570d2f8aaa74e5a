#pragma once
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/settings/config.hpp>

/// Internal: sources only.
namespace ktape::nn {

/// Returns x in a dtype for losses and metrics: x itself, or x converted to floatx() if x is a floating tensor
/// of 16 bits and floatx() has more.
inline Tensor full_precision(const Tensor& x) {
  const bool narrow = x.defined() && x.dtype().is_floating() && x.dtype().size() < backend::floatx().size() &&
                      x.dtype().size() == 2;
  return narrow ? backend::as_dtype(x, backend::floatx()) : x;
}

}  // namespace ktape::nn
