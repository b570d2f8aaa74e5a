#pragma once
#include <ktape/autograd/tensor.hpp>

/// Crossentropies: one loss for each sample, not averaged over samples. `output` is floating. Probabilities
/// are clipped to [epsilon(), 1 - epsilon()]; the gradient of a clipped probability is 0.
///
/// An output that `softmax` made along the loss's axis (for the binary loss, an output that `sigmoid` made)
/// remembers its logits. The loss is then computed from these logits instead of the output, so that it stays
/// exact where probabilities round to 0. A loss that is computed from logits is exact for values of any size.
namespace ktape::backend {

struct LossOptions {
  bool from_logits = false;  ///< whether `output` holds logits, not probabilities
  int axis = -1;             ///< the axis of the classes
};

/// Returns -sum(target * log(p)) along the axis, where p is output / sum(output), clipped to [epsilon, 1 -
/// epsilon]; from logits, p is the softmax of the output. The target has the shape of the output and any
/// dtype; the gradient is the gradient of the formula even where the classes of the target do not sum to 1.
/// Throws ValueError for a target of another shape and an axis out of range. `K.categorical_crossentropy`.
///
///     Tensor p = K::constant({{0.2, 0.8}});
///     std::cout << K::categorical_crossentropy(K::constant({{0., 1.}}), p) << " ";
///     std::cout << K::sparse_categorical_crossentropy(
///         K::constant({1}, {.dtype = "int32"}), p, {.from_logits = false});
Tensor categorical_crossentropy(const Tensor& target, const Tensor& output, const LossOptions& options = {});

/// Returns -log(softmax(logits)[target]). Probabilities are clipped to [epsilon, 1 - epsilon] and their
/// logarithms taken as logits, so that the probabilities are renormalized. The target holds class numbers, of
/// any dtype but bool (fractions are cut off), in the shape of output without the axis; another shape with as
/// many elements, such as a shape with a trailing 1, is accepted too. The result has the shape of output
/// without the axis. Throws ValueError, naming the class, for a class that is out of range or NaN; ValueError
/// for another number of targets and an axis out of range; TypeError for a bool target.
/// `K.sparse_categorical_crossentropy`.
Tensor sparse_categorical_crossentropy(const Tensor& target, const Tensor& output,
                                       const LossOptions& options = {});

struct BinaryLossOptions {
  bool from_logits = false;  ///< whether `output` holds logits, not probabilities
};

/// Returns -(t * log(p + epsilon) + (1 - t) * log(1 - p + epsilon)) for each element, with p = output clipped
/// to [epsilon, 1 - epsilon]. From logits x, returns max(x, 0) - x * t + log(1 + exp(-|x|)). The target has
/// any dtype. Throws ValueError for shapes that do not broadcast and, from logits, for shapes that differ.
/// `K.binary_crossentropy`.
///
///     Tensor y = K::constant({1., 0.});
///     std::cout << K::binary_crossentropy(y, K::constant({0.9, 0.2})) << "\n"
///               << K::binary_crossentropy(y, K::constant({2., -3.}),
///                                         {.from_logits = true});
Tensor binary_crossentropy(const Tensor& target, const Tensor& output, const BinaryLossOptions& options = {});

}  // namespace ktape::backend
