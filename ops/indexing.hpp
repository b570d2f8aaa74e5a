#pragma once
#include <ktape/autograd/indexing.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/variable.hpp>

#include <string>

/// Ops that take elements out of tensors and put elements into tensors, by position, by index tensors and by
/// order. Tensors may have any dtype; the ops are differentiable to any order with respect to the elements.
/// Indices are literals of whole numbers or tensors of any integer dtype (TypeError otherwise).
namespace ktape::backend {

/// Returns a part of x by NumPy's basic indexing, also written `x[{...}]`: each entry of `indices` selects
/// from one axis, see Indices. The result is a new tensor. Throws ValueError for more entries than axes, a
/// position out of range, a second Ellipsis and a step of 0. `x[i]` with a tensor i is `gather(x, i)`, or
/// `boolean_mask(x, i)` for bools. A part of a variable can be assigned, see `assign_part` in parts.hpp.
///
///     Tensor x = K::constant({{1., 2., 3.}, {4., 5., 6.}});
///     std::cout << x[0] << " " << x[{All, 1}] << " " << x[{1, Slice(0, 2)}];
Tensor index(const Tensor& x, const Indices& indices);

/// Returns the slices of `reference` along axis 0 at the indices, which are a literal, `gather(x, {0, 2})`,
/// or an integer tensor. The result has shape (indices..., reference.shape[1:]). Throws ValueError, naming
/// the index, for an index out of range; negative indices are out of range. The gradients of repeated indices
/// add up. `K.gather`.
///
///     std::cout << K::gather(K::constant({{1., 2.}, {3., 4.}}), {1, 0});
Tensor gather(const Tensor& reference, const ArrayLike& indices);

/// Returns a float32 tensor with a new last axis of extent num_classes: 1 at the index, 0 elsewhere. An index
/// out of range gives zeros. Throws ValueError for a negative num_classes. `K.one_hot`.
///
///     std::cout << K::one_hot({0, 2}, 3);
Tensor one_hot(const ArrayLike& indices, std::int64_t num_classes);

/// Returns the slices of `params` at multi-indices of length k, which lie along the last axis of `indices`:
/// indices of shape (..., k) give (..., params.shape[k:]). Throws the errors of `gather`. `tf.gather_nd`.
///
///     std::cout << K::gather_nd(K::constant({{1., 2.}, {3., 4.}}),
///                               K::constant({{1, 0}}, {.dtype = "int32"}));
Tensor gather_nd(const Tensor& params, const Tensor& indices);
/// Returns zeros of the shape, to which the updates are added at the multi-indices: the inverse of
/// `gather_nd`. Throws ValueError for an index out of range and for updates whose shape is not
/// indices.shape[:-1] + shape[k:], TypeError for bool. `tf.scatter_nd`.
///
///     std::cout << K::scatter_nd(K::constant({{1}, {3}}, {.dtype = "int32"}),
///                                K::constant({5., 7.}), {4});
Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Shape& shape);

struct TopK {
  Tensor values, indices;
};

/// Returns the k largest elements along the last axis, largest first, and their int32 indices. Equal elements
/// are returned in order of their indices. NaN counts as the largest. Throws ValueError unless 0 <= k <= the
/// extent. `tf.math.top_k`.
///
///     auto [values, indices] = K::top_k(K::constant({3., 9., 5.}), 2);
///     std::cout << values << " " << indices;
TopK top_k(const Tensor& x, std::int64_t k = 1);

struct SortOptions {
  std::string direction = "ASCENDING";  ///< "ASCENDING" or "DESCENDING"
};

/// Returns x sorted along an axis, or the int32 indices of the elements in sorted order. Equal elements keep
/// their order; NaN counts as the largest. Throws ValueError for an unknown direction. `tf.sort`,
/// `tf.argsort`.
///
///     Tensor x = K::constant({3., 1., 2.});
///     std::cout << K::sort(x) << " " << K::argsort(x) << "\n"
///               << K::sort(x, -1, {.direction = "DESCENDING"});
Tensor sort(const Tensor& values, int axis = -1, const SortOptions& options = {});
Tensor argsort(const Tensor& values, int axis = -1, const SortOptions& options = {});

}  // namespace ktape::backend

namespace ktape {

/// Implements `x[...]`: `backend::index`, `backend::gather` for a tensor of integers, `backend::boolean_mask` for
/// bools.
///
///     Tensor x = K::constant({{1., 2., 3.}, {4., 5., 6.}});
///     std::cout << ktape::subscript(x, {All, 1}) << "\n"
///               << ktape::subscript(x, K::constant({1, 0}, {.dtype = "int32"}));
Tensor subscript(const Tensor& x, const Indices& indices);
Tensor subscript(const Tensor& x, const Tensor& indices);

}  // namespace ktape
