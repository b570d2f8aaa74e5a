#pragma once
#include <ktape/nn/metrics/metric.hpp>

/// Accuracies: the share of right predictions, which is the mean of a 1 or 0 for each sample.
namespace ktape::nn {

/// Binary where predictions have one value, else sparse where targets lack the axis of the classes or have 1
/// there, else categorical; decided by the first batch.
std::shared_ptr<MetricImpl> accuracy_by_shape(const std::string& name);

/// y_true == y_pred.
class Accuracy : public Metric {
 public:
  Accuracy(const MetricOptions& options = {});
};

struct BinaryAccuracyOptions {
  std::string name = {};
  double threshold = 0.5;  ///< predictions above the threshold are class 1
};
class BinaryAccuracy : public Metric {
 public:
  BinaryAccuracy(const BinaryAccuracyOptions& options = {});
};

/// The share of samples whose one-hot targets and predictions have their largest values at one place; of
/// equal values, the first counts.
class CategoricalAccuracy : public Metric {
 public:
  CategoricalAccuracy(const MetricOptions& options = {});
};

/// Whether the largest of the predictions is at the place that the target, a class number, names. Throws
/// ValueError for a target that is a fraction or NaN.
class SparseCategoricalAccuracy : public Metric {
 public:
  SparseCategoricalAccuracy(const MetricOptions& options = {});
};

struct TopKOptions {
  std::int64_t k = 5;
  std::string name = {};
};
/// Whether the target's class is among the k most probable.
class TopKCategoricalAccuracy : public Metric {
 public:
  TopKCategoricalAccuracy(const TopKOptions& options = {});
};
class SparseTopKCategoricalAccuracy : public Metric {
 public:
  SparseTopKCategoricalAccuracy(const TopKOptions& options = {});
};

}  // namespace ktape::nn
