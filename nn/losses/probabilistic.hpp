#pragma once
#include <ktape/nn/losses/loss.hpp>

#include <vector>

/// Losses of probabilities. Functions give a value for each sample. y_pred is floating and holds
/// probabilities or, with `from_logits`, logits; probabilities are kept epsilon away from 0 and 1. Those that
/// a softmax or sigmoid made are not used: the loss comes from the logits behind them, see ops/losses.hpp.
namespace ktape::nn {

namespace losses {

struct BinaryCrossentropyFunctionOptions {
  bool from_logits = false;
  double label_smoothing = 0;  ///< how far targets move towards 1/2
  int axis = -1;               ///< of the mean
};
/// The mean along the axis of -(t log(p) + (1 - t) log(1 - p)).
Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                           const BinaryCrossentropyFunctionOptions& options = {});

struct BinaryFocalCrossentropyFunctionOptions {
  bool apply_class_balancing = false;  ///< whether class 1 counts alpha and class 0 counts 1 - alpha
  double alpha = 0.25;
  double gamma = 2;  ///< how much less easy samples count
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
};
/// The binary crossentropy with each term times (1 - q)^gamma, q the probability of its class.
Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                 const BinaryFocalCrossentropyFunctionOptions& options = {});

struct CategoricalCrossentropyFunctionOptions {
  bool from_logits = false;
  double label_smoothing = 0;  ///< how far targets move towards 1 / classes
  int axis = -1;               ///< of the classes
};
/// -sum(t log(p)) along the axis; y_true holds probabilities, as one-hot vectors, in the shape of y_pred.
Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                const CategoricalCrossentropyFunctionOptions& options = {});

struct CategoricalFocalCrossentropyFunctionOptions {
  std::vector<double> alpha = {0.25};  ///< one weight, or one for each class
  double gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
};
/// -sum(alpha (1 - p)^gamma t log(p)) along the axis.
Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                      const CategoricalFocalCrossentropyFunctionOptions& options = {});

struct SparseCategoricalCrossentropyFunctionOptions {
  bool from_logits = false;
  std::optional<std::int64_t> ignore_class = {};  ///< targets of it count 0
  int axis = -1;
};
/// -log(p[t]); y_true holds class numbers, in the shape of y_pred without the axis of the classes, or with 1
/// in its place. Throws ValueError for a target that is no class.
Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                       const SparseCategoricalCrossentropyFunctionOptions& options = {});

/// (1 - p[t]^q) / q: like the crossentropy for q near 0, like the absolute error for q near 1.
Tensor categorical_generalized_cross_entropy(const Tensor& y_true, const Tensor& y_pred, double q = 0.5);
/// sum(t log(t / p)) over the last axis, both kept in [epsilon, 1].
Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred);
/// mean(p - t log(p + epsilon)) over the last axis.
Tensor poisson(const Tensor& y_true, const Tensor& y_pred);

}  // namespace losses

struct BinaryCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
class BinaryCrossentropy : public Loss {
 public:
  BinaryCrossentropy(const BinaryCrossentropyOptions& options = {});
};

struct BinaryFocalCrossentropyOptions {
  bool apply_class_balancing = false;
  double alpha = 0.25;
  double gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
class BinaryFocalCrossentropy : public Loss {
 public:
  BinaryFocalCrossentropy(const BinaryFocalCrossentropyOptions& options = {});
};

struct CategoricalCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
class CategoricalCrossentropy : public Loss {
 public:
  CategoricalCrossentropy(const CategoricalCrossentropyOptions& options = {});
};

struct CategoricalFocalCrossentropyOptions {
  std::vector<double> alpha = {0.25};
  double gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
class CategoricalFocalCrossentropy : public Loss {
 public:
  CategoricalFocalCrossentropy(const CategoricalFocalCrossentropyOptions& options = {});
};

struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false;
  std::optional<std::int64_t> ignore_class = {};
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
/// Samples of the ignored class count in no mean.
class SparseCategoricalCrossentropy : public Loss {
 public:
  SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options = {});
};

struct CategoricalGeneralizedCrossEntropyOptions {
  double q = 0.5;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};
/// Throws ValueError unless 0 < q < 1.
class CategoricalGeneralizedCrossEntropy : public Loss {
 public:
  CategoricalGeneralizedCrossEntropy(const CategoricalGeneralizedCrossEntropyOptions& options = {});
};

class KLDivergence : public Loss {
 public:
  KLDivergence(const LossOptions& options = {});
};
class Poisson : public Loss {
 public:
  Poisson(const LossOptions& options = {});
};

}  // namespace ktape::nn
