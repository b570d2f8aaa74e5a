#pragma once
#include <ktape/autograd/tensor.hpp>

#include <array>
#include <string>

/// Products of matrices and tensors. Both arguments have one number dtype (TypeError otherwise, or for bool);
/// float16 and bfloat16 are multiplied with sums in float32. All functions are differentiable to any order.
namespace ktape::backend {

/// Computes the sum product over the last axis of x and the second to last axis of y: (..., k) and (..., k,
/// n) give x.shape[:-1] + y.shape[:-2] + (n,). For two matrices `dot` is the matrix product. x and y are at
/// least of rank 2, except that x may be a vector when y has a rank above 2. Throws ValueError when the
/// summed extents differ. `K.dot`.
Tensor dot(const Tensor& x, const Tensor& y);

/// The axes over which `batch_dot` sums: one number for both tensors, or one number for each.
class BatchAxes {
 public:
  BatchAxes() =
      default;  ///< None: the last axis of x; the second to last axis of y, or axis 1 of a y of rank 2
  BatchAxes(NoneType) {}
  BatchAxes(int axis) : axes_{axis, axis}, given_(true) {}
  BatchAxes(int x_axis, int y_axis) : axes_{x_axis, y_axis}, given_(true) {}
  bool given() const { return given_; }
  std::array<int, 2> axes() const { return axes_; }

 private:
  std::array<int, 2> axes_{};
  bool given_ = false;
};

/// Computes the sum product over one axis of x and one axis of y for each sample (axis 0 of both). The result
/// has the other axes of x, then the other axes of y; a result of rank 1 becomes (batch, 1). Throws
/// ValueError for ranks below 2, batch sizes that differ, axis 0, and summed extents that differ.
/// `K.batch_dot`.
///
///     std::cout << K::batch_dot(K::ones({2, 3}), K::ones({2, 3}), 1);
Tensor batch_dot(const Tensor& x, const Tensor& y, const BatchAxes& axes = {});

struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};

/// Computes the matrix product over the last two axes, (..., m, k) by (..., k, n); the axes before the last
/// two broadcast. `tf.matmul`.
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});

/// Computes Einstein's summation of one or more tensors, `einsum("bij,bjk->bik", {x, y})`. Letters name axes.
/// Letters that do not occur after the arrow (or, without an arrow, letters that occur twice) are summed
/// over; `...` stands for axes that broadcast. A letter may occur once per operand. Throws ValueError for an
/// equation that does not fit the operands. `tf.einsum`.
///
///     Tensor a = K::constant({{1., 2.}, {3., 4.}});
///     std::cout << K::einsum("ij,kj->ik", {a, a});
Tensor einsum(const std::string& equation, const TensorList& operands);

}  // namespace ktape::backend
