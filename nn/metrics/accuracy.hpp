#pragma once
#include <ktape/nn/metrics/metric.hpp>

/// Accuracies: the share of correct predictions, which is the mean of 1 or 0 for each sample.
///
///     model.compile({.loss = "kl_divergence", .metrics = {nn::TopKCategoricalAccuracy({.k = 3})}});
namespace ktape::nn {

/// Returns the accuracy that fits the shapes of the first batch: binary if predictions have one value, sparse
/// if targets lack the axis of the classes or have extent 1 there, categorical otherwise. Internal: for "accuracy".
std::shared_ptr<MetricImpl> accuracy_by_shape(const std::string& name);

/// The mean of y_true == y_pred.
///
///     nn::Accuracy metric;
///     metric.update_state(K::constant({1., 2., 3.}), K::constant({1., 2., 4.}));
///     std::cout << metric.result();
class Accuracy : public Metric {
 public:
  Accuracy(const MetricOptions& options = {});
};

struct BinaryAccuracyOptions {
  std::string name = {};
  double threshold = 0.5;  ///< predictions above the threshold are class 1
};

/// The share of predictions on the right side of the threshold.
///
///     nn::BinaryAccuracy metric({.threshold = 0.5});
///     metric.update_state(K::constant({0., 1., 1., 0.}),
///                         K::constant({0.1, 0.8, 0.4, 0.3}));
///     std::cout << metric.result();
class BinaryAccuracy : public Metric {
 public:
  BinaryAccuracy(const BinaryAccuracyOptions& options = {});
};

/// The share of samples whose one-hot targets and predictions have their largest value at one position; of
/// equal values, the first counts.
///
///     nn::CategoricalAccuracy metric;
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class CategoricalAccuracy : public Metric {
 public:
  CategoricalAccuracy(const MetricOptions& options = {});
};

/// The share of samples whose largest prediction is at the target, a class number. Throws ValueError for a
/// target that is a fraction or NaN.
///
///     nn::SparseCategoricalAccuracy metric;
///     metric.update_state(K::constant({1., 0.}), K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class SparseCategoricalAccuracy : public Metric {
 public:
  SparseCategoricalAccuracy(const MetricOptions& options = {});
};

struct TopKOptions {
  std::int64_t k = 5;
  std::string name = {};
};
/// The share of samples whose target class is among the k largest predictions.
///
///     nn::TopKCategoricalAccuracy metric({.k = 1});
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class TopKCategoricalAccuracy : public Metric {
 public:
  TopKCategoricalAccuracy(const TopKOptions& options = {});
};

/// The share of samples whose target, a class number, is among the k largest predictions.
///
///     nn::SparseTopKCategoricalAccuracy metric({.k = 1});
///     metric.update_state(K::constant({1., 0.}), K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class SparseTopKCategoricalAccuracy : public Metric {
 public:
  SparseTopKCategoricalAccuracy(const TopKOptions& options = {});
};

}  // namespace ktape::nn
