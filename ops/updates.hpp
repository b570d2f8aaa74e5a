#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/variable.hpp>

#include <utility>
#include <vector>

/// Functions that change variables. The new value is written over the old value when no other tensor can read
/// the old value, and into new memory otherwise, so that gradients of earlier results stay right. Updates are
/// not recorded on the tape.
///
/// Values have the shape of the variable (ValueError otherwise). Tensors have the dtype of the variable,
/// unless the comment of a function says otherwise, and numbers must fit the dtype (TypeError). A call that
/// throws changes no variable. The updates return the new value of the variable. With a symbolic value an
/// update is deferred; its result then belongs among the updates (or outputs) of a function.
namespace ktape::backend {

/// Assigns `value`, converted to the dtype of x (fractions are cut off, also of numbers), to x; returns x.
/// `K.set_value`.
///
///     Variable w = K::variable({1.f, 2.f});
///     K::set_value(w, {3.f, 4.f});
///     K::update_add(w, K::ones({2}));
///     K::update_sub(w, K::constant({0.5, 0.5}));
///     std::cout << w << "\n";
///     K::update(w, w * 2);
///     std::cout << w;
Variable set_value(Assignable x, const ArrayLike& value);
/// Assigns values to several variables, as `set_value` does; all values are checked before the first variable
/// changes. `K.batch_set_value`.
void batch_set_value(const std::vector<std::pair<Assignable, ArrayLike>>& tuples);

/// Assigns new_x to x. `K.update`.
Tensor update(Assignable x, const ArrayLike& new_x);
/// Assigns x + increment, or x - decrement, to x in one pass, for any number dtype; a single number is added
/// to (subtracted from) every element. `K.update_add`, `K.update_sub`.
Tensor update_add(Assignable x, const ArrayLike& increment);
Tensor update_sub(Assignable x, const ArrayLike& decrement);

/// Assigns x * momentum + value * (1 - momentum) to a floating x in one pass; the value may be of any dtype
/// and broadcasts to x. `K.moving_average_update`.
///
///     Variable w = K::variable({1.f});
///     K::moving_average_update(w, K::constant({3.}), 0.9);
///     std::cout << w;
Tensor moving_average_update(Assignable x, const ArrayLike& value, double momentum);

}  // namespace ktape::backend
