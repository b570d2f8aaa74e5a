#pragma once
#include <ktape/nn/core/object.hpp>
#include <ktape/ops/nn/losses.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Keras's losses as functions of (y_true, y_pred), which return a value for each sample. y_pred is floating.
/// As an argument a function stands for the loss, or the metric, of its name, with default options:
///
///     model.compile({.loss = nn::losses::binary_crossentropy, .metrics = {nn::losses::mean_absolute_error}});
namespace ktape::nn::losses {

// --- Losses of real numbers: the mean over the last axis; y_true takes the dtype of y_pred -------------------------

struct HuberFunctionOptions {
  double delta = 1;
};

struct CosineSimilarityFunctionOptions {
  int axis = -1;
};

/// Returns mean((y_true - y_pred)^2).
Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred);
/// Returns mean(|y_true - y_pred|).
Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred);
/// Returns 100 * mean(|y_true - y_pred| / max(|y_true|, epsilon)).
Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred);
/// Returns mean((log(1 + y_true) - log(1 + y_pred))^2), both at least epsilon.
Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred);
/// Returns the mean of e^2 / 2 for errors up to delta, delta * |e| - delta^2 / 2 for larger errors.
Tensor huber(const Tensor& y_true, const Tensor& y_pred, const HuberFunctionOptions& options = {});
/// Returns mean(log(cosh(y_pred - y_true))), for errors of any size.
Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred);
/// Returns -sum(y_true * y_pred) along the axis, both scaled to length 1: -1 for vectors of equal direction.
Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred,
                         const CosineSimilarityFunctionOptions& options = {});

// --- Losses of probabilities -----------------------------------------------------------------------------------

// y_pred holds probabilities or, with `from_logits`, logits; probabilities are clipped to [epsilon, 1 -
// epsilon]. If a softmax or sigmoid made the probabilities, the loss is computed from the logits, see
// ops/nn/losses.hpp.

struct BinaryCrossentropyFunctionOptions {
  bool from_logits = false;
  double label_smoothing = 0;  ///< the fraction by which targets move towards 1/2
  int axis = -1;               ///< the axis of the mean
};
/// Returns the mean along the axis of -(t log(p) + (1 - t) log(1 - p)).
Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                           const BinaryCrossentropyFunctionOptions& options = {});

struct BinaryFocalCrossentropyFunctionOptions {
  bool apply_class_balancing = false;  ///< whether class 1 has weight alpha, class 0 weight 1 - alpha
  double alpha = 0.25;
  double gamma = 2;  ///< the exponent that reduces the weight of easy samples
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
};
/// Returns the binary crossentropy with each term times (1 - q)^gamma, where q is the probability of the true
/// class.
Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                 const BinaryFocalCrossentropyFunctionOptions& options = {});

struct CategoricalCrossentropyFunctionOptions {
  bool from_logits = false;
  double label_smoothing = 0;  ///< the fraction by which targets move towards 1 / classes
  int axis = -1;               ///< the axis of the classes
};
/// Returns -sum(t log(p)) along the axis; y_true holds probabilities, such as one-hot vectors, in the shape
/// of y_pred.
Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                const CategoricalCrossentropyFunctionOptions& options = {});

struct CategoricalFocalCrossentropyFunctionOptions {
  std::vector<double> alpha = {0.25};  ///< one weight for all classes, or one weight for each class
  double gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
};
/// Returns -sum(alpha (1 - p)^gamma t log(p)) along the axis.
Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                      const CategoricalFocalCrossentropyFunctionOptions& options = {});

struct SparseCategoricalCrossentropyFunctionOptions {
  bool from_logits = false;
  std::optional<std::int64_t> ignore_class = {};  ///< targets of this class have weight 0
  int axis = -1;
};
/// Returns -log(p[t]); y_true holds class numbers, in the shape of y_pred without the axis of the classes, or
/// with extent 1 in its place. Throws ValueError for a target that is not a class.
Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                       const SparseCategoricalCrossentropyFunctionOptions& options = {});

/// Returns (1 - p[t]^q) / q: close to the crossentropy for q near 0, and to the absolute error for q near 1.
Tensor categorical_generalized_cross_entropy(const Tensor& y_true, const Tensor& y_pred, double q = 0.5);
/// Returns sum(t log(t / p)) over the last axis, both kept in [epsilon, 1].
Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred);
/// Returns mean(p - t log(p + epsilon)) over the last axis.
Tensor poisson(const Tensor& y_true, const Tensor& y_pred);

// --- Losses that ask for a margin, over the last axis -----------------------------------------------------

// Labels of `hinge` and `squared_hinge` are -1 and 1; if all labels are 0 or 1, 0 stands for -1.

