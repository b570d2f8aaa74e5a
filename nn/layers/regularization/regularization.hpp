#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/layer.hpp>

/// Regularization layers of Keras. The layers for dropout and noise change the input in training only, and
/// return the input unchanged in inference. The output has the mask of the input.
///
///     nn::Dropout(0.5)
namespace ktape::nn {

struct DropoutOptions {
  std::optional<double> rate = {};  ///< required: the probability of 0
  /// The shape of the random mask, which broadcasts to the input: None stands for the extent of the input. By
  /// default the shape of the input.
  OptionalShape noise_shape = {};
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Dropout. In training, each element becomes 0 with probability `rate`, and x / (1 - rate) otherwise. Throws
/// ValueError unless 0 <= rate < 1.
///
///     nn::Dropout layer(0.5, {.seed = 7});
///     std::cout << layer(K::ones({1, 6}), {.training = true}) << " "
///               << layer(K::ones({1, 6}));
class Dropout : public Layer {
 public:
  explicit Dropout(const DropoutOptions& options);
  explicit Dropout(double rate, const DropoutOptions& options = {})
      : Dropout(internal::with("Dropout", "rate", options, &DropoutOptions::rate, rate)) {}
};

struct SpatialDropoutOptions {
  std::optional<double> rate = {};  ///< required: the probability of 0
  std::string data_format = {};     ///< K::image_data_format() by default, "channels_last" for sequences
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Dropout of whole channels of sequences. In training, all steps of a channel become 0 with probability
/// `rate`, and x / (1 - rate) otherwise. Throws ValueError unless 0 <= rate < 1.
///
///     nn::SpatialDropout1D layer(0.5, {.seed = 7});
///     std::cout << layer(K::ones({1, 3, 4}), {.training = true});
class SpatialDropout1D : public Layer {
 public:
  explicit SpatialDropout1D(const SpatialDropoutOptions& options);
  explicit SpatialDropout1D(double rate, const SpatialDropoutOptions& options = {})
      : SpatialDropout1D(
            internal::with("SpatialDropout1D", "rate", options, &SpatialDropoutOptions::rate, rate)) {}
};
/// Dropout of whole channels of images. In training, all pixels of a channel become 0 with probability
/// `rate`, and x / (1 - rate) otherwise. Throws ValueError unless 0 <= rate < 1.
///
///     nn::SpatialDropout2D layer(0.5, {.seed = 7});
///     std::cout << layer(K::ones({1, 2, 2, 3}), {.training = true}).shape();
class SpatialDropout2D : public Layer {
 public:
  explicit SpatialDropout2D(const SpatialDropoutOptions& options);
  explicit SpatialDropout2D(double rate, const SpatialDropoutOptions& options = {})
      : SpatialDropout2D(
            internal::with("SpatialDropout2D", "rate", options, &SpatialDropoutOptions::rate, rate)) {}
};
/// Dropout of whole channels of volumes. In training, all voxels of a channel become 0 with probability
/// `rate`, and x / (1 - rate) otherwise. Throws ValueError unless 0 <= rate < 1.
///
///     nn::SpatialDropout3D layer(0.5, {.seed = 7});
///     std::cout << layer(K::ones({1, 2, 2, 2, 3}), {.training = true}).shape();
class SpatialDropout3D : public Layer {
 public:
  explicit SpatialDropout3D(const SpatialDropoutOptions& options);
  explicit SpatialDropout3D(double rate, const SpatialDropoutOptions& options = {})
      : SpatialDropout3D(
            internal::with("SpatialDropout3D", "rate", options, &SpatialDropoutOptions::rate, rate)) {}
};

struct GaussianDropoutOptions {
  std::optional<double> rate = {};  ///< required: the probability of 0
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Multiplicative Gaussian noise. In training, x times normally distributed numbers of mean 1 and variance
/// rate / (1 - rate). Throws ValueError unless 0 <= rate < 1.
///
///     nn::GaussianDropout layer(0.5, {.seed = 7});
///     std::cout << layer(K::ones({1, 4}), {.training = true});
class GaussianDropout : public Layer {
 public:
  explicit GaussianDropout(const GaussianDropoutOptions& options);
  explicit GaussianDropout(double rate, const GaussianDropoutOptions& options = {})
      : GaussianDropout(
            internal::with("GaussianDropout", "rate", options, &GaussianDropoutOptions::rate, rate)) {}
};

struct GaussianNoiseOptions {
  std::optional<double> stddev = {};  ///< required: the standard deviation
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Additive Gaussian noise. In training, x plus normally distributed numbers of mean 0 and standard deviation
/// `stddev`. Throws ValueError for a negative `stddev`.
///
///     nn::GaussianNoise layer(0.1, {.seed = 7});
///     std::cout << layer(K::ones({1, 4}), {.training = true});
class GaussianNoise : public Layer {
 public:
  explicit GaussianNoise(const GaussianNoiseOptions& options);
  explicit GaussianNoise(double stddev, const GaussianNoiseOptions& options = {})
      : GaussianNoise(
            internal::with("GaussianNoise", "stddev", options, &GaussianNoiseOptions::stddev, stddev)) {}
};

struct AlphaDropoutOptions {
  std::optional<double> rate = {};  ///< required: the probability of 0
  OptionalShape noise_shape = {};   ///< the shape of the random mask, see DropoutOptions
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Dropout for networks with the activation selu. In training, an element becomes the limit of selu at minus
/// infinity with probability `rate`; a scale and an offset for all elements then keep mean 0 and variance 1.
/// Throws ValueError unless 0 <= rate < 1.
///
///     nn::AlphaDropout layer(0.5, {.seed = 7});
///     std::cout << layer(K::ones({1, 4}), {.training = true});
class AlphaDropout : public Layer {
 public:
  explicit AlphaDropout(const AlphaDropoutOptions& options);
  explicit AlphaDropout(double rate, const AlphaDropoutOptions& options = {})
      : AlphaDropout(internal::with("AlphaDropout", "rate", options, &AlphaDropoutOptions::rate, rate)) {}
};

struct ActivityRegularizationOptions {
  double l1 = 0, l2 = 0;
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
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
