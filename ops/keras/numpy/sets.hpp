#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Functions of keras.ops that search sorted tensors, count and compare sets. Only `bincount` has a gradient, with
/// respect to the weights. Where a length depends on the values, graphs do not know the length.
///
///     ops::searchsorted(v, x), ops::digitize(x, v), ops::bincount(n), ops::histogram(v, 20).counts;
///     ops::unique(n, {.return_counts = true}), ops::isin(n, m);
namespace ktape::ops {

/// Returns the int32 position in a sorted vector before which each value belongs: before equal elements ("left") or
/// after them ("right"). Throws ValueError unless the sequence has rank 1 and for another side.
///
///     std::cout << ops::searchsorted(K::constant({1., 3., 5.}),
///                                    K::constant({0., 3., 4.}));
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, const std::string& side = "left");
/// Returns the number of the bin of each element, as int32: i for bins[i - 1] <= x < bins[i]. Descending bins exchange
/// the bounds.
///
///     std::cout << ops::digitize(K::constant({0.2, 6.4, 3.}),
///                                K::constant({0., 1., 2.5, 4.}));
Tensor digitize(const Tensor& x, const Tensor& bins);

/// Returns how often each number from 0 to the largest occurs in each row of x, a vector or a matrix of integers that
/// are not negative (ValueError, TypeError), as int32; with weights, their sums in the dtype of the weights.
///
///     std::cout << ops::bincount(K::constant({1, 1, 3}, {.dtype = "int32"}));
Tensor bincount(const Tensor& x, const Tensor& weights = {}, std::int64_t minlength = 0);

struct Histogram {
  Tensor counts, edges;
};

/// Returns the int32 counts of the elements of a vector in bins of equal width over the range (by default from the
/// smallest to the largest element; a range of 1 around equal elements), and the bins + 1 edges. The last bin includes
/// its upper edge. Throws ValueError for another rank, bins below 1, a range that descends and elements that are
/// not finite.
///
///     auto [counts, edges] = ops::histogram(K::constant({1., 2., 2., 5.}), 2);
///     std::cout << counts << " " << edges;
Histogram histogram(const Tensor& x, std::int64_t bins = 10,
                    std::optional<std::pair<double, double>> range = {});

struct UniqueOptions {
  bool sorted = true;  ///< the values are always sorted
  bool return_index = false, return_inverse = false, return_counts = false;
  std::optional<int> axis = {};  ///< compares slices along the axis; the elements of x when not given
  std::optional<std::int64_t> size = {};  ///< cuts the values to the number, or fills them up
  Scalar fill_value = 0;
};

/// Returns the values that occur in x, sorted; then, as asked for, the int32 index of the first of each value, the
/// position of each element's value (without an axis, in the shape of x), and how often each value occurs. NaNs stay
/// apart.
///
///     Tensor x = K::constant({3, 1, 3, 2}, {.dtype = "int32"});
///     std::cout << ops::unique(x)[0] << " "
///               << ops::unique(x, {.return_counts = true})[1];
std::vector<Tensor> unique(const Tensor& x, const UniqueOptions& options = {});

/// Options of `isin`.
///
///     std::cout << ops::isin(K::constant({1., 2.}), K::constant({1.}),
///                            {.invert = true});
struct IsInOptions {
  bool assume_unique = false;  ///< accepted and not needed
  bool invert = false;         ///< returns whether an element does not occur
};

/// Returns whether each element of x1 occurs in x2, as bool.
///
///     std::cout << ops::isin(K::constant({1., 2., 3.}), K::constant({3., 1.}));
Tensor isin(const Tensor& x1, const Tensor& x2, const IsInOptions& options = {});

}  // namespace ktape::ops
