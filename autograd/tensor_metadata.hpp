#pragma once
#include <ktape/autograd/tensor.hpp>

namespace ktape {

/// The op and the input that made a tensor, and the axis of the op if the op has an axis. With this record
/// log(softmax(x)) is computed from x, which is more exact than the logarithm of a rounded result.
struct ComputedFrom {
  const char* op = "";
  Tensor input = {};
  int axis = -1;
};

/// Metadata of a tensor: a mask, and how the tensor was computed.
struct TensorMetadata {
  /// The op that computed the tensor. Kept also without a tape; a detached tensor has none, because `detach`
  /// hides the origin of a tensor.
  ComputedFrom computed_from = {};
  /// The mask of the time steps, used by layers; undefined when all steps are valid.
  Tensor mask = {};
};

/// Records how an op computed `out`, a new tensor.
void set_computed_from(const Tensor& out, ComputedFrom from);

/// Returns how x was computed, if x is a result of this op and the op recorded the input; null otherwise.
const ComputedFrom* computed_from(const Tensor& x, const char* op);

}  // namespace ktape
