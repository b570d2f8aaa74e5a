#pragma once
#include <ktape/autograd/tensor.hpp>

#include <vector>

/// Rows of a tensor that are picked, added up or reduced by number, differentiable to any order. Row numbers are
/// int64 tensors of rank 1 whose entries were checked. Internal: sources only.
namespace ktape::op_helpers {

/// A tensor seen as [outer, axis, inner]; a row has `inner` elements.
struct RowLayout {
  std::int64_t outer = 1, axis = 1, inner = 1;
};

/// Returns the rows of x with the given numbers for each position outside of the axis, in the shape.
Tensor pick_rows(const char* op, const Tensor& x, const Tensor& rows, const RowLayout& layout,
                 const Shape& shape);
/// Returns zeros of the layout and shape, to whose rows the rows of x are added: the inverse of `pick_rows`. bool has
/// no sum.
Tensor add_rows(const char* op, const Tensor& x, const Tensor& rows, const RowLayout& layout,
                const Shape& shape);

/// Returns int64 indices of rank 1, with negative indices counted from the end. Throws TypeError unless `indices`
/// holds integers, ValueError, naming the index, for an index outside [-n, n).
Tensor checked_indices(const char* op, const Tensor& indices, std::int64_t n);

/// Returns a vector as an int64 tensor of rank 1.
Tensor int64_tensor(const std::vector<std::int64_t>& numbers);
/// Returns the elements of an integer tensor.
std::vector<std::int64_t> int64_vector(const Tensor& integers);

enum class SegmentOp { Sum, Max, Min, Prod };

/// Reduces the rows of `data`, (n, ...), that have one segment number. Negative numbers and numbers from `segments` on
/// are ignored. A segment without rows gives 0, -inf (the lowest integer), inf (the largest integer) or 1.
Tensor reduce_segments(const char* op, SegmentOp kind, const Tensor& data, const Tensor& ids,
                       std::int64_t segments);

/// Returns x with an axis moved to another position.
Tensor axis_moved(const Tensor& x, int from, int to);

}  // namespace ktape::op_helpers
