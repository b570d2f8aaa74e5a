#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/config.hpp>

#include <string>

namespace ktape::nn {

/// How the values of the samples become one loss: "sum_over_batch_size" (or "mean": their mean), "sum",
/// "mean_with_sample_weight" (the weighted mean), or "none" (None: they stay as they are). Throws ValueError
/// for another name.
class Reduction {
 public:
  enum Kind { None, Sum, Mean, WeightedMean };

  Reduction(NoneType) : kind_(None) {}
  Reduction(const char* name) : Reduction(std::string(name)) {}
  Reduction(const std::string& name);
  explicit Reduction(const Value& value);

  Kind kind() const { return kind_; }
  /// Its name, as Keras writes it.
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

/// The values, weighted and reduced. Weights have the values' shape, or broadcast to it from the left: one
/// for each sample. A mask makes what it is not 0 for count alone; in a mean it also scales the weights, so
/// that the mean is over the unmasked values. Both may be undefined. Throws ValueError for shapes that do not
/// fit.
Tensor reduce_values(const Tensor& values, const Tensor& sample_weight, const Tensor& mask,
                     Reduction reduction);

}  // namespace ktape::nn
