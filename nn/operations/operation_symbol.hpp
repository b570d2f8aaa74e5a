#pragma once
#include <ktape/nn/operations/operations.hpp>

/// The symbols of operations that were read from a file. Internal: sources only.
namespace ktape::nn {

/// Returns the call of a symbol that `apply_operation` made; null for other symbols.
const OperationCall* applied_operation(const Symbol& symbol);

}  // namespace ktape::nn
