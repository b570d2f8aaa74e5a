#pragma once
#include <ktape/autograd/symbol.hpp>
#include <ktape/ops/compiled/network_builder.hpp>

#include <functional>
#include <optional>
#include <vector>

/// The ops between layers that networks compute. Internal: sources only.
namespace ktape::nn {

/// Adds nodes that compute an op on the nodes of its inputs, and returns the node of the result; none if the
/// network cannot compute the op on inputs of such shapes.
using PlanOfOp = std::function<std::optional<int>(backend::NetworkBuilder&, const std::vector<int>& inputs)>;

struct PlannedOperation {
  std::vector<Tensor> inputs;  ///< the symbolic arguments of the op
  PlanOfOp plan;
};

/// Returns the operation that a symbol records as an op of a network; none for other symbols.
std::optional<PlannedOperation> planned_operation(const Symbol& symbol);

}  // namespace ktape::nn
