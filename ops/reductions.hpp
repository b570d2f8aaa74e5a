#pragma once
#include <ktape/autograd/tensor.hpp>

/// Reductions over one, several or all axes, and running sums and products along one axis.
///
///     sum(x)   sum(x, -1)   max(x, {0, 2}, true)   mean(x, None)
///
/// `axis` counts from the end when negative; `{}` and None stand for all axes, `Axes(std::vector<int>{})` for
/// no axes, as in TF. With `keepdims` the reduced axes stay with extent 1, otherwise the reduced axes are
/// removed; a full reduction has shape `()`.
///
/// All functions throw ValueError for an axis out of range or named twice. float16 and bfloat16 are
/// computed in float32 and rounded once.
namespace ktape::backend {

/// Returns the sum of each group of elements, in the dtype of x. Integers wrap around; an empty group gives
/// 0. Throws TypeError for bool. `K.sum`.
///
///     Tensor x = K::constant({{1., 2., 3.}, {4., 5., 6.}});
///     std::cout << K::sum(x) << "\n" << K::sum(x, 0) << "\n" << K::sum(x, -1, true);
Tensor sum(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// Returns the product of each group of elements, in the dtype of x. Integers wrap around; an empty group
/// gives 1. With a factor 0, it is 0, however large the others are; the gradients are exact, too. Throws TypeError for bool.
/// `K.prod`.
///
///     Tensor x = K::constant({{1., 2., 3.}, {4., 5., 6.}});
///     std::cout << K::prod(x, 1) << " " << K::mean(x, 1);
Tensor prod(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// Returns the largest or the smallest element of each group, in the dtype of x; NaN if the group contains a
/// NaN. An empty group gives -inf for `max` and +inf for `min`, or the smallest and the largest number of an
/// integer dtype. Equal largest or smallest elements share the gradient evenly. Throws TypeError for bool.
/// `K.max`, `K.min`.
///
///     Tensor x = K::constant({{1., 5.}, {7., 2.}});
///     std::cout << K::max(x) << " " << K::min(x, 0);
Tensor max(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor min(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// Returns the sum divided by the number of elements. bool is converted to floatx. As in TF, integers are
/// summed as int64 and the quotient is truncated to the integer dtype. An empty group gives NaN, or 0 for an
/// integer dtype. `K.mean`.
Tensor mean(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// Returns the population variance mean((x - mean(x))^2), computed from the differences, so that the variance
/// is exact for a mean of any size. bool is converted to floatx; integers are a TypeError. `K.var`.
///
///     Tensor x = K::constant({1., 2., 3., 4.});
///     std::cout << K::var(x) << " " << K::std(x);
Tensor var(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// Returns sqrt(var(x)); the gradient is 0 where the result is 0. `K.std`.
Tensor std(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// Returns the Euclidean norm sqrt(sum(x^2)) of a floating x; the gradient is 0 where the norm is 0.
/// `tf.norm`.
///
///     std::cout << K::norm(K::constant({3., 4.}));
Tensor norm(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// Returns log(sum(exp(x))) of a floating x, computed from differences to the largest element; an empty group
/// gives -inf. `K.logsumexp`.
///
///     std::cout << K::logsumexp(K::constant({1000., 1000.}));
Tensor logsumexp(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// Returns whether any element, or every element, of a group is not zero: a bool tensor, for x of any dtype.
/// An empty group gives false for `any` and true for `all`. `K.any`, `K.all`.
///
///     Tensor x = K::constant({{true, false}, {true, true}});
///     std::cout << K::any(x, 1) << " " << K::all(x, 1);
Tensor any(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor all(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// Returns the int64 index along the axis of the first of the largest (`argmin`: smallest) elements, for any
/// dtype; a NaN counts as the largest (smallest). Throws ValueError when the axis has extent 0. `K.argmax`,
/// `K.argmin`.
///
///     Tensor x = K::constant({{1., 5., 2.}, {7., 2., 0.}});
///     std::cout << K::argmax(x) << " " << K::argmin(x);
Tensor argmax(const Tensor& x, int axis = -1);
Tensor argmin(const Tensor& x, int axis = -1);

/// Returns the running sum, or product, along the axis: each element of the result includes the element of x
/// at its position. Integers wrap around. Throws TypeError for bool. The gradient of the product, of every
/// order, is exact when x contains zeros. `K.cumsum`, `K.cumprod`.
///
///     Tensor x = K::constant({1., 2., 3.});
///     std::cout << K::cumsum(x) << " " << K::cumprod(x);
Tensor cumsum(const Tensor& x, int axis = 0);
Tensor cumprod(const Tensor& x, int axis = 0);

}  // namespace ktape::backend
