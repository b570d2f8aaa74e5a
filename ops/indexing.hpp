#pragma once
#include <ktape/autograd/indexing.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/variable.hpp>

#include <string>

/// Picking elements out of tensors and putting them back, by position, by index tensors and by order. Any
/// dtype, differentiable to any order with respect to the elements; indices are literals of whole numbers or
/// tensors of any integer dtype (TypeError otherwise).
namespace ktape::backend {

/// NumPy's basic indexing, also written `x[{...}]`: each entry picks from one axis, see Indices. The result
/// is a new tensor. Throws ValueError for more entries than axes, a position out of range, a second Ellipsis
/// and a step of 0. `x[i]` with a tensor i is `gather(x, i)`.
Tensor index(const Tensor& x, const Indices& indices);

/// The slices of the reference along axis 0 at the indices, `gather(x, {0, 2})` or integers in a tensor:
/// (indices..., reference.shape[1:]). A negative index is out of range. Throws ValueError, naming it, for an
/// index out of range. Gradients of repeated indices add up. `K.gather`.
Tensor gather(const Tensor& reference, const ArrayLike& indices);

/// 1 at each index along a new last axis of num_classes, 0 elsewhere; an index out of range gives zeros.
/// float32. Throws ValueError for a negative num_classes. `K.one_hot`.
Tensor one_hot(const ArrayLike& indices, std::int64_t num_classes);

/// The slices of params at the multi-indices that stand along the last axis of indices: (..., k) gives
/// (..., params.shape[k:]). Errors as in `gather`. `tf.gather_nd`.
Tensor gather_nd(const Tensor& params, const Tensor& indices);
/// Zeros of the shape to which the updates are added at the multi-indices: the inverse of `gather_nd`. Throws
/// ValueError for an index out of range and updates of another shape than indices.shape[:-1] + shape[k:],
/// TypeError for bool. `tf.scatter_nd`.
Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Shape& shape);

struct TopK {
  Tensor values, indices;
};

/// The k largest elements along the last axis, largest first, and their int32 indices; of equal ones the
/// first come first. NaN counts as the largest. Throws ValueError unless 0 <= k <= the extent.
/// `tf.math.top_k`.
TopK top_k(const Tensor& x, std::int64_t k = 1);

struct SortOptions {
  std::string direction = "ASCENDING";  ///< or "DESCENDING"
};

/// x in order along an axis, and the int32 indices of the elements in that order. Equal elements stay in
/// order; NaN counts as the largest. Throws ValueError for another direction. `tf.sort`, `tf.argsort`.
Tensor sort(const Tensor& values, int axis = -1, const SortOptions& options = {});
Tensor argsort(const Tensor& values, int axis = -1, const SortOptions& options = {});

}  // namespace ktape::backend

namespace ktape {

/// What `x[...]` means: `backend::index`, and `backend::gather` for a tensor of integers.
Tensor subscript(const Tensor& x, const Indices& indices);
Tensor subscript(const Tensor& x, const Tensor& indices);

}  // namespace ktape
