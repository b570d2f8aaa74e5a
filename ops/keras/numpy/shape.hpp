#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/arguments/per_axis.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/shape_like.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

/// Functions of keras.ops that change shapes, and that reorder, join, split and repeat elements, of any dtype.
/// Differentiable to any order. Negative axes count from the end; an axis out of range is a ValueError. Tensors that
/// are joined are converted to their common dtype.
///
///     ops::moveaxis(x, 0, -1), ops::roll(x, {1, -2}, {0, 1}), ops::concatenate({a, b}, 1), ops::rot90(image);
///     ops::shape(x), ops::ndim(x), ops::size(x), ops::reshape(x, {-1, 4}), ops::ravel(x), ops::expand_dims(x, {0, 2});
///     ops::squeeze(x), ops::transpose(x, Shape{1, 0}), ops::swapaxes(x, 0, 1), ops::broadcast_to(x, {5, 2, 3});
///     ops::flip(x, 1), ops::fliplr(x), ops::flipud(x), ops::stack({a, b}), ops::append(a, b, 0), ops::hstack({a, b});
///     ops::vstack({a, b}), ops::dstack({a, b}), ops::column_stack({v, w}), ops::split(x, 2), ops::unstack(x);
///     ops::array_split(x, 3), ops::hsplit(x, {1}), ops::vsplit(x, 2), ops::dsplit(image, 2), ops::repeat(x, 2, 1);
///     ops::tile(x, {2, 1}), ops::pad(x, {{1, 1}, {0, 2}}), ops::diag(v), ops::diagflat(x), ops::diagonal(x, 1);
///     ops::trace(x), ops::tril(x), ops::triu(x, 1), ops::rearrange(x, "(a b) c -> a (b c)", {{"b", 2}});
///     ops::copy(x), ops::view(x, "int32");
namespace ktape::ops {

/// Functions of K that keras.ops has, too.
///
///     Tensor x = ops::zeros({2, 3});
///     std::cout << ops::shape(x) << " " << ops::ndim(x) << " " << ops::unstack(x).size();
using backend::ndim, backend::shape, backend::unstack;

/// Returns x broadcast to a shape, in which `ops::shape(x)[0]` may stand. Throws ValueError for a shape that does not fit.
///
///     std::cout << ops::broadcast_to(K::constant({1., 2.}), {2, 2});
Tensor broadcast_to(const Tensor& x, const backend::ShapeLike& shape);

/// Returns the number of elements of x, int32.
///
///     Tensor x = ops::zeros({2, 3});
///     std::cout << ops::shape(x) << " " << ops::ndim(x) << " " << ops::size(x);
Tensor size(const Tensor& x);
/// Returns x in another shape; at most one extent may be -1.
///
///     std::cout << ops::reshape(ops::arange(0, 6), {2, -1});
Tensor reshape(const Tensor& x, const backend::ShapeLike& newshape);
/// Returns x as a vector.
///
///     std::cout << ops::ravel(K::constant({{1., 2.}, {3., 4.}}));
Tensor ravel(const Tensor& x);
/// Returns x with new axes of extent 1 at the given positions of the result.
///
///     Tensor x = ops::zeros({3});
///     std::cout << ops::expand_dims(x, 0).shape() << " "
///               << ops::squeeze(ops::expand_dims(x, 0), 0).shape();
Tensor expand_dims(const Tensor& x, const Axes& axis);
/// Returns x without the given axes of extent 1 (ValueError for another extent); without axes, without all of them.
Tensor squeeze(const Tensor& x, const Axes& axis = {});
/// Returns x with its axes in another order; by default in reverse order.
///
///     std::cout << ops::transpose(K::constant({{1., 2., 3.}, {4., 5., 6.}}));
Tensor transpose(const Tensor& x, const OptionalShape& axes = {});
/// Returns x with axes moved to other positions; the other axes keep their order.
///
///     std::cout << ops::moveaxis(ops::zeros({2, 3, 4}), 0, -1).shape() << "\n";
///     std::cout << ops::swapaxes(ops::zeros({2, 3, 4}), 0, 2).shape();
Tensor moveaxis(const Tensor& x, const Axes& source, const Axes& destination);
Tensor swapaxes(const Tensor& x, int axis1, int axis2);

/// Returns x with the elements in reverse order along the axes (by default all), along axis 1, or along axis 0.
///
///     std::cout << ops::flip(K::constant({1., 2., 3.}), 0) << "\n";
///     Tensor x = K::constant({{1., 2.}, {3., 4.}});
///     std::cout << ops::fliplr(x) << "\n" << ops::flipud(x);
Tensor flip(const Tensor& x, const Axes& axis = {});
Tensor fliplr(const Tensor& x);
Tensor flipud(const Tensor& x);
/// Returns x with the elements moved by the shift along the axis, those at the end to the begin; one shift serves all
/// axes, and several shifts along one axis add up. Without axes, the elements of the flattened x move.
///
///     std::cout << ops::roll(K::constant({1., 2., 3., 4.}), 1, 0);
Tensor roll(const Tensor& x, const backend::PerAxis<std::int64_t>& shift, const Axes& axis = {});
/// Returns x turned k times by 90 degrees from the first of two axes towards the second.
///
///     std::cout << ops::rot90(K::constant({{1., 2.}, {3., 4.}}));
Tensor rot90(const Tensor& array, int k = 1, const Axes& axes = {0, 1});

/// Joins tensors along an axis, or along a new axis.
///
///     Tensor a = K::constant({{1., 2.}}), b = K::constant({{3., 4.}});
///     std::cout << ops::concatenate({a, b}, 0) << "\n" << ops::concatenate({a, b}, 1) << "\n";
///     Tensor x = ops::stack({K::constant({1., 2.}), K::constant({3., 4.})}, 0);
///     std::cout << x << "\n" << ops::unstack(x)[1];
Tensor concatenate(const TensorList& xs, int axis = 0);
Tensor stack(const TensorList& x, int axis = 0);
/// Joins two tensors along an axis; without an axis, both flattened.
///
///     std::cout << ops::append(K::constant({1., 2.}), K::constant({3.}));
Tensor append(const Tensor& x1, const Tensor& x2, std::optional<int> axis = {});
/// Joins along axis 1 (vectors: axis 0), axis 0 or axis 2, where tensors of a lower rank first get axes as in NumPy; or
/// joins vectors as columns.
///
///     Tensor a = K::constant({1., 2.}), b = K::constant({3., 4.});
///     std::cout << ops::hstack({a, b}) << "\n"
///               << ops::vstack({a, b}) << "\n"
///               << ops::dstack({a, b}).shape() << "\n";
///     std::cout << ops::column_stack({K::constant({1., 2.}), K::constant({3., 4.})});
Tensor hstack(const TensorList& xs);
Tensor vstack(const TensorList& xs);
Tensor dstack(const TensorList& xs);
Tensor column_stack(const TensorList& xs);

/// Where `split` cuts an axis: into a number of equal parts, or at positions.
class Cuts {
 public:
  Cuts(std::int64_t sections) : sections_(sections) {}
  Cuts(std::initializer_list<std::int64_t> positions) : positions_(positions), at_(true) {}
  Cuts(const std::vector<std::int64_t>& positions) : positions_(positions), at_(true) {}
  /// Returns the sizes of the parts of an extent. With `equal`, throws ValueError for a number that does not divide
  /// the extent; otherwise the first parts are larger by 1.
  std::vector<std::int64_t> sizes(const char* op, std::int64_t extent, bool equal) const;

