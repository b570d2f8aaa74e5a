#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>

#include <optional>
#include <string>
#include <vector>

/// Products of keras.ops. Tensors of two dtypes are converted to their common dtype, in which integers wrap around; the sum of
/// bools is whether one product is true. `matmul` and `einsum` of int8 alone give int32. Shapes that do not fit are a ValueError.
/// Differentiable to any order.
///
///     ops::matmul(a, b), ops::tensordot(a, b, {{0, 2}, {1, 0}}), ops::einsum("ii->i", {a}), ops::cdist(a, b);
///     ops::dot(a, b), ops::inner(a, b), ops::outer(v, w), ops::vdot(a, b), ops::kron(a, b), ops::cross(v, w);
namespace ktape::ops {

/// Returns the matrix product over the last two axes; the axes before broadcast. A vector is a row on the left and a column on
/// the right, and loses its axis in the result.
///
///     Tensor a = K::constant({{1., 2.}, {3., 4.}});
///     std::cout << ops::matmul(a, a);
Tensor matmul(const Tensor& x1, const Tensor& x2);
/// Returns the sum product over the last axis of x1 and the second to last (vector: only) axis of x2; a scalar multiplies.
///
///     std::cout << ops::dot(K::constant({{1., 2.}, {3., 4.}}),
///                           K::constant({10., 100.}));
Tensor dot(const Tensor& x1, const Tensor& x2);
/// Returns the sum product over the last axes of both; a scalar multiplies.
///
///     Tensor a = K::constant({1., 2.}), b = K::constant({3., 4.});
///     std::cout << ops::inner(a, b) << "\n" << ops::outer(a, b);
Tensor inner(const Tensor& x1, const Tensor& x2);
/// Returns the products of all pairs of elements of the flattened tensors, or their sum product.
///
///     std::cout << ops::vdot(K::constant({1., 2.}), K::constant({3., 4.}));
Tensor outer(const Tensor& x1, const Tensor& x2);
Tensor vdot(const Tensor& x1, const Tensor& x2);
/// Returns the Kronecker product: blocks x1[i] * x2.
///
///     std::cout << ops::kron(K::constant({1., 10.}), K::constant({1., 2., 3.}));
Tensor kron(const Tensor& x1, const Tensor& x2);
/// Options of `cross`: the axes of the vectors.
///
///     Tensor columns = ops::eye(3), row = K::constant({0., 0., 1.});
///     std::cout << ops::cross(columns, row, {.axisa = 0, .axisc = 0});
struct CrossOptions {
  int axisa = -1, axisb = -1, axisc = -1;  ///< of x1, x2 and the result
  std::optional<int> axis = {};            ///< the axis of all three, if given
};

/// Returns the cross product of vectors with 3 elements along an axis. Vectors with 2 elements have a third element 0; two of
/// them give only the third element of the product. An `axis` that stands alone is the axis of all.
///
///     std::cout << ops::cross(K::constant({1., 0., 0.}), K::constant({0., 1., 0.}));
Tensor cross(const Tensor& x1, const Tensor& x2, const CrossOptions& options = {});
Tensor cross(const Tensor& x1, const Tensor& x2, int axis);

/// The axes over which `tensordot` sums: the last n of x1 and the first n of x2, or two lists.
///
///     std::cout << ops::tensordot(ops::ones({2, 3}), ops::ones({3, 2}),
///                                 {{0, 1}, {1, 0}})
///               << " " << ops::split(ops::arange(0, 5), {2, 3})[1];
class DotAxes {
 public:
  DotAxes(int n) : n_(n) {}
  DotAxes(std::vector<int> first, std::vector<int> second)
      : first_(std::move(first)), second_(std::move(second)), lists_(true) {}
  /// Returns the axes of x1 and of x2.
  std::pair<std::vector<int>, std::vector<int>> of(int rank1, int rank2) const;

 private:
  int n_ = 0;
  std::vector<int> first_, second_;
  bool lists_ = false;
};

/// Returns the sum product over pairs of axes: the other axes of x1, then the other axes of x2.
///
///     std::cout << ops::tensordot(ops::ones({2, 3, 4}), ops::ones({3, 4, 5})).shape();
Tensor tensordot(const Tensor& x1, const Tensor& x2, const DotAxes& axes = 2);
/// Computes Einstein's summation, `einsum("ij,jk->ik", {x, y})`; a letter that occurs twice in one operand names a diagonal.
///
///     Tensor a = K::constant({{1., 2.}, {3., 4.}});
///     std::cout << ops::einsum("ij,jk->ik", {a, a}) << "\n"
///               << ops::einsum("ii->i", {a});
Tensor einsum(const std::string& subscripts, const TensorList& operands);
/// Returns the Euclidean distances between the rows of x, (..., m, d), and of y, (..., n, d), as (..., m, n).
///
///     std::cout << ops::cdist(K::constant({{0., 0.}, {1., 1.}}),
///                             K::constant({{3., 4.}}));
Tensor cdist(const Tensor& x, const Tensor& y);

}  // namespace ktape::ops
