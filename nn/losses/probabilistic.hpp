#pragma once
#include <ktape/nn/losses/loss.hpp>

#include <vector>

/// Losses of probabilities, or of logits with `from_logits`; losses/functions.hpp has the formulas.
///
///     model.compile({.loss = nn::BinaryCrossentropy({.from_logits = true})});
namespace ktape::nn {

struct BinaryCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};

/// The crossentropy of two classes, -(t log(p) + (1 - t) log(1 - p)), with targets t of 0 and 1.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::BinaryCrossentropy()(y, p) << " "
///               << nn::losses::binary_crossentropy(y, p) << "\n"
///               << nn::BinaryCrossentropy({.label_smoothing = 0.2})(y, p) << " "
///               << nn::losses::binary_crossentropy(y, p, {.label_smoothing = 0.2});
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

/// The binary crossentropy times (1 - q)^gamma, where q is the probability of the true class: easy samples
/// count less.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::BinaryFocalCrossentropy()(y, p) << " "
///               << nn::losses::binary_focal_crossentropy(y, p) << "\n"
///               << nn::BinaryFocalCrossentropy({.gamma = 1})(y, p) << " "
///               << nn::losses::binary_focal_crossentropy(y, p, {.gamma = 1});
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

/// The crossentropy -sum(t log(p)) of several classes, with one-hot targets in the shape of the
/// predictions.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::CategoricalCrossentropy()(y, p) << " "
///               << nn::losses::categorical_crossentropy(y, p) << "\n"
///               << nn::CategoricalCrossentropy({.label_smoothing = 0.2})(y, p) << " "
///               << nn::losses::categorical_crossentropy(y, p, {.label_smoothing = 0.2});
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

/// -sum(alpha (1 - p)^gamma t log(p)), with one-hot targets: easy samples count less.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::CategoricalFocalCrossentropy()(y, p) << " "
///               << nn::losses::categorical_focal_crossentropy(y, p) << "\n"
///               << nn::CategoricalFocalCrossentropy({.gamma = 1})(y, p) << " "
///               << nn::losses::categorical_focal_crossentropy(y, p, {.gamma = 1});
class CategoricalFocalCrossentropy : public Loss {
 public:
  CategoricalFocalCrossentropy(const CategoricalFocalCrossentropyOptions& options = {});
};

struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false;
  std::optional<std::int64_t> ignore_class = {};
  Reduction reduction = "sum_over_batch_size";
  int axis = -1;
  std::string name = {};
};

/// The crossentropy -log(p[t]) of several classes, with class numbers as targets. Samples of
/// `ignore_class` do not count, also not in the mean.
///
///     Tensor y = K::constant({1, 0}, {.dtype = "int32"}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::SparseCategoricalCrossentropy()(y, p) << " "
///               << nn::losses::sparse_categorical_crossentropy(y, p) << "\n";
///     Tensor scores = K::log(p);
///     std::cout << nn::SparseCategoricalCrossentropy({.from_logits = true})(y, scores)
///               << " "
///               << nn::losses::sparse_categorical_crossentropy(y, scores,
///                                                              {.from_logits = true});
class SparseCategoricalCrossentropy : public Loss {
 public:
  SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options = {});
};

struct CategoricalGeneralizedCrossEntropyOptions {
  double q = 0.5;
  Reduction reduction = "sum_over_batch_size";
  std::string name = {};
};

/// (1 - p[t]^q) / q, with class numbers as targets: a loss that bears wrong labels. Throws ValueError
/// unless 0 < q < 1.
///
///     Tensor y = K::constant({1, 0}), p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::CategoricalGeneralizedCrossEntropy()(y, p) << " "
///               << nn::losses::categorical_generalized_cross_entropy(y, p) << "\n"
///               << nn::CategoricalGeneralizedCrossEntropy({.q = 0.9})(y, p);
class CategoricalGeneralizedCrossEntropy : public Loss {
 public:
  CategoricalGeneralizedCrossEntropy(const CategoricalGeneralizedCrossEntropyOptions& options = {});
};

/// The divergence sum(t log(t / p)) of the predicted from the true distribution.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::KLDivergence()(y, p) << " " << nn::losses::kl_divergence(y, p);
class KLDivergence : public Loss {
 public:
  KLDivergence(const LossOptions& options = {});
};

/// p - t log(p), for counts that follow a Poisson distribution.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
///     std::cout << nn::Poisson()(y, p) << " " << nn::losses::poisson(y, p);
class Poisson : public Loss {
 public:
  Poisson(const LossOptions& options = {});
};

}  // namespace ktape::nn
