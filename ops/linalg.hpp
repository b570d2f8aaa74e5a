#pragma once
#include <ktape/autograd/tensor.hpp>

#include <array>
#include <string>

/// Products of matrices and tensors. Both arguments have one number dtype (TypeError otherwise, or for bool);
/// float16 is multiplied in float32. All are differentiable to any order.
namespace ktape::backend {

/// The sum product over the last axis of x and the second to last of y: (..., k) and (..., k, n) give
/// x.shape[:-1] + y.shape[:-2] + (n,); for two matrices the matrix product. x and y are at least of rank 2,
/// except that x may be a vector when y has a rank above 2. Throws ValueError when the summed extents differ.
/// `K.dot`.
Tensor dot(const Tensor& x, const Tensor& y);

/// The axes that `batch_dot` sums over: one number for both, or one each.
class BatchAxes {
 public:
  BatchAxes() =
      default;  ///< None: the last axis of x; the second to last of y, or its last when y has rank 2
  BatchAxes(NoneType) {}
  BatchAxes(int axis) : axes_{axis, axis}, given_(true) {}
  BatchAxes(int x_axis, int y_axis) : axes_{x_axis, y_axis}, given_(true) {}
  bool given() const { return given_; }
  std::array<int, 2> axes() const { return axes_; }

 private:
  std::array<int, 2> axes_{};
  bool given_ = false;
};

/// The sum product over one axis of each, sample by sample (axis 0 of both): the result has the other axes of
/// x, then those of y; of rank 1 it becomes (batch, 1). Throws ValueError for ranks below 2, batches that
/// differ, axis 0, and summed extents that differ. `K.batch_dot`.
Tensor batch_dot(const Tensor& x, const Tensor& y, const BatchAxes& axes = {});

struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};

/// The matrix product over the last two axes, (..., m, k) by (..., k, n); the axes before them broadcast.
/// `tf.matmul`.
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});

/// Einstein's summation of one or more tensors, `einsum("bij,bjk->bik", {x, y})`: letters name axes, those
/// missing behind the arrow (or, without an arrow, those that occur twice) are summed over, `...` stands for
/// axes that broadcast. A letter may occur once per operand. Throws ValueError for an equation that does not
/// fit the operands. `tf.einsum`.
Tensor einsum(const std::string& equation, const TensorList& operands);

}  // namespace ktape::backend
