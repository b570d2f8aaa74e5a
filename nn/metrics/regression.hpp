#pragma once
#include <ktape/nn/losses/probabilistic.hpp>
#include <ktape/nn/metrics/metric.hpp>

/// Metrics that are the mean of the loss with the same name as the class, and other metrics of regression.
/// Metrics that share their name with a loss are in the namespace `metrics` only.
namespace ktape::nn {

namespace metrics {

/// mean((y_true - y_pred)^2).
class MeanSquaredError : public Metric {
 public:
  MeanSquaredError(const MetricOptions& options = {});
};
/// mean(|y_true - y_pred|).
class MeanAbsoluteError : public Metric {
 public:
  MeanAbsoluteError(const MetricOptions& options = {});
};
/// 100 * mean(|y_true - y_pred| / max(|y_true|, epsilon)).
class MeanAbsolutePercentageError : public Metric {
 public:
  MeanAbsolutePercentageError(const MetricOptions& options = {});
};
/// mean((log(1 + y_true) - log(1 + y_pred))^2).
class MeanSquaredLogarithmicError : public Metric {
 public:
  MeanSquaredLogarithmicError(const MetricOptions& options = {});
};
/// mean(max(1 - y_true * y_pred, 0)).
class Hinge : public Metric {
 public:
  Hinge(const MetricOptions& options = {});
};
/// mean(max(1 - y_true * y_pred, 0)^2).
class SquaredHinge : public Metric {
 public:
  SquaredHinge(const MetricOptions& options = {});
};
/// max(1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred), 0).
class CategoricalHinge : public Metric {
 public:
  CategoricalHinge(const MetricOptions& options = {});
};
/// sum(y_true * log(y_true / y_pred)).
class KLDivergence : public Metric {
 public:
  KLDivergence(const MetricOptions& options = {});
};
/// mean(y_pred - y_true * log(y_pred)).
class Poisson : public Metric {
 public:
  Poisson(const MetricOptions& options = {});
};

struct CosineSimilarityOptions {
  std::string name = {};
  int axis = -1;
};
/// The cosine of the angle between y_true and y_pred: 1 for vectors of equal direction (the loss has the
/// opposite sign).
class CosineSimilarity : public Metric {
 public:
  CosineSimilarity(const CosineSimilarityOptions& options = {});
};

struct BinaryCrossentropyOptions {
  std::string name = {};
  bool from_logits = false;
  double label_smoothing = 0;
};

/// The mean of the loss BinaryCrossentropy.
class BinaryCrossentropy : public Metric {
 public:
  BinaryCrossentropy(const BinaryCrossentropyOptions& options = {});
};

struct CategoricalCrossentropyOptions {
  std::string name = {};
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
};

/// The mean of the loss CategoricalCrossentropy.
class CategoricalCrossentropy : public Metric {
 public:
  CategoricalCrossentropy(const CategoricalCrossentropyOptions& options = {});
};

struct SparseCategoricalCrossentropyOptions {
  std::string name = {};
  bool from_logits = false;
  int axis = -1;
};

/// The mean of the loss SparseCategoricalCrossentropy.
class SparseCategoricalCrossentropy : public Metric {
 public:
  SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options = {});
};

}  // namespace metrics

/// sqrt(mean((y_true - y_pred)^2)), with the mean over all batches.
class RootMeanSquaredError : public Metric {
 public:
  RootMeanSquaredError(const MetricOptions& options = {});
};

/// mean(log(cosh(y_pred - y_true))).
class LogCoshError : public Metric {
 public:
  LogCoshError(const MetricOptions& options = {});
};

struct CorrelationOptions {
  std::string name = {};
  int axis = -1;
};
/// Pearson's correlation of y_true and y_pred along the axis, averaged over the samples.
class PearsonCorrelation : public Metric {
 public:
  PearsonCorrelation(const CorrelationOptions& options = {});
};
/// A correlation that is smaller where means and variances differ: 2 cov(y_true, y_pred) / (var(y_true) +
/// var(y_pred) + (mean(y_true) - mean(y_pred))^2).
class ConcordanceCorrelation : public Metric {
 public:
  ConcordanceCorrelation(const CorrelationOptions& options = {});
};

struct R2ScoreOptions {
  OptionalString class_aggregation = "uniform_average";  ///< or "variance_weighted_average", or None
  int num_regressors = 0;                                ///< above 0: computes the adjusted score
  std::string name = {};
};
/// 1 - sum((y_true - y_pred)^2) / sum((y_true - mean(y_true))^2) for each output of (samples, outputs),
/// averaged. Throws ValueError for tensors of another rank.
class R2Score : public Metric {
 public:
  R2Score(const R2ScoreOptions& options = {});
};

}  // namespace ktape::nn
