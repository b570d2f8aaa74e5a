#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/core/config.hpp>

#include <string>

namespace ktape::nn {

/// The reduction of the losses of samples to one value: "sum_over_batch_size" or "mean" (the mean), "sum",
/// "mean_with_sample_weight" (the weighted mean), or "none" (None: no reduction). Throws ValueError for
/// another name.
class Reduction {
 public:
  enum Kind { None, Sum, Mean, WeightedMean };

  Reduction(NoneType) : kind_(None) {}
  Reduction(const char* name) : Reduction(std::string(name)) {}
  Reduction(const std::string& name);
  explicit Reduction(const Value& value);

  Kind kind() const { return kind_; }
  /// Returns the name of the reduction, as Keras writes it.
  Value to_value() const;

 private:
  Kind kind_;
};

/// Two tensors of equal rank: a last axis of extent 1 that only one tensor has is removed; beside (n, 1), a
/// vector (n,) becomes (n, 1). Other tensors do not change.
struct SameRank {
  Tensor x, y;
};
SameRank to_same_rank(const Tensor& x, const Tensor& y);

/// Returns the targets in the dtype of the predictions, and both tensors with equal rank. Throws ValueError,
/// naming the loss and both shapes, unless the shapes are then equal: targets (n, 1) do not fit predictions
/// (n, 2).
SameRank like_predictions(const char* loss, const Tensor& y_true, const Tensor& y_pred);

/// Returns the values, weighted and reduced. The axes of weights and mask are the first axes of the values:
/// weights (samples,) hold for all steps of values (samples, steps). Values whose mask is 0 do not count; for
/// a mean the mask also scales the weights, so that the mean is over the unmasked values. Weights and mask
/// may be undefined. Throws ValueError, naming the loss and both shapes, for shapes that do not fit.
Tensor reduce_values(const std::string& loss, const Tensor& values, const Tensor& sample_weight,
                     const Tensor& mask, Reduction reduction);

}  // namespace ktape::nn
