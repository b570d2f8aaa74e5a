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

/// The order of axes in which an op of a network reads tensors and gives its result.
enum class AxisOrder {
  Own,           ///< that of the tensors
  ChannelsLast,  ///< the channels, which are axis 1 of the tensors, after the other axes
  Any,           ///< either, one for all tensors of the op
  ToLast,   ///< the op moves axis 1 to the end: its result in its own order is the input with channels last
  FromLast  ///< the op moves the last axis to axis 1
};

struct PlannedOperation {
  std::vector<Tensor> inputs;  ///< the symbolic arguments of the op
  PlanOfOp plan;
  AxisOrder order = AxisOrder::Own;
};

/// Returns the operation that a symbol records as an op of a network; none for other symbols.
std::optional<PlannedOperation> planned_operation(const Symbol& symbol);

}  // namespace ktape::nn
