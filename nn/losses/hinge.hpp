#pragma once
#include <ktape/nn/losses/loss.hpp>

/// Hinge losses, which require a margin; losses/functions.hpp has the formulas.
///
///     model.compile({.loss = nn::Hinge({.reduction = "sum"})});
namespace ktape::nn {

/// max(1 - y_true * y_pred, 0), with labels -1 and 1, or 0 and 1.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::Hinge()(y, p) << " " << nn::losses::hinge(y, p);
class Hinge : public Loss {
 public:
  Hinge(const LossOptions& options = {});
};

/// max(1 - y_true * y_pred, 0)^2, with labels -1 and 1, or 0 and 1.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::SquaredHinge()(y, p) << " " << nn::losses::squared_hinge(y, p);
class SquaredHinge : public Loss {
 public:
  SquaredHinge(const LossOptions& options = {});
};

/// max(1 + the largest wrong prediction - the right prediction, 0), with one-hot targets.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::CategoricalHinge()(y, p) << " "
///               << nn::losses::categorical_hinge(y, p);
class CategoricalHinge : public Loss {
 public:
  CategoricalHinge(const LossOptions& options = {});
};

}  // namespace ktape::nn
