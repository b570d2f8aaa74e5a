#pragma once
#include <ktape/autograd/tensor.hpp>

namespace ktape {

/// What an op notes of its result: `op(input)`, along the axis where it has one. For ops that come after, and
/// that are more exact from the input than from the rounded result.
struct ComputedFrom {
  const char* op = "";
  Tensor input = {};
  int axis = -1;
};

/// What a tensor carries along beside its value.
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
