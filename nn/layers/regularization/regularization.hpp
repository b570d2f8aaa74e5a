#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// Regularization layers of Keras. The layers for dropout and noise change the input in training only, and
/// return the input unchanged in inference. The output has the mask of the input.
///
///     nn::Dropout(0.5)
namespace ktape::nn {

struct DropoutOptions {
  /// The shape of the random mask, which broadcasts to the input: None stands for the extent of the input. By
  /// default the shape of the input.
  OptionalShape noise_shape = {};
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
};

/// Dropout. In training, each element becomes 0 with probability `rate`, and x / (1 - rate) otherwise. Throws
/// ValueError unless 0 <= rate < 1.
///
///     nn::Dropout layer(0.5, {.seed = 7});
///     std::cout << layer(K::ones({1, 6}), {.training = true}) << " "
///               << layer(K::ones({1, 6}));
class Dropout : public Layer {
 public:
  explicit Dropout(double rate, const DropoutOptions& options = {});
};

struct SpatialDropoutOptions {
  std::string data_format = {};  ///< K::image_data_format() by default, "channels_last" for sequences
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
};

/// Dropout of whole channels of sequences. In training, all steps of a channel become 0 with probability
/// `rate`, and x / (1 - rate) otherwise. Throws ValueError unless 0 <= rate < 1.
///
///     nn::SpatialDropout1D layer(0.5, {.seed = 7});
///     std::cout << layer(K::ones({1, 3, 4}), {.training = true});
class SpatialDropout1D : public Layer {
 public:
  explicit SpatialDropout1D(double rate, const SpatialDropoutOptions& options = {});
};
/// Dropout of whole channels of images. In training, all pixels of a channel become 0 with probability
/// `rate`, and x / (1 - rate) otherwise. Throws ValueError unless 0 <= rate < 1.
///
///     nn::SpatialDropout2D layer(0.5, {.seed = 7});
///     std::cout << layer(K::ones({1, 2, 2, 3}), {.training = true}).shape();
class SpatialDropout2D : public Layer {
 public:
  explicit SpatialDropout2D(double rate, const SpatialDropoutOptions& options = {});
};
/// Dropout of whole channels of volumes. In training, all voxels of a channel become 0 with probability
/// `rate`, and x / (1 - rate) otherwise. Throws ValueError unless 0 <= rate < 1.
///
///     nn::SpatialDropout3D layer(0.5, {.seed = 7});
///     std::cout << layer(K::ones({1, 2, 2, 2, 3}), {.training = true}).shape();
class SpatialDropout3D : public Layer {
 public:
  explicit SpatialDropout3D(double rate, const SpatialDropoutOptions& options = {});
};

struct NoiseOptions {
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
};

/// Multiplicative Gaussian noise. In training, x times normally distributed numbers of mean 1 and variance
/// rate / (1 - rate). Throws ValueError unless 0 <= rate < 1.
///
///     nn::GaussianDropout layer(0.5, {.seed = 7});
///     std::cout << layer(K::ones({1, 4}), {.training = true});
class GaussianDropout : public Layer {
 public:
  explicit GaussianDropout(double rate, const NoiseOptions& options = {});
};

/// Additive Gaussian noise. In training, x plus normally distributed numbers of mean 0 and standard deviation
/// `stddev`. Throws ValueError for a negative `stddev`.
///
///     nn::GaussianNoise layer(0.1, {.seed = 7});
///     std::cout << layer(K::ones({1, 4}), {.training = true});
class GaussianNoise : public Layer {
 public:
  explicit GaussianNoise(double stddev, const NoiseOptions& options = {});
};

struct AlphaDropoutOptions {
  OptionalShape noise_shape = {};  ///< the shape of the random mask, see DropoutOptions
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
};

/// Dropout for networks with the activation selu. In training, an element becomes the limit of selu at minus
/// infinity with probability `rate`; a scale and an offset for all elements then keep mean 0 and variance 1.
/// Throws ValueError unless 0 <= rate < 1.
///
///     nn::AlphaDropout layer(0.5, {.seed = 7});
///     std::cout << layer(K::ones({1, 4}), {.training = true});
class AlphaDropout : public Layer {
 public:
  explicit AlphaDropout(double rate, const AlphaDropoutOptions& options = {});
};

struct ActivityRegularizationOptions {
  double l1 = 0, l2 = 0;
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
};

/// A layer that returns its input, and adds l1 * sum(|x|) + l2 * sum(x^2) per sample to the loss.
///
///     nn::ActivityRegularization layer({.l2 = 0.1});
///     layer(K::ones({1, 4}));
///     std::cout << layer.losses()[0];
class ActivityRegularization : public Layer {
 public:
  explicit ActivityRegularization(const ActivityRegularizationOptions& options = {});
};

}  // namespace ktape::nn
