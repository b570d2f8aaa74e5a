#pragma once
#include <ktape/nn/losses/loss.hpp>

/// Hinge losses, which require a margin; losses/functions.hpp has the formulas.
///
///     model.compile({.loss = nn::Hinge({.reduction = "sum"})});
namespace ktape::nn {

/// max(1 - y_true * y_pred, 0), with labels -1 and 1, or 0 and 1.
class Hinge : public Loss {
 public:
  Hinge(const LossOptions& options = {});
};

/// max(1 - y_true * y_pred, 0)^2, with labels -1 and 1, or 0 and 1.
class SquaredHinge : public Loss {
 public:
  SquaredHinge(const LossOptions& options = {});
};

/// max(1 + the largest wrong prediction - the right prediction, 0), with one-hot targets.
class CategoricalHinge : public Loss {
 public:
  CategoricalHinge(const LossOptions& options = {});
};

}  // namespace ktape::nn
