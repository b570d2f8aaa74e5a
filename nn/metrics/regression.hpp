#pragma once
#include <ktape/nn/losses/probabilistic.hpp>
#include <ktape/nn/metrics/metric.hpp>

/// Metrics that are the mean of the loss with the same name as the class, and other metrics of regression.
/// Metrics that share their name with a loss are in the namespace `metrics` only.
namespace ktape::nn {

namespace metrics {

/// mean((y_true - y_pred)^2).
///
///     nn::metrics::MeanSquaredError metric;
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class MeanSquaredError : public Metric {
 public:
  MeanSquaredError(const MetricOptions& options = {});
};
/// mean(|y_true - y_pred|).
///
///     nn::metrics::MeanAbsoluteError metric;
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class MeanAbsoluteError : public Metric {
 public:
  MeanAbsoluteError(const MetricOptions& options = {});
};
/// 100 * mean(|y_true - y_pred| / max(|y_true|, epsilon)).
///
///     nn::metrics::MeanAbsolutePercentageError metric;
///     metric.update_state(K::constant({{1., 2.}, {4., 5.}}),
///                         K::constant({{1.1, 2.}, {3., 6.}}));
///     std::cout << metric.result();
class MeanAbsolutePercentageError : public Metric {
 public:
  MeanAbsolutePercentageError(const MetricOptions& options = {});
};
/// mean((log(1 + y_true) - log(1 + y_pred))^2).
///
///     nn::metrics::MeanSquaredLogarithmicError metric;
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class MeanSquaredLogarithmicError : public Metric {
 public:
  MeanSquaredLogarithmicError(const MetricOptions& options = {});
};
/// mean(max(1 - y_true * y_pred, 0)).
///
///     nn::metrics::Hinge metric;
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class Hinge : public Metric {
 public:
  Hinge(const MetricOptions& options = {});
};
/// mean(max(1 - y_true * y_pred, 0)^2).
///
///     nn::metrics::SquaredHinge metric;
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class SquaredHinge : public Metric {
 public:
  SquaredHinge(const MetricOptions& options = {});
};
/// max(1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred), 0).
///
///     nn::metrics::CategoricalHinge metric;
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class CategoricalHinge : public Metric {
 public:
  CategoricalHinge(const MetricOptions& options = {});
};
/// sum(y_true * log(y_true / y_pred)).
///
///     nn::metrics::KLDivergence metric;
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class KLDivergence : public Metric {
 public:
  KLDivergence(const MetricOptions& options = {});
};
/// mean(y_pred - y_true * log(y_pred)).
///
///     nn::metrics::Poisson metric;
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class Poisson : public Metric {
 public:
  Poisson(const MetricOptions& options = {});
};

/// Options of `CosineSimilarity`.
///
///     nn::metrics::CosineSimilarity metric({.axis = 1});
///     metric.update_state(K::constant({{0., 1.}}), K::constant({{1., 1.}}));
///     std::cout << metric.result();
struct CosineSimilarityOptions {
  std::string name = {};
  int axis = -1;
};
/// The cosine of the angle between y_true and y_pred: 1 for vectors of equal direction (the loss has the
/// opposite sign).
///
///     nn::metrics::CosineSimilarity metric;
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class CosineSimilarity : public Metric {
 public:
  CosineSimilarity(const CosineSimilarityOptions& options = {});
};

/// Options of `BinaryCrossentropy`.
///
///     nn::metrics::BinaryCrossentropy metric({.from_logits = true});
///     metric.update_state(K::constant({0., 1.}), K::constant({-1., 2.}));
///     std::cout << metric.result();
struct BinaryCrossentropyOptions {
  std::string name = {};
  bool from_logits = false;
  double label_smoothing = 0;
};

/// The mean of the loss BinaryCrossentropy.
///
///     nn::metrics::BinaryCrossentropy metric;
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class BinaryCrossentropy : public Metric {
 public:
  BinaryCrossentropy(const BinaryCrossentropyOptions& options = {});
};

/// Options of `CategoricalCrossentropy`.
///
///     nn::metrics::CategoricalCrossentropy metric({.from_logits = true});
///     metric.update_state(K::constant({{0., 1.}}), K::constant({{-1., 2.}}));
///     std::cout << metric.result();
struct CategoricalCrossentropyOptions {
  std::string name = {};
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
};

/// The mean of the loss CategoricalCrossentropy.
///
///     nn::metrics::CategoricalCrossentropy metric;
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class CategoricalCrossentropy : public Metric {
 public:
  CategoricalCrossentropy(const CategoricalCrossentropyOptions& options = {});
};

/// Options of `SparseCategoricalCrossentropy`.
///
///     nn::metrics::SparseCategoricalCrossentropy metric({.from_logits = true});
///     metric.update_state(K::constant({1.}), K::constant({{-1., 2.}}));
///     std::cout << metric.result();
struct SparseCategoricalCrossentropyOptions {
  std::string name = {};
  bool from_logits = false;
  int axis = -1;
};

/// The mean of the loss SparseCategoricalCrossentropy.
///
///     nn::metrics::SparseCategoricalCrossentropy metric;
///     metric.update_state(K::constant({1., 0.}), K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class SparseCategoricalCrossentropy : public Metric {
 public:
  SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options = {});
};

}  // namespace metrics

/// sqrt(mean((y_true - y_pred)^2)), with the mean over all batches.
///
///     nn::RootMeanSquaredError metric;
///     metric.update_state(K::constant({1., 2.}), K::constant({1., 4.}));
///     std::cout << metric.result();
class RootMeanSquaredError : public Metric {
 public:
  RootMeanSquaredError(const MetricOptions& options = {});
};

/// mean(log(cosh(y_pred - y_true))).
///
///     nn::LogCoshError metric;
///     metric.update_state(K::constant({1., 2.}), K::constant({1., 4.}));
///     std::cout << metric.result();
class LogCoshError : public Metric {
 public:
  LogCoshError(const MetricOptions& options = {});
};

struct CorrelationOptions {
  std::string name = {};
  int axis = -1;
};
/// Pearson's correlation of y_true and y_pred along the axis, averaged over the samples.
///
///     nn::PearsonCorrelation metric({.axis = 0});
///     metric.update_state(K::constant({{1.}, {2.}, {3.}}),
///                         K::constant({{1.}, {2.}, {4.}}));
///     std::cout << metric.result();
class PearsonCorrelation : public Metric {
 public:
  PearsonCorrelation(const CorrelationOptions& options = {});
};
/// A correlation that is smaller where means and variances differ: 2 cov(y_true, y_pred) / (var(y_true) +
/// var(y_pred) + (mean(y_true) - mean(y_pred))^2).
///
///     nn::ConcordanceCorrelation metric;
///     metric.update_state(K::constant({{1., 2., 3.}}), K::constant({{1., 2., 4.}}));
///     std::cout << metric.result();
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
///
///     nn::R2Score mean, each({.class_aggregation = None});
///     for (nn::R2Score metric : {mean, each}) {
///       metric.update_state(K::constant({{1., 5.}, {2., 6.}, {3., 9.}}),
///                           K::constant({{1.1, 5.}, {2., 7.}, {2.7, 8.}}));
///       std::cout << metric.result() << "\n";
///     }
class R2Score : public Metric {
 public:
  R2Score(const R2ScoreOptions& options = {});
};

}  // namespace ktape::nn
