#pragma once
#include <ktape/autograd/indexing.hpp>
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>

#include <optional>
#include <string>
#include <vector>

/// Functions of keras.ops that take elements out of tensors and put elements into tensors. Index tensors hold integers
/// of any dtype (TypeError otherwise); unless a comment says otherwise, negative indices count from the end and an
/// index out of range is a ValueError that names the index. Differentiable to any order with respect to the elements.
///
///     ops::take(x, K::constant({0, -1}, {.dtype = "int32"}), 1);
///     ops::slice_update(x, {1, 2}, ops::zeros({2, 3}));
///     auto [values, indices] = ops::top_k(x, 3);
///     ops::take_along_axis(x, ops::argsort(x, 1), 1), ops::get_item(x, {All, 0}), ops::slice(x, {0, 1}, {2, 2});
///     ops::scatter(places, v, {5}), ops::scatter_update(v, places, w, "add"), ops::in_top_k(n, x, 3), ops::one_hot(n, 4);
///     ops::multi_hot(n, 4), ops::nonzero(x), ops::unravel_index(n, {3, 4});
namespace ktape::ops {

/// Returns the slices of x at the indices along an axis, in the shape x.shape[:axis] + indices.shape +
/// x.shape[axis + 1:]; without an axis, the elements of the flattened x.
Tensor take(const Tensor& x, const Tensor& indices, std::optional<int> axis = {});
/// Returns for each index the element of x at that index along the axis, and at the position of the index along
/// the other axes, which broadcast. Without an axis, both tensors are flattened.
Tensor take_along_axis(const Tensor& x, const Tensor& indices, std::optional<int> axis = {});
/// Returns x[key], as `x[{...}]` does.
Tensor get_item(const Tensor& x, const Indices& key);

/// Returns the block of the inputs that begins at `start_indices` and has the shape; an extent of -1 reaches to the end.
Tensor slice(const Tensor& inputs, const Shape& start_indices, const Shape& shape);
/// Returns the inputs with the updates in the block that begins at `start_indices`. Throws ValueError for a block that
/// leaves the inputs, TypeError for two dtypes.
Tensor slice_update(const Tensor& inputs, const Shape& start_indices, const Tensor& updates);

/// Returns zeros of the shape, to which the values are added at the multi-indices along the last axis of `indices`.
Tensor scatter(const Tensor& indices, const Tensor& values, const Shape& shape);
/// Returns the inputs, changed by the updates at the multi-indices along the last axis of `indices`: replaced (the last
/// update of an element wins), or combined with the old value by the reduction "add", "max", "min" or "mul". Throws
/// ValueError for another reduction and for updates whose shape is not indices.shape[:-1] + inputs.shape[k:].
Tensor scatter_update(const Tensor& inputs, const Tensor& indices, const Tensor& updates,
                      const std::optional<std::string>& reduction = {});

struct TopK {
  Tensor values, indices;
};

/// Returns the k largest elements along the last axis, largest first, and their int32 indices; the lower index first
/// on ties.
TopK top_k(const Tensor& x, std::int64_t k, bool sorted = true);
/// Returns whether the prediction for each target is among the k largest of its row; targets are (samples,),
/// predictions (samples, classes).
Tensor in_top_k(const Tensor& targets, const Tensor& predictions, std::int64_t k);

struct OneHotOptions {
  std::optional<DType> dtype = {};  ///< floatx() when not given
};

/// Returns 1 at the index along a new axis of extent num_classes, 0 elsewhere; an index out of range gives zeros.
Tensor one_hot(const Tensor& x, std::int64_t num_classes, int axis = -1, const OneHotOptions& options = {});
/// Returns the maximum of `one_hot` over axis 1 of the encoding, or axis 0 for a vector: 1 for each class among the
/// indices.
Tensor multi_hot(const Tensor& inputs, std::int64_t num_classes, int axis = -1,
                 const OneHotOptions& options = {});

/// Returns one int32 vector for each axis of x: the indices of the elements that are not 0, in row-major order. Graphs
/// do not know the length.
std::vector<Tensor> nonzero(const Tensor& x);
/// Returns `nonzero(condition)`.
std::vector<Tensor> where(const Tensor& condition);
/// Returns the index along each axis of a tensor of the shape for positions in the flattened tensor.
std::vector<Tensor> unravel_index(const Tensor& indices, const Shape& shape);

}  // namespace ktape::ops
