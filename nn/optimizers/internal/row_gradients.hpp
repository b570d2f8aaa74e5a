#pragma once
#include <ktape/autograd/graph/backward_pass.hpp>

#include <vector>

namespace ktape::nn {

/// The gradient of a variable for an optimizer: a tensor with the variable's shape or, for a table of which
/// the loss looked up some rows (slices along axis 0), the gradients of these rows.
struct RowGradient {
  Tensor value;  ///< undefined for a variable without a gradient
  Tensor rows;   ///< value[i] is of row rows[i] (int64, each row once); undefined if value is whole

  bool of_rows() const { return rows.defined(); }
  /// Returns the gradient of the whole variable, with zeros in the rows that were not looked up.
  Tensor whole(const Shape& shape) const;
};

/// Returns the gradients of a loss, not recorded on the tape. The gradients of several lookups of a row are
/// summed in a fixed order. The gradient of a variable is whole if the loss also uses the variable without a
/// lookup, or looks up as many rows as the variable has, or more. `ready` receives gradients before the
/// backward pass ends, see autograd/graph/backward_pass.hpp.
std::vector<RowGradient> row_gradients(const Tensor& loss, const std::vector<Variable>& variables,
                                       const GradientReady& ready = {});

/// Returns the sum of the gradients of a variable's lookups and the rest of its gradient, which may be
/// undefined.
RowGradient sum_of(const std::vector<LookupGradient>& lookups, const Variable& variable, const Tensor& rest);

}  // namespace ktape::nn