 private:
  std::int64_t sections_ = 0;
  std::vector<std::int64_t> positions_;
  bool at_ = false;
};

/// Splits x along an axis; positions beyond the end give empty parts. `array_split` makes parts whose sizes differ by at
/// most 1. `hsplit` splits along axis 1 (vectors: axis 0), `vsplit` along axis 0, `dsplit` along axis 2. The extent must
/// be known.
///
///     Tensor x = ops::arange(0, 6);
///     std::cout << ops::split(x, 3)[1] << " " << ops::array_split(x, 4)[0] << "\n";
///     Tensor y = ops::reshape(ops::arange(0, 8), {2, 4});
///     std::cout << ops::hsplit(y, 2)[0] << "\n" << ops::vsplit(y, 2)[1] << "\n";
///     std::cout << ops::dsplit(ops::zeros({1, 2, 4}), 2)[0].shape();
std::vector<Tensor> split(const Tensor& x, const Cuts& indices_or_sections, int axis = 0);
std::vector<Tensor> array_split(const Tensor& x, const Cuts& indices_or_sections, int axis = 0);
std::vector<Tensor> hsplit(const Tensor& x, const Cuts& indices_or_sections);
std::vector<Tensor> vsplit(const Tensor& x, const Cuts& indices_or_sections);
std::vector<Tensor> dsplit(const Tensor& x, const Cuts& indices_or_sections);

/// Repeats each slice along the axis, all equally often or each by its own number; without an axis, the elements of
/// the flattened x. `tile` repeats the whole of x along each axis, and gives x leading axes where there are more numbers.
///
///     std::cout << ops::tile(K::constant({1., 2.}), {2, 2}) << "\n";
///     std::cout << ops::repeat(K::constant({1., 2.}), 3);
Tensor repeat(const Tensor& x, const backend::PerAxis<std::int64_t>& repeats, std::optional<int> axis = {});
Tensor tile(const Tensor& x, const backend::PerAxis<std::int64_t>& repeats);
/// Returns x with elements added before and after each axis: `constant_values` ("constant" mode; ValueError in others),
/// or the elements of x mirrored without the border ("reflect") or with it ("symmetric"). One pair serves all axes.
///
///     std::cout << ops::pad(K::constant({1., 2.}), {{1, 2}});
Tensor pad(const Tensor& x, const backend::PerAxis<backend::PaddingPair>& pad_width,
           const std::string& mode = "constant", std::optional<Scalar> constant_values = {});

/// Returns a matrix with a vector on the diagonal k, or the diagonal k of a matrix, as a vector. Throws ValueError for
/// other ranks. `diagflat` flattens x first.
///
///     std::cout << ops::diag(K::constant({1., 2.})) << "\n";
///     std::cout << ops::diagflat(K::constant({1., 2.}));
Tensor diag(const Tensor& x, int k = 0);
Tensor diagflat(const Tensor& x, int k = 0);
/// Returns the diagonals of matrices in the plane of two axes, along a new last axis, or their sums (integers narrower
/// than int32 and bools give int32).
///
///     Tensor x = K::constant({{1., 2.}, {3., 4.}});
///     std::cout << ops::diagonal(x) << " " << ops::trace(x);
Tensor diagonal(const Tensor& x, int offset = 0, int axis1 = 0, int axis2 = 1);
Tensor trace(const Tensor& x, int offset = 0, int axis1 = 0, int axis2 = 1);
/// Returns matrices with 0 above (`tril`) or below (`triu`) the diagonal k.
///
///     Tensor x = ops::ones({3, 3});
///     std::cout << ops::tril(x) << "\n" << ops::triu(x, 1);
Tensor tril(const Tensor& x, int k = 0);
Tensor triu(const Tensor& x, int k = 0);

/// Returns x with its axes reordered, split and merged by an einops pattern:
/// `rearrange(x, "b (h w) -> w b h", {{"h", 2}})`. Throws ValueError for a pattern that does not fit.
///
///     std::cout
///         << ops::rearrange(ops::zeros({2, 4, 6, 3}), "b h w c -> b (h w) c").shape();
Tensor rearrange(const Tensor& tensor, const std::string& pattern,
                 const std::map<std::string, std::int64_t>& axes_lengths = {});

/// Returns a copy of x, through which gradients flow.
///
///     std::cout << ops::copy(K::constant({1., 2.}));
Tensor copy(const Tensor& x);
/// Returns the bytes of x read as another dtype; the last axis shrinks or grows by the ratio of the sizes. No gradient.
///
///     std::cout << ops::view(K::constant({1.f}), "int32");
Tensor view(const Tensor& x, std::optional<DType> dtype = {});

}  // namespace ktape::ops
