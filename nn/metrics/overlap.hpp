#pragma once
#include <ktape/nn/metrics/metric.hpp>

#include <optional>
#include <vector>

/// Metrics of the overlap of predicted and true classes.
namespace ktape::nn {

struct FBetaScoreOptions {
  OptionalString average = {};           ///< "micro", "macro", "weighted", or None: a score for each class
  double beta = 1;                       ///< how much more recall counts than precision
  std::optional<double> threshold = {};  ///< None: only the largest prediction of a sample is positive
  std::string name = {};
};
/// (1 + beta^2) precision recall / (beta^2 precision + recall) of each class of (samples, classes). Throws
/// ValueError for tensors of another rank and options out of range.
///
///     nn::FBetaScore metric({.beta = 2, .threshold = 0.5});
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class FBetaScore : public Metric {
 public:
  FBetaScore(const FBetaScoreOptions& options = {});
};

struct F1ScoreOptions {
  OptionalString average = {};
  std::optional<double> threshold = {};
  std::string name = {};
};
/// FBetaScore with beta = 1.
///
///     nn::F1Score metric({.threshold = 0.5});
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class F1Score : public Metric {
 public:
  F1Score(const F1ScoreOptions& options = {});
};

struct IoUOptions {
  std::int64_t num_classes = 0;
  std::vector<std::int64_t> target_class_ids = {};
  std::string name = {};
  std::optional<std::int64_t> ignore_class = {};  ///< targets of this class do not count
  bool sparse_y_true = true;                      ///< whether targets are class numbers instead of vectors
  bool sparse_y_pred = true;
  int axis = -1;  ///< the axis of the classes
};
/// Intersection over union of true and predicted classes, averaged over the target classes that occur.
/// Throws ValueError for class numbers outside of [0, num_classes), and for more than 2^20 classes.
///
///     nn::IoU metric({.num_classes = 2, .target_class_ids = {1}});
///     metric.update_state(K::constant({0., 1., 1., 0.}), K::constant({0., 1., 0., 0.}));
///     std::cout << metric.result();
class IoU : public Metric {
 public:
  IoU(const IoUOptions& options);
};

struct MeanIoUOptions {
  std::int64_t num_classes = 0;
  std::string name = {};
  std::optional<std::int64_t> ignore_class = {};
  bool sparse_y_true = true;
  bool sparse_y_pred = true;
  int axis = -1;
};
/// IoU, averaged over all classes.
///
///     nn::MeanIoU metric({.num_classes = 2});
///     metric.update_state(K::constant({0., 1., 1., 0.}), K::constant({0., 1., 0., 0.}));
///     std::cout << metric.result();
class MeanIoU : public Metric {
 public:
  MeanIoU(const MeanIoUOptions& options);
};

struct BinaryIoUOptions {
  std::vector<std::int64_t> target_class_ids = {0, 1};
  double threshold = 0.5;  ///< predictions of at least the threshold are class 1
  std::string name = {};
};

/// IoU of two classes, with predictions between 0 and 1 that a threshold turns into classes.
///
///     nn::BinaryIoU metric({.target_class_ids = {1}});
///     metric.update_state(K::constant({0., 1., 1., 0.}),
///                         K::constant({0.1, 0.8, 0.4, 0.3}));
///     std::cout << metric.result();
class BinaryIoU : public Metric {
 public:
  BinaryIoU(const BinaryIoUOptions& options = {});
};

struct OneHotIoUOptions {
  std::int64_t num_classes = 0;
  std::vector<std::int64_t> target_class_ids = {};
  std::string name = {};
  std::optional<std::int64_t> ignore_class = {};
  bool sparse_y_pred = false;
  int axis = -1;
};
/// IoU of one-hot targets.
///
///     nn::OneHotIoU metric({.num_classes = 2, .target_class_ids = {1}});
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class OneHotIoU : public Metric {
 public:
  OneHotIoU(const OneHotIoUOptions& options);
};

struct OneHotMeanIoUOptions {
  std::int64_t num_classes = 0;
  std::string name = {};
  std::optional<std::int64_t> ignore_class = {};
  bool sparse_y_pred = false;
  int axis = -1;
};

/// IoU of one-hot targets, averaged over all classes.
///
///     nn::OneHotMeanIoU metric({.num_classes = 2});
///     metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
///                         K::constant({{0.2, 0.8}, {0.4, 0.6}}));
///     std::cout << metric.result();
class OneHotMeanIoU : public Metric {
 public:
  OneHotMeanIoU(const OneHotMeanIoUOptions& options);
};

}  // namespace ktape::nn
