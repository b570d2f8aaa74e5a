#pragma once
#include <ktape/ops/shape.hpp>

/// Alignment of weights with the values that they weigh. Internal: sources only.
namespace ktape::nn {

/// Returns x with axes of extent 1 appended up to the given rank, so that weights of the first axes
/// broadcast.
inline Tensor with_rank(const Tensor& x, int rank) {
  if (x.ndim() >= rank) return x;
  Shape shape = x.shape();
  while (shape.rank() < rank) shape.push_back(1);
  return backend::reshape(x, shape);
}

}  // namespace ktape::nn
