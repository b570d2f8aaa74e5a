#pragma once
#include <ktape/nn/core/config.hpp>

#include <string>

/// The layer "Operation": a function of keras.ops as a layer of a model. Keras saves expressions such as `ids
/// != 0` and `x[:, 0]` as operations of keras.ops. Internal: sources only.
///
/// The config of the layer has three entries:
///
/// - `function`: the name of the function in keras.ops.
/// - `operands`: the operands in order, null for each tensor that the layer is called on, a number for each
///   constant.
/// - `options`: the options of the function: axis, keepdims, dtype, key. The `key` of get_item is a list
///   whose entries are indices, null for a new axis, "..." or {start, stop, step}.
///
/// The output of the layer has no mask.
namespace ktape::nn {

/// Returns whether the layer "Operation" can compute the function of keras.ops with this name.
bool is_operation_name(const std::string& function);

}  // namespace ktape::nn
