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
///
///     std::cout << ops::take(K::constant({10., 20., 30.}),
///                            K::constant({0, -1}, {.dtype = "int32"}), 0);
Tensor take(const Tensor& x, const Tensor& indices, std::optional<int> axis = {});
/// Returns for each index the element of x at that index along the axis, and at the position of the index along
/// the other axes, which broadcast. Without an axis, both tensors are flattened.
///
///     Tensor x = K::constant({{3., 1.}, {2., 9.}});
///     std::cout << ops::take_along_axis(x, ops::argsort(x, 1), 1);
Tensor take_along_axis(const Tensor& x, const Tensor& indices, std::optional<int> axis = {});
/// Returns x[key], as `x[{...}]` does.
///
///     std::cout << ops::get_item(K::constant({{1., 2.}, {3., 4.}}), {{All, 0}});
Tensor get_item(const Tensor& x, const Indices& key);

/// Returns the block of the inputs that begins at `start_indices` and has the shape; an extent of -1 reaches to the end.
///
///     std::cout << ops::slice(K::constant({{1., 2., 3.}, {4., 5., 6.}}), {0, 1},
///                             {2, 2});
Tensor slice(const Tensor& inputs, const Shape& start_indices, const Shape& shape);
/// Returns the inputs with the updates, in their dtype, in the block that begins at `start_indices`. Throws ValueError for
/// a block that leaves the inputs.
///
///     std::cout << ops::slice_update(ops::zeros({2, 3}), {1, 1}, ops::ones({1, 2}));
Tensor slice_update(const Tensor& inputs, const Shape& start_indices, const Tensor& updates);

/// Returns zeros of the shape, to which the values are added at the multi-indices along the last axis of `indices`.
///
///     std::cout << ops::scatter(K::constant({{1}, {3}}, {.dtype = "int32"}),
///                               K::constant({5., 7.}), {4});
Tensor scatter(const Tensor& indices, const Tensor& values, const Shape& shape);
/// Returns the inputs, changed by the updates at the multi-indices along the last axis of `indices`: replaced (the last
/// update of an element wins), or combined with the old value by the reduction "add", "max", "min" or "mul". Updates are
/// converted to the dtype of the inputs. Throws ValueError for another reduction and for updates whose shape is not indices.shape[:-1] + inputs.shape[k:].
///
///     std::cout << ops::scatter_update(ops::zeros({4}),
///                                      K::constant({{1}, {3}}, {.dtype = "int32"}),
///                                      K::constant({5., 7.}));
Tensor scatter_update(const Tensor& inputs, const Tensor& indices, const Tensor& updates,
                      const std::optional<std::string>& reduction = {});

/// The largest elements of each row, and where they stand: the result of `top_k`.
///
///     ops::TopK best = ops::top_k(K::constant({3., 9., 5.}), 1);
///     ops::Histogram bins = ops::histogram(K::constant({1., 2., 2.}), 2);
///     std::cout << best.values << " " << bins.counts;
struct TopK {
  Tensor values, indices;
};

/// Returns the k largest elements along the last axis, largest first, and their int32 indices; the lower index first
/// on ties.
///
///     auto [values, indices] = ops::top_k(K::constant({3., 9., 5.}), 2);
///     std::cout << values << " " << indices;
TopK top_k(const Tensor& x, std::int64_t k, bool sorted = true);
/// Returns whether the prediction for each target is among the k largest of its row; predictions have the axes of targets,
/// then the classes.
///
///     std::cout << ops::in_top_k(K::constant({0, 1}, {.dtype = "int32"}),
///                                K::constant({{0.9, 0.1}, {0.8, 0.2}}), 1);
Tensor in_top_k(const Tensor& targets, const Tensor& predictions, std::int64_t k);

struct OneHotOptions {
  std::optional<DType> dtype = {};  ///< floatx() when not given
};

/// Returns 1 at the index along a new axis of extent num_classes, 0 elsewhere; an index out of range gives zeros. Indices
/// may be floats if they are whole (ValueError otherwise).
///
///     std::cout << ops::one_hot(K::constant({0, 2}, {.dtype = "int32"}), 3);
Tensor one_hot(const Tensor& x, std::int64_t num_classes, int axis = -1, const OneHotOptions& options = {});
/// Returns the maximum of `one_hot` over axis 1 of the encoding, or axis 0 for a vector: 1 for each class among the
/// indices.
///
///     std::cout << ops::multi_hot(K::constant({0, 2}, {.dtype = "int32"}), 4);
Tensor multi_hot(const Tensor& inputs, std::int64_t num_classes, int axis = -1,
                 const OneHotOptions& options = {});

/// Returns one int32 vector for each axis of x: the indices of the elements that are not 0, in row-major order. Graphs
/// do not know the length.
///
///     std::cout << ops::nonzero(K::constant({0., 3., 4.}))[0];
std::vector<Tensor> nonzero(const Tensor& x);
/// Returns `nonzero(condition)`.
///
///     Tensor x = K::constant({-1., 2., -3.});
///     std::cout << ops::where(x > 0, x, 0);
std::vector<Tensor> where(const Tensor& condition);
/// Returns the index along each axis of a tensor of the shape for positions in the flattened tensor.
///
///     std::cout << ops::unravel_index(K::constant({5}, {.dtype = "int32"}), {2, 3})[0];
std::vector<Tensor> unravel_index(const Tensor& indices, const Shape& shape);

}  // namespace ktape::ops
