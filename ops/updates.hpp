#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/variable.hpp>

#include <utility>
#include <vector>

/// Changing variables. The new value is written over the old one when nothing can see that any more, and into
/// new memory otherwise: gradients of what was computed before stay right. Nothing is recorded.
///
/// Values have the variable's shape (ValueError otherwise); tensors have its dtype, unless said otherwise,
/// and numbers fit it (TypeError). A call that fails changes nothing. The updates return the variable's new
/// value. Given a symbolic value they wait, and their result goes among the updates (or outputs) of a
/// function.
namespace ktape::backend {

/// x = value, converted to the dtype of x (fractions are cut off, also those of numbers); returns x.
/// `K.set_value`.
Variable set_value(Assignable x, const ArrayLike& value);
/// The same for several variables; all values are checked before the first variable changes.
/// `K.batch_set_value`.
void batch_set_value(const std::vector<std::pair<Assignable, ArrayLike>>& tuples);

/// x = new_x. `K.update`.
Tensor update(Assignable x, const ArrayLike& new_x);
/// x = x + increment and x = x - decrement for any number dtype, in one pass; one number is meant for every
/// element. `K.update_add`, `K.update_sub`.
Tensor update_add(Assignable x, const ArrayLike& increment);
Tensor update_sub(Assignable x, const ArrayLike& decrement);

/// x = x * momentum + value * (1 - momentum) for floating x, in one pass; the value may be of any dtype and
/// broadcasts to x. `K.moving_average_update`.
Tensor moving_average_update(Assignable x, const ArrayLike& value, double momentum);

}  // namespace ktape::backend
