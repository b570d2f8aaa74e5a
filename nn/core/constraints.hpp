#pragma once
#include <ktape/autograd/variable.hpp>
#include <ktape/nn/core/object.hpp>

#include <string>

namespace ktape::nn {

/// The base class of constraints.
///
///     struct RoundImpl : nn::ConstraintImpl {
///       std::string class_name() const override { return "Round"; }
///       Tensor call(const Tensor& x) const override { return K::round(x); }
///     };
///     std::cout << nn::ConstraintOf<RoundImpl>()(K::constant({1.2, -2.7}));
class ConstraintImpl : public FunctionObject<Tensor, const Tensor&> {
 public:
  static constexpr const char* kind = "constraint";
};

/// A function from a weight to an allowed weight of equal shape, which optimizers apply after each update:
/// given by name ("non_neg"), as an object, or as any callable.
///
///     nn::Constraint constraint = "non_neg";
///     std::cout << constraint(K::constant({-1., 2.}));
class Constraint : public FunctionHandle<ConstraintImpl> {
 public:
  using FunctionHandle::FunctionHandle;
  Tensor operator()(const Tensor& w) const { return impl().call(w); }
  /// Returns the function that a Variable takes; empty for None.
  ktape::Constraint function() const;
};

/// A handle to a constraint class of a user.
template <class Implementation>
using ConstraintOf = HandleOf<Constraint, Implementation>;

/// Options of MaxNorm. A norm is sqrt(sum(w^2)) along the axes: axis 0 gives the norm of each column of a
/// Dense kernel, axes {0, 1, 2} the norm of each filter of a Conv2D kernel. Divisions by a norm add
/// K::epsilon() to the norm.
struct MaxNormOptions {
  double max_value = 2;
  Axes axis = 0;
};
/// A constraint that scales weights with a norm above max_value down to max_value.
///
///     nn::MaxNorm constraint({.max_value = 1, .axis = 1});
///     std::cout << constraint(K::constant({{3., -4.}}));
class MaxNorm : public Constraint {
 public:
  MaxNorm(const MaxNormOptions& options = {});
  explicit MaxNorm(double max_value) : MaxNorm(MaxNormOptions{max_value}) {}
};

/// A constraint that sets negative elements to 0.
///
///     nn::NonNeg constraint;
///     std::cout << constraint(K::constant({{3., -4.}}));
class NonNeg : public Constraint {
 public:
  NonNeg();
};

struct UnitNormOptions {
  Axes axis = 0;
};
/// A constraint that scales weights to norm 1.
///
///     nn::UnitNorm constraint({.axis = 1});
///     std::cout << constraint(K::constant({{3., -4.}}));
class UnitNorm : public Constraint {
 public:
  UnitNorm(const UnitNormOptions& options = {});
};

struct MinMaxNormOptions {
  double min_value = 0, max_value = 1;
  double rate = 1;  ///< the part of the way to the nearest allowed norm: 1 goes all the way
  Axes axis = 0;
};
/// A constraint that scales weights such that their norms lie in [min_value, max_value].
///
///     nn::MinMaxNorm constraint({.min_value = 1, .max_value = 2, .axis = 1});
///     std::cout << constraint(K::constant({{3., -4.}}));
class MinMaxNorm : public Constraint {
 public:
  MinMaxNorm(const MinMaxNormOptions& options = {});
};

/// Keras's other names of the constraints: `nn::constraints::max_norm(2)`.
namespace constraints {
using nn::MaxNorm, nn::MinMaxNorm, nn::NonNeg, nn::UnitNorm;
using max_norm = MaxNorm;
using min_max_norm = MinMaxNorm;
using non_neg = NonNeg;
using unit_norm = UnitNorm;
}  // namespace constraints

}  // namespace ktape::nn
