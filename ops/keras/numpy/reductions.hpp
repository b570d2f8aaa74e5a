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
///
///     Tensor x = K::constant({{1., 2., 3.}, {4., 5., 6.}});
///     std::cout << ops::sum(x) << "\n"
///               << ops::sum(x, 0) << "\n"
///               << ops::sum(x, -1, true) << "\n";
///     std::cout << ops::prod(x) << " " << ops::prod(x, 1);
Tensor sum(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor prod(const Tensor& x, const Axes& axis = {}, bool keepdims = false, std::optional<DType> dtype = {});
/// Returns the largest or the smallest element of each group, in the dtype of x; NaN if there is one. `initial` counts
/// as an element of every group. Throws ValueError for an empty group without `initial`.
///
///     Tensor x = K::constant({{1., 5.}, {7., 2.}});
///     std::cout << ops::max(x) << " " << ops::max(x, 0) << "\n";
///     std::cout << ops::min(x) << " " << ops::min(x, 0);
Tensor max(const Tensor& x, const Axes& axis = {}, bool keepdims = false, std::optional<Scalar> initial = {});
Tensor min(const Tensor& x, const Axes& axis = {}, bool keepdims = false, std::optional<Scalar> initial = {});
Tensor amax(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor amin(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
/// Returns max(x) - min(x).
///
///     std::cout << ops::ptp(K::constant({3., 9., 4.}));
Tensor ptp(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
/// Returns the mean, the population variance or its root, in a floating dtype.
///
///     Tensor x = K::constant({{1., 2., 3.}, {4., 5., 6.}});
///     std::cout << ops::mean(x) << " " << ops::mean(x, 0) << "\n";
///     Tensor y = K::constant({1., 2., 3., 4.});
///     std::cout << ops::var(y) << " " << ops::std(y);
Tensor mean(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor var(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor std(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
/// Returns log(sum(exp(x))), in a floating dtype.
///
///     std::cout << ops::logsumexp(K::constant({1000., 1000.}));
Tensor logsumexp(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
/// Returns whether any element, or every element, is not 0: bool tensors.
///
///     Tensor x = K::constant({{true, false}, {true, true}});
///     std::cout << ops::any(x, 1) << " " << ops::all(x, 1);
Tensor any(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor all(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
/// Returns the number of elements that are not 0, in int32.
///
///     std::cout << ops::count_nonzero(K::constant({{1., 0.}, {0., 0.}}));
Tensor count_nonzero(const Tensor& x, const Axes& axis = {});

/// Returns the int32 index of the first of the largest (smallest) elements along the axis; without an axis, the index
/// in the flattened x. A NaN counts as the largest (smallest).
///
///     Tensor x = K::constant({{1., 5., 2.}, {7., 2., 0.}});
///     std::cout << ops::argmax(x, -1) << " " << ops::argmin(x, -1);
Tensor argmax(const Tensor& x, std::optional<int> axis = {}, bool keepdims = false);
Tensor argmin(const Tensor& x, std::optional<int> axis = {}, bool keepdims = false);

/// Returns the running sum or product along the axis; without an axis, of the flattened x. bool gives int32; x is
/// converted to `dtype` first, if given.
///
///     std::cout << ops::cumsum(K::constant({{1., 2., 3.}, {4., 5., 6.}}), 1) << "\n";
///     std::cout << ops::cumprod(K::constant({1., 2., 3., 4.}), 0);
Tensor cumsum(const Tensor& x, std::optional<int> axis = {}, std::optional<DType> dtype = {});
Tensor cumprod(const Tensor& x, std::optional<int> axis = {}, std::optional<DType> dtype = {});

/// Reductions that skip NaN. A group of NaN alone (or an empty group) gives 0 for `nansum`, 1 for `nanprod`, -1 for
/// `nanargmax` and `nanargmin`, NaN for the others. The gradient of a NaN is 0. Tensors without NaN give the results
/// of the functions without `nan`.
///
///     Tensor x = K::constant({2., 0., 3.}) / K::constant({1., 0., 1.});
///     std::cout << x << "\n"
///               << ops::nansum(x) << " " << ops::nanprod(x) << "\n"
///               << ops::nancumsum(x, 0) << " " << ops::nancumprod(x, 0) << "\n";
///     Tensor y = K::constant({2., 0., 4.}) / K::constant({1., 0., 1.});
///     std::cout << ops::nanmean(y) << " " << ops::nanvar(y) << " " << ops::nanstd(y) << "\n";
///     std::cout << ops::nanmax(x) << " " << ops::nanmin(x) << " "
///               << ops::nanargmax(x, 0) << " " << ops::nanargmin(x, 0);
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
