#pragma once
#include <ktape/nn/losses/functions.hpp>

/// Keras's metrics as functions of (y_true, y_pred), which return a value for each sample, or for each value
/// of a sample. As an argument a function stands for the metric of its name, with default options:
///
///     model.compile({.loss = "mse", .metrics = {nn::metrics::mean_absolute_error}});
namespace ktape::nn::metrics {

/// Returns 1 where targets, 0 or 1, and predictions are on the same side of the threshold, else 0.
///
///     std::cout << nn::metrics::binary_accuracy(K::constant({{0., 1.}}),
///                                               K::constant({{0.2, 0.4}}));
Tensor binary_accuracy(const Tensor& y_true, const Tensor& y_pred, double threshold = 0.5);
/// Returns 1 where one-hot targets and predictions have their largest value at one position, else 0.
///
///     Tensor y = K::constant({{0., 1.}, {1., 0.}}),
///            p = K::constant({{0.2, 0.8}, {0.4, 0.6}});
///     std::cout << nn::metrics::categorical_accuracy(y, p) << " "
///               << nn::metrics::top_k_categorical_accuracy(y, p, 2);
Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred);
/// Computes `categorical_accuracy` for class numbers as targets.
///
///     Tensor y = K::constant({1., 0.}), p = K::constant({{0.2, 0.8}, {0.4, 0.6}});
///     std::cout << nn::metrics::sparse_categorical_accuracy(y, p) << " "
///               << nn::metrics::sparse_top_k_categorical_accuracy(y, p, 2);
Tensor sparse_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred);
/// Returns 1 where the target class is among the k largest predictions, else 0.
Tensor top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, std::int64_t k = 5);
Tensor sparse_top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, std::int64_t k = 5);

using losses::binary_crossentropy, losses::binary_focal_crossentropy, losses::categorical_crossentropy,
    losses::categorical_focal_crossentropy, losses::categorical_hinge, losses::hinge, losses::huber,
    losses::kl_divergence, losses::log_cosh, losses::mean_absolute_error,
    losses::mean_absolute_percentage_error, losses::mean_squared_error,
    losses::mean_squared_logarithmic_error, losses::poisson, losses::sparse_categorical_crossentropy,
    losses::squared_hinge;
using losses::kld, losses::KLD, losses::kullback_leibler_divergence, losses::logcosh, losses::mae,
    losses::MAE, losses::mape, losses::MAPE, losses::mse, losses::MSE, losses::msle, losses::MSLE;

/// Returns the name of a function of this file, or of a loss; empty for another function.
///
///     std::cout << nn::metrics::name_of(nn::any_function(nn::metrics::binary_accuracy));
inline std::string name_of(AnyFunction function) {
  static const NamedFunction all[] = {
      {any_function(binary_accuracy), "binary_accuracy"},
      {any_function(categorical_accuracy), "categorical_accuracy"},
      {any_function(sparse_categorical_accuracy), "sparse_categorical_accuracy"},
      {any_function(top_k_categorical_accuracy), "top_k_categorical_accuracy"},
      {any_function(sparse_top_k_categorical_accuracy), "sparse_top_k_categorical_accuracy"},
  };
  const std::string name = name_in(all, function);
  return name.empty() ? losses::name_of(function) : name;
}

}  // namespace ktape::nn::metrics
