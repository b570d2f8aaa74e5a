#pragma once
#include <ktape/nn/core/object.hpp>
#include <ktape/nn/losses/functions.hpp>
#include <ktape/nn/losses/reduction.hpp>

#include <concepts>
#include <string>

namespace ktape::nn {

/// A loss for each sample, or one value; and, if some samples do not count, the mask of the samples that
/// count.
struct LossValues {
  LossValues(Tensor values, Tensor mask = {}) : values(std::move(values)), mask(std::move(mask)) {}
  Tensor values, mask;
};

/// The base class of losses: `call(y_true, y_pred)` returns the values, before reduction.
///
///     struct SquareImpl : nn::LossImpl {
///       std::string class_name() const override { return "Square"; }
///       nn::LossValues call(const Tensor& y_true, const Tensor& y_pred) const override {
///         return K::mean(K::square(y_pred - y_true), -1);
///       }
///     };
///     std::cout << nn::LossOf<SquareImpl>()(K::constant({{1., 2.}}),
///                                           K::constant({{1., 4.}}));
class LossImpl : public FunctionObject<LossValues, const Tensor&, const Tensor&> {
 public:
  static constexpr const char* kind = "loss";
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};  ///< empty: the name of the class in Keras's spelling

  static Value known(AnyFunction function) {
    const std::string name = losses::name_of(function);
    return name.empty() ? Value() : Value(name);
  }
};

/// Options of `Loss`.
///
///     nn::Loss loss = "mse";
///     std::cout << loss(K::constant({{1.}, {2.}}), K::constant({{1.}, {4.}}),
///                       {.sample_weight = K::constant({1., 0.5})});
struct LossCallOptions {
  Tensor sample_weight = {};  ///< a factor for each sample, or for each value: 0 times NaN is NaN
  Tensor mask = {};  ///< values with mask 0 do not count, whatever they are; by default the mask of y_pred
};

/// A loss, the distance of predictions from targets: given by name ("mse"; "crossentropy" means the
/// crossentropy that fits both shapes), as an object, as a function of Keras (nn::losses::huber), or as any
/// callable of (y_true, y_pred). The callable gets targets in the dtype of floating predictions, and returns
/// one value, or a value for each sample; the values are averaged.
///
///     model.compile({.loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
///
/// For example:
///
///     nn::Loss loss = "mse";
///     std::cout << loss(K::constant({{1., 2.}}), K::constant({{1., 4.}}));
class Loss : public FunctionHandle<LossImpl> {
 public:
  using FunctionHandle::FunctionHandle;

  /// Returns the values, weighted, masked and reduced. Predictions of 16 bits are converted to floatx() first, so
  /// that models with a mixed policy have float32 losses. A last axis of extent 1 that only targets or
  /// predictions have is ignored. Throws ValueError for shapes that do not fit.
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred, const LossCallOptions& options = {}) const;
  std::string name() const;
};

/// A handle to a loss class of a user.
template <class Implementation>
using LossOf = HandleOf<Loss, Implementation>;

/// The options that all losses of Keras take: `Loss({.reduction = "sum"})`.
///
///     nn::Hinge mean, sum({.reduction = "sum"});
///     Tensor y = K::constant({{1.}, {-1.}}), p = K::constant({{0.5}, {0.5}});
///     std::cout << mean(y, p) << " " << sum(y, p);
struct LossOptions {
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};

}  // namespace ktape::nn
