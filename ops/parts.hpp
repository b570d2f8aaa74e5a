#pragma once
#include <ktape/autograd/indexing.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/variable.hpp>

/// Parts of tensors that a mask names, and parts of variables to which values are assigned.
namespace ktape::backend {

/// Returns the slices of `tensor` at which the bool mask is true, in their order: (count, tensor.shape[mask.ndim:]),
/// where the mask has the shape of the first axes. With a symbolic argument the count is None. Gradients of slices
/// that were left out are 0. Throws TypeError for a mask of another dtype, ValueError for another shape. Also
/// written `x[mask]`. `tf.boolean_mask`.
///
///     Tensor positive = x[x > 0];
///
/// For example:
///
///     Tensor x = K::constant({{1., 2.}, {3., 4.}, {5., 6.}});
///     std::cout << K::boolean_mask(x, K::constant({true, false, true})) << "\n"
///               << x[x > 3];
Tensor boolean_mask(const Tensor& tensor, const Tensor& mask);

}  // namespace ktape::backend

namespace ktape {

/// Assigns a value to a part of a variable, also written `x[...] = value`, in place if no other tensor can read the
/// old value. The part is an index with positions, slices of any step and Ellipsis; integers, which name rows along
/// axis 0, of which the last one named wins; or a bool mask of the first axes. The value broadcasts to the shape of
/// the part (ValueError otherwise) and has the dtype of the variable (TypeError otherwise); numbers must fit the
/// dtype. No gradient passes an assignment: results from before keep their gradients, and the variable is a leaf with
/// its new value. Throws the errors of `x[...]`, and ValueError for a symbolic value, whose assignment nothing would
/// run: use `K::update` there.
///
///     Variable board = K::variable(K::zeros({3, 3}));
///     board[{1, All}] = {1., 2., 3.};
///     board[board > 2] = 0;
///
/// For example:
///
///     Variable board = K::zeros({2, 3});
///     board[{1, All}] = {1., 2., 3.};
///     ktape::assign_part(board, board > 2, 0.f);
///     std::cout << board;
void assign_part(const Variable& x, const Indices& part, const ArrayLike& value);
void assign_part(const Variable& x, const Tensor& part, const ArrayLike& value);

}  // namespace ktape
