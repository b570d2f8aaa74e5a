#pragma once
#include <ktape/autograd/symbol.hpp>
#include <ktape/ops/sparse.hpp>

#include <optional>

/// Symbolic sparse tensors. A symbolic sparse tensor is a symbolic tensor of the dense shape whose symbol has
/// three operands: coordinates, values and dense shape. Sparse ops read these operands; for any other op the
/// value is the dense tensor.
namespace ktape::backend {

struct SparseParts {
  Tensor indices, values, dense_shape;
};

/// Returns the symbolic sparse tensor of the parts; `shape` may hold None.
Tensor sparse_from(const SparseParts& parts, const Shape& shape);
/// Returns the parts of a symbolic sparse tensor; none for any other tensor.
std::optional<SparseParts> sparse_parts(const Tensor& x);

/// Defers `dot` and `concatenate` of symbolic sparse tensors.
Tensor dot_later(const SparseParts& x, const Shape& x_shape, const Tensor& y);
Tensor concatenate_later(const std::vector<Tensor>& sparse, int axis);

/// Converts the dense shape to a tensor, and back.
Tensor as_tensor(const Shape& shape);
Shape as_shape(const Tensor& tensor);

}  // namespace ktape::backend
