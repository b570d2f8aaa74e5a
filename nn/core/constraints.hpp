#pragma once
#include <ktape/autograd/variable.hpp>
#include <ktape/nn/core/object.hpp>

#include <string>

namespace ktape::nn {

/// The class behind a Constraint.
class ConstraintImpl : public FunctionObject<Tensor, const Tensor&> {
 public:
  static constexpr const char* kind = "constraint";
};

/// Maps a weight to an allowed one of the same shape; optimizers apply it after each update. By name
/// ("non_neg"), as an object, or any callable.
class Constraint : public FunctionHandle<ConstraintImpl> {
 public:
  using FunctionHandle::FunctionHandle;
  Tensor operator()(const Tensor& w) const { return impl().call(w); }
  /// What a Variable takes; empty for None.
  ktape::Constraint function() const;
};

/// A constraint class of the user's.
template <class Implementation>
using ConstraintOf = HandleOf<Constraint, Implementation>;

/// Norms are sqrt(sum(w^2)) along the axes: 0 for each column of a Dense kernel, {0, 1, 2} for each filter of
/// a Conv2D kernel. Divisions add K::epsilon() to them.
struct MaxNormOptions {
  double max_value = 2;
  Axes axis = 0;
};
/// Scales down what has a norm above max_value.
class MaxNorm : public Constraint {
 public:
  MaxNorm(const MaxNormOptions& options = {});
  explicit MaxNorm(double max_value) : MaxNorm(MaxNormOptions{max_value}) {}
};

/// Makes negative elements 0.
class NonNeg : public Constraint {
 public:
  NonNeg();
};

struct UnitNormOptions {
  Axes axis = 0;
};
/// Scales to norm 1.
class UnitNorm : public Constraint {
 public:
  UnitNorm(const UnitNormOptions& options = {});
};

struct MinMaxNormOptions {
  double min_value = 0, max_value = 1;
  double rate = 1;  ///< how far to go towards the nearest allowed norm
  Axes axis = 0;
};
/// Scales norms into [min_value, max_value].
class MinMaxNorm : public Constraint {
 public:
  MinMaxNorm(const MinMaxNormOptions& options = {});
};

/// Keras's other names: `nn::constraints::max_norm(2)`.
namespace constraints {
using nn::MaxNorm, nn::MinMaxNorm, nn::NonNeg, nn::UnitNorm;
using max_norm = MaxNorm;
using min_max_norm = MinMaxNorm;
using non_neg = NonNeg;
using unit_norm = UnitNorm;
}  // namespace constraints

}  // namespace ktape::nn
