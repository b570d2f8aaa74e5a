#pragma once
#include <ktape/autograd/tensor.hpp>

/// Crossentropies: a loss for each sample, not averaged. `output` is floating; probabilities are kept
/// `epsilon()` away from 0 and 1, and one that is not within has gradient 0.
///
/// An output that `softmax` made along the same axis (for the binary loss, that `sigmoid` made) is not used:
/// the loss comes from the logits that it remembers, and so stays exact where probabilities round to 0. From
/// logits every loss is exact for values of any size.
namespace ktape::backend {

struct LossOptions {
  bool from_logits = false;  ///< whether `output` holds logits, not probabilities
  int axis = -1;             ///< of the classes
};

/// -sum(target * log(p)) along the axis, where p is output / sum(output), clipped to [epsilon, 1 - epsilon];
/// from logits, p is their softmax. The target has output's shape and any dtype; the gradient is that of the
/// formula even where its classes do not sum to 1. Throws ValueError for another shape and an axis out of
/// range. `K.categorical_crossentropy`.
Tensor categorical_crossentropy(const Tensor& target, const Tensor& output, const LossOptions& options = {});

/// -log(softmax(logits)[target]). Probabilities are clipped to [epsilon, 1 - epsilon] and their logarithm
/// taken as logits, so that they are renormalized. The target holds class numbers, of any dtype but bool
/// (fractions are cut off), in the shape of output without the axis; another shape with as many elements,
/// such as a trailing 1, is accepted too. The result has the shape of output without the axis. Throws
/// ValueError for a class out of range or NaN, naming it, another number of targets and an axis out of range,
/// TypeError for a bool target.
/// `K.sparse_categorical_crossentropy`.
Tensor sparse_categorical_crossentropy(const Tensor& target, const Tensor& output,
                                       const LossOptions& options = {});

struct BinaryLossOptions {
  bool from_logits = false;  ///< whether `output` holds logits, not probabilities
};

/// Element by element -(t * log(p + epsilon) + (1 - t) * log(1 - p + epsilon)) with p = output clipped to
/// [epsilon, 1 - epsilon]; from logits x, max(x, 0) - x * t + log(1 + exp(-|x|)). The target has any dtype.
/// Throws ValueError for shapes that do not broadcast and, from logits, that differ. `K.binary_crossentropy`.
Tensor binary_crossentropy(const Tensor& target, const Tensor& output, const BinaryLossOptions& options = {});

}  // namespace ktape::backend
