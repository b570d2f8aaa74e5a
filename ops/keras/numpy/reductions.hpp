#pragma once
#include <ktape/autograd/tensor.hpp>

#include <optional>

/// Reductions of keras.ops over one, several or all axes, and running sums. Axes that are not given stand for all
/// axes; negative axes count from the end; `keepdims` keeps the reduced axes with extent 1. Differentiable to any
/// order unless a comment says otherwise. An axis out of range or named twice is a ValueError.
///
///     ops::sum(x), ops::mean(x, -1), ops::max(x, {0, 2}, true), ops::argmax(x), ops::argmax(x, -1);
///     ops::prod(x, 1), ops::min(x, -1), ops::amax(x, 0), ops::amin(x, 0, true), ops::ptp(x, 1), ops::var(x, 1);
///     ops::std(x), ops::logsumexp(x, -1), ops::any(x), ops::all(x, 1), ops::count_nonzero(x, 0), ops::argmin(x, 0);
///     ops::cumsum(x, 1), ops::cumprod(x), ops::nansum(x), ops::nanprod(x, 1), ops::nanmean(x, 1), ops::nanvar(x);
///     ops::nanstd(x, 0), ops::nanmax(x), ops::nanmin(x, 1), ops::nanargmax(x, 1), ops::nanargmin(x);
///     ops::nancumsum(x, 1), ops::nancumprod(x, 0);
namespace ktape::ops {

/// Returns the sum or the product of each group; integers narrower than int32 and bools give int32. Integers wrap
/// around. `prod` converts x to `dtype` first, if given.
Tensor sum(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor prod(const Tensor& x, const Axes& axis = {}, bool keepdims = false, std::optional<DType> dtype = {});
/// Returns the largest or the smallest element of each group, in the dtype of x; NaN if there is one. `initial` counts
/// as an element of every group. Throws ValueError for an empty group without `initial`.
Tensor max(const Tensor& x, const Axes& axis = {}, bool keepdims = false, std::optional<Scalar> initial = {});
Tensor min(const Tensor& x, const Axes& axis = {}, bool keepdims = false, std::optional<Scalar> initial = {});
Tensor amax(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor amin(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
/// Returns max(x) - min(x).
Tensor ptp(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
/// Returns the mean, the population variance or its root, in a floating dtype.
Tensor mean(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor var(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor std(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
/// Returns log(sum(exp(x))), in a floating dtype.
Tensor logsumexp(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
/// Returns whether any element, or every element, is not 0: bool tensors.
Tensor any(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor all(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
/// Returns the number of elements that are not 0, in int32.
Tensor count_nonzero(const Tensor& x, const Axes& axis = {});

/// Returns the int32 index of the first of the largest (smallest) elements along the axis; without an axis, the index
/// in the flattened x. A NaN counts as the largest (smallest).
Tensor argmax(const Tensor& x, std::optional<int> axis = {}, bool keepdims = false);
Tensor argmin(const Tensor& x, std::optional<int> axis = {}, bool keepdims = false);

/// Returns the running sum or product along the axis; without an axis, of the flattened x. bool gives int32; x is
/// converted to `dtype` first, if given.
Tensor cumsum(const Tensor& x, std::optional<int> axis = {}, std::optional<DType> dtype = {});
Tensor cumprod(const Tensor& x, std::optional<int> axis = {}, std::optional<DType> dtype = {});

/// Reductions that skip NaN. A group of NaN alone (or an empty group) gives 0 for `nansum`, 1 for `nanprod`, -1 for
/// `nanargmax` and `nanargmin`, NaN for the others. The gradient of a NaN is 0. Tensors without NaN give the results
/// of the functions without `nan`.
Tensor nansum(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor nanprod(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor nanmean(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor nanvar(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor nanstd(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor nanmax(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor nanmin(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor nanargmax(const Tensor& x, std::optional<int> axis = {}, bool keepdims = false);
Tensor nanargmin(const Tensor& x, std::optional<int> axis = {}, bool keepdims = false);
Tensor nancumsum(const Tensor& x, std::optional<int> axis = {}, std::optional<DType> dtype = {});
Tensor nancumprod(const Tensor& x, std::optional<int> axis = {}, std::optional<DType> dtype = {});

}  // namespace ktape::ops
