#pragma once
#include <ktape/autograd/gradients.hpp>

#include <functional>
#include <vector>

namespace ktape {

/// Hears of the gradient of a target, by the target's number, as soon as nothing more is added to it, while
/// the walk goes on. The gradient may be undefined.
using GradientReady = std::function<void(std::size_t target, const Tensor& gradient)>;

/// Walks backwards over the graph behind some losses: the gradient of sum(losses[i] * seeds[i]) for each
/// target, undefined where the losses do not depend on it. Internal: `gradients` is the entry.
///
/// A node is visited after all nodes that read its outputs, so that every gradient is complete when its
/// node's turn comes. Descending sequence numbers are such an order, found with a heap and without recursion,
/// unless a node names inputs on demand that are newer than itself (gradients that are differentiated again):
/// then the nodes are sorted by counting their consumers. What a walk knows of the nodes is its own: any
/// number of walks may go over one graph at once, in several threads or one inside the other, and one that
/// ends with an exception leaves nothing behind. A node that is older than every target depends on none of
/// them and is not visited.
///
/// With `record` the results are recorded, too; without it they are plain values. With `lookups`, what those
/// of a target at which gradients end add to its gradient goes there in place of the result. `ready`, where
/// it is given, hears of the targets at which gradients end (variables) and to which no lookups add, in the
/// order in which they become ready.
std::vector<Tensor> walk_back(const std::vector<Tensor>& losses, const std::vector<Tensor>& seeds,
                              const std::vector<Tensor>& targets, bool record,
                              std::vector<LookupGradient>* lookups = nullptr,
                              const GradientReady& ready = {});

/// `gradients` of one loss with lookups, that tells of each gradient as soon as it is ready.
std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Variable>& variables,
                              std::vector<LookupGradient>& lookups, const GradientReady& ready);

}  // namespace ktape
