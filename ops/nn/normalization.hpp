#pragma once
#include <ktape/autograd/tensor.hpp>

/// Normalization of floating tensors. An undefined gamma (scale) or beta (offset) stands for None: no scale,
/// no offset.
///
/// Batch normalization of a tensor of 16 bits takes parameters and statistics of its dtype or of float32. With a
/// float32 gamma or beta the statistics of the batch are float32.
namespace ktape::backend {

struct BatchNormalizationOptions {
  int axis = -1;          ///< the axis of the channels; used for rank 4 only
  double epsilon = 1e-3;  ///< added to the variance
};

/// Returns (x - mean) / sqrt(var + epsilon) * gamma + beta. For x of rank 4 the mean, variance, gamma and
/// beta have one element for each channel, in any shape, and are applied along `axis`; for other ranks they
/// broadcast to x. Throws ValueError when the sizes do not fit. `K.batch_normalization`.
///
///     Tensor x = K::constant({{1., 10.}, {3., 30.}}), zero = K::zeros({2}),
///            one = K::ones({2});
///     Tensor mean = K::constant({2., 20.}), variance = K::constant({1., 100.});
///     std::cout << K::batch_normalization(x, mean, variance, zero, one) << "\n"
///               << K::batch_normalization(x, mean, variance, zero, one, {.epsilon = 0});
Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& beta,
                           const Tensor& gamma, const BatchNormalizationOptions& options = {});

/// Options of `normalize_batch_in_training`.
///
///     auto batch = K::normalize_batch_in_training(
///         K::constant({{1.}, {3.}}), K::ones({1}), K::zeros({1}), 0, {.epsilon = 1e-5});
///     std::cout << batch.normalized;
struct NormalizationOptions {
  double epsilon = 1e-3;  ///< added to the variance
};

/// The result of `normalize_batch_in_training`: `auto [normalized, mean, variance] = ...`
struct NormalizedBatch {
  Tensor normalized, mean, variance;
};

/// Normalizes x with its mean and population variance over the axes, multiplies by gamma and adds beta.
/// Returns the normalized tensor, the mean and the variance. The mean and variance have the shape of the axes
/// that are not reduced; gamma and beta have as many elements, in any shape.
///
/// As in TF's fused kernel, for rank 4 and the axes {0, 1, 2} the returned variance (not the variance that
/// normalizes x) is multiplied by N / (N - 1), where N is the number of elements of a group, and no gradient
/// flows through the returned mean and variance. Throws ValueError for a gamma or beta of another size and an
/// axis out of range. `K.normalize_batch_in_training`.
///
///     auto batch = K::normalize_batch_in_training(K::constant({{1.}, {3.}}),
///                                                 K::ones({1}), K::zeros({1}), 0);
///     std::cout << batch.mean << " " << batch.variance;
NormalizedBatch normalize_batch_in_training(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                            const Axes& reduction_axes,
                                            const NormalizationOptions& options = {});

struct LayerNormalizationOptions {
  Axes axis = -1;         ///< the normalized axes, which are the axes of gamma and beta
  double epsilon = 1e-3;  ///< added to the variance
};

/// Normalizes x with the mean and population variance of each group along the axes, multiplies by gamma and
/// adds beta. gamma and beta have the extents of the axes, in any shape. Throws ValueError for a gamma or
/// beta of another size. Computes Keras's layer LayerNormalization.
///
///     Tensor x = K::constant({{1., 2., 3.}});
///     std::cout << K::layer_normalization(x, K::ones({3}), K::zeros({3})) << "\n"
///               << K::layer_normalization(x, {}, {}, {.epsilon = 0});
Tensor layer_normalization(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                           const LayerNormalizationOptions& options = {});

}  // namespace ktape::backend
