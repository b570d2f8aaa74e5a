#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/core/config.hpp>

#include <string>

namespace ktape::nn {

/// The reduction of the values of the samples to one loss: "sum_over_batch_size" (or "mean": their mean),
/// "sum", "mean_with_sample_weight" (the weighted mean), or "none" (None: no reduction). Throws ValueError
/// for another name.
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

/// x and y with one rank, where they differ by an axis of extent 1 at the end: predictions (n, 1) meet
/// targets (n,). Others come back as they are.
struct SameRank {
  Tensor x, y;
};
SameRank to_same_rank(const Tensor& x, const Tensor& y);

/// Returns the targets in the dtype of the predictions, and both with one rank. Throws ValueError, naming the
/// loss and both shapes, unless they have one shape then: targets (n, 1) are none for predictions (n, 2).
SameRank like_predictions(const char* loss, const Tensor& y_true, const Tensor& y_pred);

/// Returns the values, weighted and reduced. The axes of weights and of a mask are the first ones of the
/// values: a weight (samples,) holds for all steps of values (samples, steps). What a mask is 0 for does not
/// count; in a mean the mask also scales the weights, so that the mean is over the unmasked values. Both may
/// be undefined. Throws ValueError, naming the loss and both shapes, for others.
Tensor reduce_values(const std::string& loss, const Tensor& values, const Tensor& sample_weight,
                     const Tensor& mask, Reduction reduction);

}  // namespace ktape::nn
