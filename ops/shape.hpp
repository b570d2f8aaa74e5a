#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/arguments/per_axis.hpp>
#include <ktape/ops/shape_like.hpp>

#include <string>
#include <vector>

/// Ops that change the shape of a tensor, or reorder, join, repeat or cut its elements. Tensors may have any
/// dtype; the ops are differentiable to any order. Axes may be negative; an axis that x does not have is a
/// ValueError.
namespace ktape::backend {

/// Returns the elements of x, in row-major order, in another shape. At most one extent may be -1 and is
/// computed from the others. The result shares the memory of x. Throws ValueError when the sizes differ.
/// `K.reshape`.
///
///     std::cout << K::reshape(K::constant({1., 2., 3., 4.}), {2, -1});
Tensor reshape(const Tensor& x, const ShapeLike& shape);

/// Returns x with its axes reordered: axis d of the result is axis pattern[d] of x. Throws ValueError unless
/// the pattern names every axis once. `K.permute_dimensions`.
Tensor permute_dimensions(const Tensor& x, const Shape& pattern);
/// Returns x with its axes in reverse order. `K.transpose`.
///
///     Tensor x = K::zeros({2, 3, 4});
///     std::cout << K::transpose(x).shape() << " "
///               << K::permute_dimensions(x, {0, 2, 1}).shape();
Tensor transpose(const Tensor& x);

/// Joins tensors along an existing axis. Throws ValueError for an empty list and for tensors that differ in
/// rank or in another extent; TypeError for tensors that differ in dtype. `K.concatenate`.
Tensor concatenate(const TensorList& tensors, int axis = -1);
/// Joins tensors of one shape along a new axis, which becomes `axis` of the result. Throws the errors of
/// `concatenate`. `K.stack`.
///
///     Tensor x = K::stack({K::constant({1., 2.}), K::constant({3., 4.})});
///     std::cout << x << "\n" << K::unstack(x)[1];
Tensor stack(const TensorList& x, int axis = 0);

/// Repeats each row of x: (samples, dim) becomes (samples, n, dim). Throws ValueError unless x has rank 2 and
/// n is at least 0. `K.repeat`.
///
///     Tensor x = K::constant({{1., 2.}});
///     std::cout << K::repeat(x, 2) << "\n"
///               << K::repeat_elements(x, 2, 1) << "\n"
///               << K::tile(x, {1, 2});
Tensor repeat(const Tensor& x, std::int64_t n);
/// Repeats each slice of x along the axis `rep` times in succession, as `np.repeat` does.
/// `K.repeat_elements`.
Tensor repeat_elements(const Tensor& x, std::int64_t rep, int axis);
/// Repeats the whole of x n[d] times along each axis d. A single number stands for a list of one. Throws
/// ValueError unless `n` has one number, at least 0, for each axis. `K.tile`.
Tensor tile(const Tensor& x, const ShapeLike& n);

/// Returns x with a single axis (`K.flatten`), or with the axis of samples and one axis of all other elements
/// (`K.batch_flatten`, rank 1 or more). The result shares the memory of x.
///
///     Tensor x = K::zeros({2, 3, 4});
///     std::cout << K::flatten(x).shape() << " " << K::batch_flatten(x).shape();
Tensor flatten(const Tensor& x);
Tensor batch_flatten(const Tensor& x);

/// Returns x with a new axis of extent 1, which becomes `axis` of the result. The result shares the memory of
/// x. `K.expand_dims`.
///
///     Tensor x = K::zeros({3});
///     std::cout << K::expand_dims(x, 0).shape() << " "
///               << K::squeeze(K::expand_dims(x, 0), 0).shape();
Tensor expand_dims(const Tensor& x, int axis = -1);
/// Returns x without an axis of extent 1. The result shares the memory of x. Throws ValueError when the
/// extent of the axis is not 1. `K.squeeze`.
Tensor squeeze(const Tensor& x, int axis);

/// Returns x with the order of the elements reversed along the axes. `K.reverse`.
///
///     std::cout << K::reverse(K::constant({1., 2., 3.}), 0);
Tensor reverse(const Tensor& x, const Axes& axes);

/// Returns the block of x that begins at `start` and has the extents `size`; an extent of -1 reaches to the
/// end of the axis. Throws ValueError when the length of a list is not the rank of x or the block leaves x.
/// `tf.slice`.
///
///     std::cout << K::slice(K::constant({{1., 2., 3.}, {4., 5., 6.}}), {0, 1}, {2, -1});
Tensor slice(const Tensor& x, const Shape& start, const Shape& size);

/// The argument of `split`: a number of equal parts, or the sizes of the parts.
class Sections {
 public:
  Sections(std::int64_t number) : number_(number) {}
  Sections(std::initializer_list<std::int64_t> sizes) : sizes_(sizes) {}
  Sections(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)) {}
  /// Returns the sizes of the parts of an axis of this extent. Throws ValueError when the sizes do not sum to
  /// the extent.
  std::vector<std::int64_t> of(std::int64_t extent) const;

 private:
  std::int64_t number_ = 0;
  std::vector<std::int64_t> sizes_;
};

/// Splits x into parts along an axis. Throws ValueError when the sizes of the parts do not sum to the extent
/// of the axis. `tf.split`.
///
///     auto parts = K::split(K::constant({1., 2., 3., 4.}), 2);
///     std::cout << parts[0] << " " << parts[1];
std::vector<Tensor> split(const Tensor& x, const Sections& sections, int axis = 0);
/// Returns the slices of x along an axis, without that axis: the inverse of `stack`. `tf.unstack`.
std::vector<Tensor> unstack(const Tensor& x, int axis = 0);

struct PadOptions {
  std::string mode = "constant";  ///< "constant", "reflect" (without the border) or "symmetric" (with it)
  Scalar constant_values = 0;
};

/// Returns x with added elements before and after the elements of each axis. Throws ValueError unless
/// `paddings` has one pair for each axis, none negative, and a reflection is not longer than the axis.
/// `tf.pad`.
///
///     std::cout << K::pad(K::constant({1., 2.}), {{1, 2}}, {.constant_values = 9});
Tensor pad(const Tensor& x, const std::vector<PaddingPair>& paddings, const PadOptions& options = {});

}  // namespace ktape::backend
