#pragma once
#include <ktape/autograd/symbol.hpp>
#include <ktape/ops/schema/operation.hpp>

/// All operations, and those that symbols record. Internal: sources only.
///
/// A model records a function that is called on a symbolic tensor as a symbol. `operation_of` finds the operation and the
/// arguments of a symbol, so that the model can be written; `apply_operation` calls an operation that was read.
namespace ktape::nn {

/// Returns the operation with this name; null for an unknown name.
const Operation* find_operation(const std::string& name);
/// Returns all operations.
const std::vector<Operation>& all_operations();
/// Returns the name for objects: "expand_dims" for "ExpandDims".
std::string snake_name(const Operation& operation);

/// Returns the call that a symbol records; nothing for a symbol that records no operation, or not all
/// arguments of an operation. Throws ValueError for a variable among the arguments, unless `reads_variables` is
/// set: the argument is then the variable's value.
std::optional<OperationCall> operation_of(const Symbol& symbol, bool reads_variables = false);
/// Returns the name that an operation got from a file; empty for other symbols.
std::string given_name(const Symbol& symbol);
/// Returns the operation that a symbol records, for names in drawings; null for an op that is none.
const Operation* operation_named_by(const Symbol& symbol);

/// Calls an operation on symbolic tensors. The results are those of one symbol, which keeps call and name.
std::vector<Tensor> apply_operation(const OperationCall& call, const std::string& name);

}  // namespace ktape::nn
