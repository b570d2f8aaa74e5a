#pragma once
#include <ktape/nn/core/config.hpp>

#include <string>

/// Operations among the layers of a model: Keras keeps `ids != 0` and `x[:, 0]` in files as operations of
/// keras.ops. Internal: sources only.
///
/// The layer "Operation" computes one of them. Its config has the name in keras.ops (`function`), the
/// operands in order (`operands`: null for each tensor that the layer is called on, otherwise a number) and
/// the options of the operation (`options`: axis, keepdims, dtype, key). The `key` of get_item is a list of
/// positions, null for a new axis, "..." and {start, stop, step}. Results have no mask.
namespace ktape::nn {

/// Returns whether the layer computes a function of keras.ops.
bool is_operation_name(const std::string& function);

}  // namespace ktape::nn
