#pragma once
#include <ktape/nn/metrics/metric.hpp>

#include <optional>
#include <vector>

/// Counts of right and wrong binary decisions, and metrics computed from the counts. A prediction, between 0
/// and 1, is positive if it exceeds a threshold; a target is positive if it is not 0. Weights have the shape
/// of the predictions, or the shape of their first axes.
///
///     model.compile({.loss = "binary_crossentropy", .metrics = {nn::Recall({.thresholds = 0.3})}});
namespace ktape::nn {

/// Thresholds of a metric: one number, or several.
///
///     nn::Precision metric({.thresholds = {0.3}, .top_k = {}});
///     metric.update_state(K::constant({0., 1.}), K::constant({0.4, 0.8}));
///     std::cout << metric.result();
class Thresholds {
 public:
  Thresholds() = default;  ///< 0.5
  Thresholds(double threshold) : list_{threshold} {}
  Thresholds(std::initializer_list<double> thresholds) : list_(thresholds) {}
  Thresholds(std::vector<double> thresholds) : list_(std::move(thresholds)) {}
  explicit Thresholds(const Value& value);
  Value to_value() const;
  const std::vector<double>& list() const { return list_; }

 private:
  std::vector<double> list_;
};

/// Options of `TruePositives`, `FalsePositives`, `TrueNegatives` and `FalseNegatives`.
///
///     nn::TruePositives metric({.thresholds = {0.3, 0.5}});
///     metric.update_state(K::constant({0., 1.}), K::constant({0.4, 0.45}));
///     std::cout << metric.result();
struct CountOptions {
  Thresholds thresholds = {};  ///< in [0, 1] (ValueError); several thresholds give a vector of results
  std::string name = {};
};

/// The number of positive predictions with a positive target.
///
///     nn::TruePositives metric;
///     metric.update_state(K::constant({0., 1., 1., 0.}),
///                         K::constant({0.1, 0.8, 0.4, 0.3}));
///     std::cout << metric.result();
class TruePositives : public Metric {
 public:
  TruePositives(const CountOptions& options = {});
};

/// The number of positive predictions with a negative target.
///
///     nn::FalsePositives metric;
///     metric.update_state(K::constant({0., 1., 1., 0.}),
///                         K::constant({0.1, 0.8, 0.4, 0.3}));
///     std::cout << metric.result();
class FalsePositives : public Metric {
 public:
  FalsePositives(const CountOptions& options = {});
};

/// The number of negative predictions with a negative target.
///
///     nn::TrueNegatives metric;
///     metric.update_state(K::constant({0., 1., 1., 0.}),
///                         K::constant({0.1, 0.8, 0.4, 0.3}));
///     std::cout << metric.result();
class TrueNegatives : public Metric {
 public:
  TrueNegatives(const CountOptions& options = {});
};

/// The number of negative predictions with a positive target.
///
///     nn::FalseNegatives metric;
///     metric.update_state(K::constant({0., 1., 1., 0.}),
///                         K::constant({0.1, 0.8, 0.4, 0.3}));
///     std::cout << metric.result();
class FalseNegatives : public Metric {
 public:
  FalseNegatives(const CountOptions& options = {});
};

struct PrecisionOptions {
  Thresholds thresholds = {};
  std::optional<int> top_k = {};     ///< only the k largest predictions of a sample can be positive
  std::optional<int> class_id = {};  ///< the only class (of the last axis) that counts; all by default
  std::string name = {};
};
/// True positives / predicted positives, 0 without predicted positives.
///
///     nn::Precision metric({.thresholds = {0.2, 0.5}});
///     metric.update_state(K::constant({0., 1., 1., 0.}),
///                         K::constant({0.1, 0.8, 0.4, 0.3}));
///     std::cout << metric.result();
class Precision : public Metric {
 public:
  Precision(const PrecisionOptions& options = {});
};
/// True positives / positives, 0 without positives.
///
///     nn::Recall metric({.thresholds = {0.2, 0.5}});
///     metric.update_state(K::constant({0., 1., 1., 0.}),
///                         K::constant({0.1, 0.8, 0.4, 0.3}));
///     std::cout << metric.result();
class Recall : public Metric {
 public:
  Recall(const PrecisionOptions& options = {});
};

/// The best value of one rate over the thresholds between 0 and 1 at which another rate is at least the given
/// value; 0 if there is no such threshold. Throws ValueError for a wanted rate outside of [0, 1] and for less
/// than 1 or more than 2^20 thresholds.
struct SensitivityAtSpecificityOptions {
  double specificity = 0;
  int num_thresholds = 200;
  std::optional<int> class_id = {};
  std::string name = {};
};

/// The best sensitivity (true positive rate) at a specificity of at least `specificity`.
///
///     nn::SensitivityAtSpecificity metric({.specificity = 0.5});
///     metric.update_state(K::constant({0., 1., 1., 0.}),
///                         K::constant({0.1, 0.8, 0.4, 0.3}));
///     std::cout << metric.result();
class SensitivityAtSpecificity : public Metric {
 public:
  SensitivityAtSpecificity(const SensitivityAtSpecificityOptions& options);
  explicit SensitivityAtSpecificity(double specificity)
      : SensitivityAtSpecificity(SensitivityAtSpecificityOptions{specificity}) {}
};

struct SpecificityAtSensitivityOptions {
  double sensitivity = 0;
  int num_thresholds = 200;
  std::optional<int> class_id = {};
  std::string name = {};
};

/// The best specificity (true negative rate) at a sensitivity of at least `sensitivity`.
///
///     nn::SpecificityAtSensitivity metric({.sensitivity = 0.5});
///     metric.update_state(K::constant({0., 1., 1., 0.}),
///                         K::constant({0.1, 0.8, 0.4, 0.3}));
///     std::cout << metric.result();
class SpecificityAtSensitivity : public Metric {
 public:
  SpecificityAtSensitivity(const SpecificityAtSensitivityOptions& options);
  explicit SpecificityAtSensitivity(double sensitivity)
      : SpecificityAtSensitivity(SpecificityAtSensitivityOptions{sensitivity}) {}
};

struct PrecisionAtRecallOptions {
  double recall = 0;
  int num_thresholds = 200;
  std::optional<int> class_id = {};
  std::string name = {};
};

/// The best precision at a recall of at least `recall`.
///
///     nn::PrecisionAtRecall metric({.recall = 0.5});
///     metric.update_state(K::constant({0., 1., 1., 0.}),
///                         K::constant({0.1, 0.8, 0.4, 0.3}));
///     std::cout << metric.result();
class PrecisionAtRecall : public Metric {
 public:
  PrecisionAtRecall(const PrecisionAtRecallOptions& options);
  explicit PrecisionAtRecall(double recall) : PrecisionAtRecall(PrecisionAtRecallOptions{recall}) {}
};

struct RecallAtPrecisionOptions {
  double precision = 0;
  int num_thresholds = 200;
  std::optional<int> class_id = {};
  std::string name = {};
};

/// The best recall at a precision of at least `precision`.
///
///     nn::RecallAtPrecision metric({.precision = 0.5});
///     metric.update_state(K::constant({0., 1., 1., 0.}),
///                         K::constant({0.1, 0.8, 0.4, 0.3}));
///     std::cout << metric.result();
class RecallAtPrecision : public Metric {
 public:
  RecallAtPrecision(const RecallAtPrecisionOptions& options);
  explicit RecallAtPrecision(double precision) : RecallAtPrecision(RecallAtPrecisionOptions{precision}) {}
};

struct AUCOptions {
  int num_thresholds = 200;
  std::string curve = "ROC";                       ///< "ROC" or "PR"
  std::string summation_method = "interpolation";  ///< "interpolation", "minoring" or "majoring"
  std::string name = {};
  std::optional<std::vector<double>> thresholds = {};  ///< replaces the evenly spaced thresholds
  bool multi_label = false;  ///< whether the result is the mean of the areas of all columns
  std::optional<int> num_labels = {};
  std::optional<std::vector<double>> label_weights = {};  ///< the weight of each column in the mean
  bool from_logits = false;
};
/// The area under the curve of true against false positive rates, or of precision against recall (between
/// thresholds as Davis and Goadrich interpolate). Throws ValueError for an unknown curve or method, and for
/// less than 2 or more than 2^20 thresholds.
///
///     nn::AUC roc, pr({.curve = "PR"});
///     for (nn::AUC metric : {roc, pr}) {
///       metric.update_state(K::constant({0., 1., 1., 0.}),
///                           K::constant({0.1, 0.8, 0.3, 0.4}));
///       std::cout << metric.result() << "\n";
///     }
class AUC : public Metric {
 public:
  AUC(const AUCOptions& options = {});
};

}  // namespace ktape::nn
