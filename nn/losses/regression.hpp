#pragma once
#include <ktape/nn/losses/loss.hpp>

/// Losses of real numbers. Functions give a value for each sample: the mean over the last axis of
/// (samples, ..., values). y_true takes the dtype of y_pred, which is floating.
namespace ktape::nn {

namespace losses {

struct HuberFunctionOptions {
  double delta = 1;
};
struct CosineSimilarityFunctionOptions {
  int axis = -1;
};

/// mean((y_true - y_pred)^2).
Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred);
/// mean(|y_true - y_pred|).
Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred);
/// 100 * mean(|y_true - y_pred| / max(|y_true|, epsilon)).
Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred);
/// mean((log(1 + y_true) - log(1 + y_pred))^2), both at least epsilon.
Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred);
/// The mean of e^2 / 2 for errors up to delta, delta * |e| - delta^2 / 2 for larger ones.
Tensor huber(const Tensor& y_true, const Tensor& y_pred, const HuberFunctionOptions& options = {});
/// mean(log(cosh(y_pred - y_true))), for errors of any size.
Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred);
/// -sum(y_true * y_pred) along the axis, both scaled to length 1: -1 where they point the same way.
Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred,
                         const CosineSimilarityFunctionOptions& options = {});

}  // namespace losses

class MeanSquaredError : public Loss {
 public:
  MeanSquaredError(const LossOptions& options = {});
};
class MeanAbsoluteError : public Loss {
 public:
  MeanAbsoluteError(const LossOptions& options = {});
};
class MeanAbsolutePercentageError : public Loss {
 public:
  MeanAbsolutePercentageError(const LossOptions& options = {});
};
class MeanSquaredLogarithmicError : public Loss {
 public:
  MeanSquaredLogarithmicError(const LossOptions& options = {});
};
class LogCosh : public Loss {
 public:
  LogCosh(const LossOptions& options = {});
};

struct HuberOptions {
  double delta = 1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
class Huber : public Loss {
 public:
  Huber(const HuberOptions& options = {});
};

struct CosineSimilarityOptions {
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
class CosineSimilarity : public Loss {
 public:
  CosineSimilarity(const CosineSimilarityOptions& options = {});
};

}  // namespace ktape::nn
