#pragma once
#include <ktape/autograd/graph/gradients.hpp>

#include <functional>
#include <vector>

namespace ktape {

/// A function that is called with the index and the gradient of a target as soon as the gradient is complete,
/// before the backward pass ends. The gradient may be undefined.
using GradientReady = std::function<void(std::size_t target, const Tensor& gradient)>;

/// Runs the backward pass over the graph of some losses and returns the gradient of sum(losses[i] * seeds[i])
/// for each target; undefined where the losses do not depend on the target. Internal: `gradients` is the
/// public function.
///
/// A node is visited after all nodes that read its outputs, so that each gradient is complete when its node
/// is visited. Descending sequence numbers give such an order, which a heap finds without recursion. The
/// exception are nodes that name inputs on demand that are newer than the node (gradients that are
/// differentiated again): then the nodes are sorted by counting their consumers. The nodes store no state of
/// a backward pass: any number of passes may run over one graph at once, in several threads or nested, and a
/// pass that ends with an exception changes nothing. A node that is older than every target depends on no
/// target and is not visited.
///
/// With `record` the results are recorded; otherwise the results are plain values. With `lookups`, the
/// gradients that come from lookups of a variable are stored in `lookups` and not in the result. `ready` is
/// called for each variable among the targets to which no lookup adds, in the order in which the gradients
/// become complete.
std::vector<Tensor> walk_back(const std::vector<Tensor>& losses, const std::vector<Tensor>& seeds,
                              const std::vector<Tensor>& targets, bool record,
                              std::vector<LookupGradient>* lookups = nullptr,
                              const GradientReady& ready = {});

/// Computes `gradients` of one loss with lookups, and calls `ready` for each gradient as soon as the gradient
/// is complete.
std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Variable>& variables,
                              std::vector<LookupGradient>& lookups, const GradientReady& ready);

}  // namespace ktape
