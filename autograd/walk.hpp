#pragma once
#include <ktape/autograd/gradients.hpp>

#include <vector>

namespace ktape {

/// Walks backwards over the graph behind some losses: the gradient of sum(losses[i] * seeds[i]) for each
/// target, undefined where the losses do not depend on it. Internal: `gradients` is the entry.
///
/// Nodes are visited in descending order of their sequence numbers, so that every gradient is complete when
/// its node's turn comes; a heap of the frontier orders them, without recursion. What a walk knows of the
/// nodes is its own: any number of walks may go over one graph at once, in several threads or one inside the
/// other, and one that ends with an exception leaves nothing behind. A node that is older than every target
/// depends on none of them and is not visited.
///
/// With `record` the results are recorded, too; without it they are plain values. With `lookups`, what those
/// of a target at which gradients end add to its gradient goes there in place of the result.
std::vector<Tensor> walk_back(const std::vector<Tensor>& losses, const std::vector<Tensor>& seeds,
                              const std::vector<Tensor>& targets, bool record,
                              std::vector<LookupGradient>* lookups = nullptr);

}  // namespace ktape
