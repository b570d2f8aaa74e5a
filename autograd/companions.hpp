#pragma once
#include <ktape/autograd/tensor.hpp>

namespace ktape {

/// The op and the input that made a tensor, and the axis of the op where it has one: log(softmax(x)) is
/// computed from x, which is more exact than the logarithm of a rounded result.
struct ComputedFrom {
  const char* op = "";
  Tensor input = {};
  int axis = -1;
};

/// Metadata of a tensor beside its value: a mask, and how the tensor was computed.
struct Companions {
  /// Kept without a tape, too; gone from what is detached, which hides where it comes from.
  ComputedFrom computed_from = {};
  /// Which of the time steps count, for the storeys above; undefined when all do.
  Tensor mask = {};
};

/// Notes how an op computed `out`, a new tensor.
void set_computed_from(const Tensor& out, ComputedFrom from);

/// How x was computed, if it was by this op and the op noted it; null otherwise.
const ComputedFrom* computed_from(const Tensor& x, const char* op);

}  // namespace ktape
