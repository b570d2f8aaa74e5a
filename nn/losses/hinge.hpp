#pragma once
#include <ktape/nn/losses/loss.hpp>

/// Losses that ask for a margin. Functions give a value for each sample, over the last axis; y_pred is
/// floating. Labels of `hinge` and `squared_hinge` are -1 and 1; where all of them are 0 or 1, 0 stands for
/// -1.
namespace ktape::nn {

namespace losses {

/// mean(max(1 - y_true * y_pred, 0)).
Tensor hinge(const Tensor& y_true, const Tensor& y_pred);
/// mean(max(1 - y_true * y_pred, 0)^2).
Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred);
/// max(1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred), 0); y_true holds one-hot vectors.
Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred);

}  // namespace losses

class Hinge : public Loss {
 public:
  Hinge(const LossOptions& options = {});
};
class SquaredHinge : public Loss {
 public:
  SquaredHinge(const LossOptions& options = {});
};
class CategoricalHinge : public Loss {
 public:
  CategoricalHinge(const LossOptions& options = {});
};

}  // namespace ktape::nn
