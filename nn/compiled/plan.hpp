#pragma once
#include <ktape/nn/compiled/planned_operations.hpp>
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/ops/compiled/compiled_network.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

/// Plans: the calls of a model's layers, some of them replaced by networks. Internal: sources only.
namespace ktape::nn {

/// The call of a layer, or of an op, in a model. Each tensor of the model has a slot.
struct PlannedCall {
  Layer layer;         ///< undefined for an op
  bool plain = false;  ///< whether the call has no arguments besides the inputs, and one output
  PlanOfOp plan = {};  ///< null for a layer, and for an op that no network computes
  AxisOrder order = AxisOrder::Own;
  bool pure = false;           ///< whether the call need not run if nothing reads its results
  std::vector<int> inputs;     ///< slots; below 0 for constants
  std::vector<int> read = {};  ///< the slots that `run` reads, where a network reads others
  int first_result = 0, results = 1;
  std::function<void(std::vector<Tensor>& slots)> run;  ///< calls the layer as without a plan
};

/// Returns whether a network can read the tensor: float32 numbers, or bfloat16 where the processor multiplies
/// them, in 2 to 5 axes, without a mask.
bool fits_network(const Tensor& x);

struct PlanItem {
  std::vector<std::size_t> calls = {};  ///< one call, or the calls that the network computes
  std::shared_ptr<backend::CompiledNetwork> network = {};  ///< null for a call of a layer
  std::vector<int> inputs = {}, outputs = {};              ///< the slots that the network reads and fills
  std::vector<std::pair<int, int>> copies = {};  ///< slots that share the tensor of a slot: (to, from)
  std::vector<int> last_uses = {};               ///< the slots that no later item reads
};

/// The items of a plan, in the order of execution.
struct Plan {
  std::vector<PlanItem> items;
  bool has_networks = false;
};

/// Makes a plan and runs it meanwhile: the shapes of what a called layer returns decide which network reads
/// the tensors. The first `inputs` slots are filled; afterwards the slots in `outputs` are, and they are never
/// emptied. Builds layers that are not built.
Plan make_plan(const std::vector<PlannedCall>& calls, std::vector<Tensor>& slots, std::size_t inputs,
               const std::vector<int>& outputs);

/// Runs a plan on slots of which the first are filled. A network that refuses its inputs is replaced by the
/// calls of the layers.
void run_plan(const Plan& plan, const std::vector<PlannedCall>& calls, std::vector<Tensor>& slots);

}  // namespace ktape::nn
