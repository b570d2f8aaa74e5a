#pragma once
#include <ktape/nn/models/node_config.hpp>
#include <ktape/nn/operations/operations.hpp>

/// An operation in the config of a model: {class_name: "Operation", config: {name, function, ...}}, with the
/// arguments that are no tensors in the config. A call holds the others by name, in `kwargs`. Internal:
/// sources only.
namespace ktape::nn {

inline constexpr const char* operation_class = "Operation";

/// Returns the operation of a call under a name.
Value operation_config(const OperationCall& call, const std::string& name);
/// Returns the call with the place of each of its tensors. Throws ValueError for a constant that is too large
/// for a config.
Value operation_call_config(const OperationCall& call,
                            const std::function<TensorPlace(const Tensor&)>& place_of);
/// Returns the call of an operation, made from both configs. Throws ValueError or TypeError, beginning with
/// `what`, for an unknown function and for arguments that the function does not take.
OperationCall operation_call_from(const Value& operation, const Value& call,
                                  const std::function<Tensor(const TensorPlace&)>& tensor_at,
                                  const std::string& what);

}  // namespace ktape::nn
