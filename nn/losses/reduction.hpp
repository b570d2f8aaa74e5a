#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/schema/config.hpp>

#include <string>

namespace ktape::nn {

/// The reduction of the losses of samples to one value: "sum_over_batch_size" or "mean" (the mean), "sum",
/// "mean_with_sample_weight" (the weighted mean), or "none" (None: no reduction). Throws ValueError for
/// another name.
///
///     nn::MeanSquaredError loss({.reduction = "none"});
///     std::cout << loss(K::constant({{1.}, {2.}}), K::constant({{1.}, {4.}}));
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
///
///     auto [x, y] = nn::to_same_rank(K::ones({4, 1}), K::ones({4}));
///     std::cout << x.shape() << " " << y.shape();
struct SameRank {
  Tensor x, y;
};
SameRank to_same_rank(const Tensor& x, const Tensor& y);

/// Returns the targets in the dtype of the predictions, and both tensors with equal rank. Throws ValueError,
/// naming the loss and both shapes, unless the shapes are then equal: targets (n, 1) do not fit predictions
/// (n, 2).
///
///     struct PinballImpl : nn::LossImpl {
///       std::string class_name() const override { return "Pinball"; }
///       nn::LossValues call(const Tensor& y_true, const Tensor& y_pred) const override {
///         auto [y, p] = nn::like_predictions("pinball", y_true, y_pred);
///         return K::mean(K::maximum(0.9f * (y - p), 0.1f * (p - y)), -1);
///       }
///     };
///     Tensor values = K::constant({1., 2., 3.});
///     std::cout << nn::LossOf<PinballImpl>()(K::constant({{1.}, {2.}}),
///                                            K::constant({{3.}, {1.}}))
///               << "\n"
///               << nn::reduce_values("mine", values, K::constant({1., 0., 1.}), {},
///                                    "sum");
SameRank like_predictions(const char* loss, const Tensor& y_true, const Tensor& y_pred);

/// Returns the values, weighted and reduced. The axes of weights and mask are the first axes of the values:
/// weights (samples,) hold for all steps of values (samples, steps). Values whose mask is 0 do not count; for
/// a mean the mask also scales the weights, so that the mean is over the unmasked values. Weights and mask
/// may be undefined. Throws ValueError, naming the loss and both shapes, for shapes that do not fit.
Tensor reduce_values(const std::string& loss, const Tensor& values, const Tensor& sample_weight,
                     const Tensor& mask, Reduction reduction);

}  // namespace ktape::nn
