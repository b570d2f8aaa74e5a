#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/shape_like.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Functions of keras.ops that make tensors. A dtype that is not given is floatx(), unless a comment says otherwise.
///
///     ops::linspace(0, 1, 5), ops::eye(3), ops::tri(3), ops::arange(0, 10, 2), ops::hanning(16);
///     ops::zeros({2, 3}), ops::ones({2}, "int32"), ops::full({2, 2}, 7), ops::empty({3}), ops::zeros_like(x);
///     ops::ones_like(x), ops::full_like(x, 2), ops::empty_like(x), ops::array({{1, 2}, {3, 4}}), ops::identity(3);
///     ops::convert_to_tensor({1., 2.}), ops::logspace(0, 3, 4), ops::geomspace(1, 1000, 4), ops::meshgrid({v, w});
///     ops::vander(v, 3), ops::bartlett(16), ops::hamming(16), ops::blackman(16), ops::kaiser(16, 8.6);
namespace ktape::ops {

/// Returns start, start + step, ... below stop: see `K::arange`.
///
///     std::cout << ops::arange(0, 10, 3);
using backend::arange;

/// Returns a tensor of the shape with the elements 0, 1, a given number, or unspecified numbers (at present 0). Instead of
/// the number, `full` takes an array that broadcasts to the shape (ValueError otherwise), through which gradients flow.
///
///     std::cout << ops::zeros({2}) << " " << ops::ones({2}, "int32") << "\n";
///     std::cout << ops::full({2, 2}, 7) << "\n";
///     std::cout << ops::empty({2, 3}).shape() << " "
///               << ops::empty_like(ops::zeros({4})).shape();
Tensor zeros(const backend::ShapeLike& shape, std::optional<DType> dtype = {});
Tensor ones(const backend::ShapeLike& shape, std::optional<DType> dtype = {});
Tensor full(const backend::ShapeLike& shape, const ArrayLike& fill_value, std::optional<DType> dtype = {});
Tensor empty(const backend::ShapeLike& shape, std::optional<DType> dtype = {});
/// Returns a tensor with these elements in the shape of x, and in the dtype of x where no dtype is given. Numbers that
/// the dtype cannot hold become the nearest that it can.
///
///     Tensor x = K::constant({5., 6.});
///     std::cout << ops::zeros_like(x) << " " << ops::ones_like(x) << " "
///               << ops::full_like(x, 3);
Tensor zeros_like(const Tensor& x, std::optional<DType> dtype = {});
Tensor ones_like(const Tensor& x, std::optional<DType> dtype = {});
Tensor full_like(const Tensor& x, const ArrayLike& fill_value, std::optional<DType> dtype = {});
Tensor empty_like(const Tensor& x, std::optional<DType> dtype = {});

/// Returns the value as a tensor: a number, a nested literal, a vector or a tensor. Numbers get the dtype, or floatx();
/// a tensor is converted only to a given dtype.
///
///     std::cout << ops::array({1., 2.}) << " " << ops::convert_to_tensor({3., 4.});
Tensor array(const ArrayLike& x, std::optional<DType> dtype = {});
Tensor convert_to_tensor(const ArrayLike& x, std::optional<DType> dtype = {});

/// Returns N rows and M (by default N) columns with 1 on the diagonal k, counted from the main diagonal upwards, and 0
/// elsewhere; `tri` has 1 on the diagonal and below; `identity` is a square with 1 on the main diagonal.
///
///     std::cout << ops::eye(2) << "\n" << ops::identity(2) << "\n";
///     std::cout << ops::tri(3);
Tensor eye(std::int64_t N, std::optional<std::int64_t> M = {}, std::int64_t k = 0,
           std::optional<DType> dtype = {});
Tensor tri(std::int64_t N, std::optional<std::int64_t> M = {}, std::int64_t k = 0,
           std::optional<DType> dtype = {});
Tensor identity(std::int64_t n, std::optional<DType> dtype = {});

/// Options of `linspace`, `linspace_with_step`, `logspace` and `geomspace`.
///
///     std::cout << ops::linspace(0, 1, 4, {.endpoint = false});
struct LinspaceOptions {
  bool endpoint = true;  ///< the last sample is `stop`; otherwise `stop` would be the next one
  double base = 10;      ///< the base of the powers of `logspace`
  std::optional<DType> dtype = {};
  int axis = 0;  ///< the axis of the samples where the bounds are tensors
};

/// Returns num samples from start to stop, evenly spaced, evenly spaced exponents of `base`, or evenly spaced logarithms.
/// The bounds are numbers or tensors, which broadcast; the samples lie along a new axis. Integer dtypes cut off
/// fractions. `linspace_with_step` also returns the distance of two samples. Differentiable with respect to the
/// bounds. Throws ValueError for a negative num.
///
///     std::cout << ops::linspace(0, 1, 5) << "\n";
///     auto [x, step] = ops::linspace_with_step(0, 1, 5);
///     std::cout << x << " " << step << "\n";
///     std::cout << ops::logspace(0, 2, 3) << " " << ops::geomspace(1, 8, 4);
Tensor linspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num = 50,
                const LinspaceOptions& options = {});
std::pair<Tensor, Tensor> linspace_with_step(const ArrayLike& start, const ArrayLike& stop,
                                             std::int64_t num = 50, const LinspaceOptions& options = {});
Tensor logspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num = 50,
                const LinspaceOptions& options = {});
Tensor geomspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num = 50,
                 const LinspaceOptions& options = {});

/// Returns the coordinates of a grid over the vectors: one tensor for each vector. With the indexing "xy" the second
/// vector runs along axis 0 and the first along axis 1; with "ij" each vector runs along its own axis.
///
///     auto grid = ops::meshgrid({K::constant({1., 2.}), K::constant({3., 4.})});
///     std::cout << grid[0] << "\n" << grid[1];
std::vector<Tensor> meshgrid(const TensorList& x, const std::string& indexing = "xy");
/// Returns the powers x^(N - 1), ..., x, 1 of each element of a vector as rows, or with `increasing` 1, x, ..., x^(N - 1);
/// N is by default the length of x.
///
///     std::cout << ops::vander(K::constant({1., 2., 3.})) << "\n"
///               << ops::vander(K::constant({2., 3.}), 4, true);
Tensor vander(const Tensor& x, std::optional<std::int64_t> N = {}, bool increasing = false);

/// Returns a window of x points, symmetric and largest in the middle: triangular, raised cosines, or Kaiser's, which is
/// i0(beta sqrt(1 - t^2)) / i0(beta) for t from -1 to 1. One point gives 1. Throws ValueError for a negative x.
///
///     std::cout << ops::hanning(5) << "\n"
///               << ops::hamming(5) << "\n"
///               << ops::blackman(5) << "\n"
///               << ops::bartlett(5) << "\n";
///     std::cout << ops::kaiser(5, 14);
Tensor bartlett(std::int64_t x);
Tensor hanning(std::int64_t x);
Tensor hamming(std::int64_t x);
Tensor blackman(std::int64_t x);
Tensor kaiser(std::int64_t x, double beta);

}  // namespace ktape::ops
