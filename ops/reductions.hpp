#pragma once
#include <ktape/autograd/tensor.hpp>

/// Reductions over one, several or all axes, and running sums and products along one.
///
///     sum(x)   sum(x, -1)   max(x, {0, 2}, true)   mean(x, None)
///
/// `axis` counts from the end when negative; `{}` and None stand for all axes, `Axes(std::vector<int>{})` for
/// none of them, as in TF. With `keepdims` the reduced axes stay with extent 1, otherwise they go; a full
/// reduction has shape `()`.
///
/// All of them throw ValueError for an axis out of range or named twice. float16 is computed in float32 and
/// rounded once.
namespace ktape::backend {

/// The sum of each group of elements, of the dtype of x; integers wrap around, nothing gives 0. Throws
/// TypeError for bool. `K.sum`.
Tensor sum(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// The product, likewise; nothing gives 1. The gradient is exact with zeros in the group, of every order.
/// `K.prod`.
Tensor prod(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// The largest and the smallest element, of the dtype of x; NaN wins. Of nothing: -inf and +inf, or the ends
/// of an integer dtype. Elements that tie share the gradient evenly. Throws TypeError for bool. `K.max`,
/// `K.min`.
Tensor max(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor min(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// sum / number. bool counts as floatx. Of integers, as in TF, the sum as int64 and the quotient truncated to
/// the integer dtype (0 of nothing); of nothing NaN. `K.mean`.
Tensor mean(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// The population variance mean((x - mean(x))^2), computed from the differences, so that it is exact however
/// large the mean. bool counts as floatx; integers are a TypeError. `K.var`.
Tensor var(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// sqrt(var(x)); the gradient is 0 where it is 0. `K.std`.
Tensor std(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// The Euclidean norm sqrt(sum(x^2)) of floating x; the gradient is 0 where it is 0. `tf.norm`.
Tensor norm(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// log(sum(exp(x))) of floating x, computed from differences to the largest element; nothing gives -inf.
/// `K.logsumexp`.
Tensor logsumexp(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// Whether any, or every, element is not zero: bool, for any dtype. Nothing gives false, and true. `K.any`,
/// `K.all`.
Tensor any(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor all(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// The index along the axis, int64, of the first of the largest (smallest) elements, for any dtype; a NaN
/// counts as the largest (smallest). Throws ValueError when the axis has extent 0. `K.argmax`, `K.argmin`.
Tensor argmax(const Tensor& x, int axis = -1);
Tensor argmin(const Tensor& x, int axis = -1);

/// The sum, or product, of the elements up to and with each one along the axis. Integers wrap around. Throws
/// TypeError for bool. The gradient of the product is exact with zeros, of every order. `K.cumsum`,
/// `K.cumprod`.
Tensor cumsum(const Tensor& x, int axis = 0);
Tensor cumprod(const Tensor& x, int axis = 0);

}  // namespace ktape::backend