/// Returns mean(max(1 - y_true * y_pred, 0)).
Tensor hinge(const Tensor& y_true, const Tensor& y_pred);
/// Returns mean(max(1 - y_true * y_pred, 0)^2).
Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred);
/// Returns max(1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred), 0); y_true holds one-hot vectors.
Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred);

// --- Losses of whole images, sequences and batches ---------------------------------------------------------------

/// Returns 1 - 2 sum(t p) / (sum(t) + sum(p) + epsilon), with sums over the axes, by default over all axes.
Tensor dice(const Tensor& y_true, const Tensor& y_pred, const Axes& axis = {});

struct TverskyFunctionOptions {
  double alpha = 0.5;  ///< the weight of false positives
  double beta = 0.5;   ///< the weight of false negatives
  Axes axis = {};
};
/// Returns 1 - sum(t p) / (sum(t p) + alpha sum((1 - t) p) + beta sum(t (1 - p)) + epsilon), with sums
/// over the axes, by default over all axes.
Tensor tversky(const Tensor& y_true, const Tensor& y_pred, const TverskyFunctionOptions& options = {});

struct CircleFunctionOptions {
  bool remove_diagonal = true;  ///< whether pairs of an embedding with itself are left out
  double gamma = 80;
  double margin = 0.4;
};
/// Computes a value for each sample from class numbers (samples,) and embeddings of length 1 (samples, size):
/// small if embeddings of a class are near each other and far from embeddings of other classes.
Tensor circle(const Tensor& y_true, const Tensor& y_pred, const CircleFunctionOptions& options = {});

/// Computes -log of the probability of all paths that spell the labels, from label sequences (samples,
/// length), in which 0 means no label, and logits (samples, steps, classes), in which class 0 is the blank.
/// All steps count. Throws ValueError for other ranks, for fewer steps than the labels need, and for a label
/// that is not a class.
Tensor ctc(const Tensor& y_true, const Tensor& y_pred);

// --- Other names in Keras --------------------------------------------------------------------------------

inline constexpr auto &mse = mean_squared_error, &MSE = mean_squared_error;
inline constexpr auto &mae = mean_absolute_error, &MAE = mean_absolute_error;
inline constexpr auto &mape = mean_absolute_percentage_error, &MAPE = mean_absolute_percentage_error;
inline constexpr auto &msle = mean_squared_logarithmic_error, &MSLE = mean_squared_logarithmic_error;
inline constexpr auto &kld = kl_divergence, &KLD = kl_divergence,
                      &kullback_leibler_divergence = kl_divergence;
inline constexpr auto& logcosh = log_cosh;

/// Returns the name of a function of this file, or of a crossentropy in `K`; empty for another function.
///
///     std::cout << nn::losses::name_of(nn::any_function(nn::losses::huber));
inline std::string name_of(AnyFunction function) {
  static const NamedFunction all[] = {
      {any_function(mean_squared_error), "mean_squared_error"},
      {any_function(mean_absolute_error), "mean_absolute_error"},
      {any_function(mean_absolute_percentage_error), "mean_absolute_percentage_error"},
      {any_function(mean_squared_logarithmic_error), "mean_squared_logarithmic_error"},
      {any_function(huber), "huber"},
      {any_function(log_cosh), "log_cosh"},
      {any_function(cosine_similarity), "cosine_similarity"},
      {any_function(binary_crossentropy), "binary_crossentropy"},
      {any_function(binary_focal_crossentropy), "binary_focal_crossentropy"},
      {any_function(categorical_crossentropy), "categorical_crossentropy"},
      {any_function(categorical_focal_crossentropy), "categorical_focal_crossentropy"},
      {any_function(sparse_categorical_crossentropy), "sparse_categorical_crossentropy"},
      {any_function(categorical_generalized_cross_entropy), "categorical_generalized_cross_entropy"},
      {any_function(kl_divergence), "kl_divergence"},
      {any_function(poisson), "poisson"},
      {any_function(hinge), "hinge"},
      {any_function(squared_hinge), "squared_hinge"},
      {any_function(categorical_hinge), "categorical_hinge"},
      {any_function(dice), "dice"},
      {any_function(tversky), "tversky"},
      {any_function(circle), "circle"},
      {any_function(ctc), "ctc"},
      {any_function(backend::binary_crossentropy), "binary_crossentropy"},
      {any_function(backend::categorical_crossentropy), "categorical_crossentropy"},
      {any_function(backend::sparse_categorical_crossentropy), "sparse_categorical_crossentropy"},
  };
  return name_in(all, function);
}

}  // namespace ktape::nn::losses
