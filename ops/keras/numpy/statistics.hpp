#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/tensor.hpp>

#include <optional>
#include <string>

/// Statistics of keras.ops: order, quantiles, correlation, differences. Differentiable to any order with respect to
/// the tensors unless a comment says otherwise.
///
///     ops::nanquantile(x, 0.5), ops::nanpercentile(x, 90, 0), ops::nanmedian(x), ops::average(x, 1, weights);
///     ops::sort(x, 0), ops::argsort(x), ops::argpartition(x, 2), ops::corrcoef(matrix), ops::correlate(v, w, "same");
///     ops::diff(x, 2), ops::trapezoid(x, {}, 0.1);
namespace ktape::ops {

/// Options of `quantile`, `percentile`, `nanquantile` and `nanpercentile`.
///
///     std::cout << ops::quantile(K::constant({1., 2., 4.}), 0.4, 0,
///                                {.method = "nearest"});
struct QuantileOptions {
  std::string method =
      "linear";  ///< "linear", "lower", "higher", "midpoint" or "nearest" (to the even position)
  bool keepdims = false;
};

/// Returns the quantiles of each group of a floating dtype: q is a number or a vector of numbers in [0, 1]
/// (`percentile`: [0, 100]); a vector puts its axis first. Position q * (n - 1) of the sorted group lies between two
/// elements, which the method combines. NaN in a group gives NaN; the functions with `nan` skip NaN. Throws
/// ValueError for a q outside its range, an unknown method and an empty group.
///
///     ops::quantile(x, 0.25), ops::percentile(x, {5, 95}, -1), ops::median(x, {0, 1}, true);
///
/// For example:
///
///     Tensor x = K::constant({1., 2., 3., 4., 5.});
///     std::cout << ops::quantile(x, 0.25) << " " << ops::nanquantile(x, 0.5) << "\n";
///     std::cout << ops::percentile(x, {5, 95}) << " " << ops::nanpercentile(x, 50);
Tensor quantile(const Tensor& x, const ArrayLike& q, const Axes& axis = {},
                const QuantileOptions& options = {});
Tensor percentile(const Tensor& x, const ArrayLike& q, const Axes& axis = {},
                  const QuantileOptions& options = {});
Tensor nanquantile(const Tensor& x, const ArrayLike& q, const Axes& axis = {},
                   const QuantileOptions& options = {});
Tensor nanpercentile(const Tensor& x, const ArrayLike& q, const Axes& axis = {},
                     const QuantileOptions& options = {});
/// Returns the middle element of each sorted group, or the mean of the two in the middle.
///
///     Tensor x = K::constant({1., 9., 3., 4.});
///     std::cout << ops::median(x) << " " << ops::nanmedian(x);
Tensor median(const Tensor& x, const Axes& axis = {}, bool keepdims = false);
Tensor nanmedian(const Tensor& x, const Axes& axis = {}, bool keepdims = false);

/// Returns sum(x * weights) / sum(weights) in the floating dtype of both; without weights the mean. The weights have the
/// shape of x, or one number for each position of the only axis (ValueError otherwise).
///
///     std::cout << ops::average(K::constant({1., 2., 3.}), 0,
///                               K::constant({1., 1., 2.}));
Tensor average(const Tensor& x, const Axes& axis = {}, const Tensor& weights = {});

/// Returns x sorted along an axis, or the int32 indices of the elements in sorted order; without an axis
/// (`std::nullopt`), of the flattened x; `argsort` of a number is {0}. Equal elements keep their order; NaN is last. `argpartition` returns indices
/// such that no element before position `kth` is larger, and none after the position smaller, than the element there.
///
///     std::cout << ops::sort(K::constant({3., 1., 2.})) << "\n";
///     std::cout << ops::argsort(K::constant({3., 1., 2.})) << "\n";
///     Tensor x = K::constant({9., 1., 5., 3.}), order = ops::argpartition(x, 2);
///     std::cout << ops::take(x, order, 0)[2];  // two numbers are smaller
Tensor sort(const Tensor& x, std::optional<int> axis = -1);
Tensor argsort(const Tensor& x, std::optional<int> axis = -1);
Tensor argpartition(const Tensor& x, std::int64_t kth, std::optional<int> axis = -1);

/// Returns the correlation coefficients of the rows of a matrix, (rows, rows); 1 for a vector. Throws ValueError for
/// other ranks.
///
///     std::cout << ops::corrcoef(K::constant({{1., 2., 3.}, {2., 4., 7.}}));
Tensor corrcoef(const Tensor& x);
/// Returns sum over j of x1[i + j] * x2[j] of two vectors, for the positions i of the mode: "valid" (all of the shorter vector
/// overlaps), "same" (as many as the longer vector has elements) or "full". Integers give float32, int64 float64.
///
///     std::cout << ops::correlate(K::constant({1., 2., 3.}), K::constant({0., 1., 0.5}),
///                                 "same");
Tensor correlate(const Tensor& x1, const Tensor& x2, const std::string& mode = "valid");
/// Returns the n-th differences of neighbours along an axis; of bools, whether neighbours differ.
///
///     std::cout << ops::diff(K::constant({1., 4., 9., 16.}));
Tensor diff(const Tensor& a, int n = 1, int axis = -1);
/// Returns the integral of y along an axis by the trapezoidal rule: at positions x (a vector, or the shape of y), or
/// with the distance dx.
///
///     std::cout << ops::trapezoid(K::constant({0., 1., 4., 9.}));
Tensor trapezoid(const Tensor& y, const Tensor& x = {}, double dx = 1, int axis = -1);

}  // namespace ktape::ops
