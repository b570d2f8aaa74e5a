#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/variable.hpp>

#include <utility>
#include <vector>

/// Changing variables. The new value is written over the old one when nothing can see that any more, and into
/// new memory otherwise: gradients of what was computed before stay right. Nothing is recorded.
///
/// Values have the variable's shape (ValueError otherwise) and, where they are tensors, its dtype
/// (TypeError); a call that fails changes nothing. All return the variable, which then has the new value.
namespace ktape::backend {

/// x = value, converted to the dtype of x. `K.set_value`.
Variable set_value(Variable x, const ArrayLike& value);
/// The same for several variables; all values are checked before the first variable changes.
/// `K.batch_set_value`.
void batch_set_value(const std::vector<std::pair<Variable, ArrayLike>>& tuples);

/// x = new_x. `K.update`.
Variable update(Variable x, const Tensor& new_x);
/// x = x + increment and x = x - decrement for any number dtype, in one pass. `K.update_add`, `K.update_sub`.
Variable update_add(Variable x, const Tensor& increment);
Variable update_add(Variable x, Scalar increment);
Variable update_sub(Variable x, const Tensor& decrement);
Variable update_sub(Variable x, Scalar decrement);

/// x = x * momentum + value * (1 - momentum) for floating x, in one pass. `K.moving_average_update`.
Variable moving_average_update(Variable x, const Tensor& value, double momentum);

}  // namespace ktape::backend
