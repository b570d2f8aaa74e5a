#pragma once
#include <ktape/autograd/walk.hpp>

#include <vector>

namespace ktape::nn {

/// The gradient of a variable as an optimizer takes it: a tensor like the variable or, of a table of which a
/// loss looked up fewer rows (slices along axis 0) than there are, these rows.
struct RowGradient {
  Tensor value;  ///< undefined when there is none
  Tensor rows;   ///< value[i] belongs to row rows[i] (int64), each of which comes once; undefined: to row i

  bool of_rows() const { return rows.defined(); }
  /// The gradient of the whole variable, with zeros in the other rows.
  Tensor whole(const Shape& shape) const;
};

/// The gradients of a loss, as plain values. What several lookups of one row add is summed, always in the
/// same order. A variable that is looked up and used otherwise, too, has a whole gradient. `ready` hears of
/// gradients while the walk goes on, see walk.hpp.
std::vector<RowGradient> row_gradients(const Tensor& loss, const std::vector<Variable>& variables,
                                       const GradientReady& ready = {});

/// What lookups of one variable and the rest of its gradient, which may be undefined, add up to.
RowGradient sum_of(const std::vector<LookupGradient>& lookups, const Variable& variable, const Tensor& rest);

}  // namespace ktape::nn
