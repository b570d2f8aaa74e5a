#pragma once
#include <ktape/autograd/tensor.hpp>

/// Normalization of floating tensors. A gamma or beta that is undefined stands for None: no scale, no offset.
namespace ktape::backend {

struct BatchNormalizationOptions {
  int axis = -1;          ///< of the channels; used for rank 4 only
  double epsilon = 1e-3;  ///< added to the variance
};

/// (x - mean) / sqrt(var + epsilon) * gamma + beta. For x of rank 4 the statistics, gamma and beta have one
/// element for each channel, in any shape, and go on `axis`; for other ranks they broadcast to x as they are.
/// Throws ValueError when they do not fit. `K.batch_normalization`.
Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& beta,
                           const Tensor& gamma, const BatchNormalizationOptions& options = {});

struct NormalizationOptions {
  double epsilon = 1e-3;  ///< added to the variance
};

/// What `normalize_batch_in_training` returns; `auto [normalized, mean, variance] = ...`
struct NormalizedBatch {
  Tensor normalized, mean, variance;
};

/// x normalized with its own mean and population variance over the axes, times gamma plus beta; and these
/// statistics, whose shape is that of the other axes. So is that of gamma and beta, any shape with as many
/// elements.
///
/// As TF's fused kernel does, for rank 4 and the axes {0, 1, 2} the returned variance (not the one used) is
/// multiplied by N / (N - 1), N the size of a group, and the returned statistics carry no gradient. Throws
/// ValueError for a gamma or beta of another size and an axis out of range. `K.normalize_batch_in_training`.
NormalizedBatch normalize_batch_in_training(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                            const Axes& reduction_axes,
                                            const NormalizationOptions& options = {});

struct LayerNormalizationOptions {
  Axes axis = -1;         ///< the axes of a group, and of gamma and beta
  double epsilon = 1e-3;  ///< added to the variance
};

/// x normalized with the mean and population variance of each group along the axes, times gamma plus beta,
/// which have the extents of the axes in any shape. Throws ValueError when they do not. As Keras's layer
/// LayerNormalization.
Tensor layer_normalization(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                           const LayerNormalizationOptions& options = {});

}  // namespace ktape::backend
