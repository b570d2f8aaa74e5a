#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// Layers that work against overfitting: in training they disturb their input, in inference they return it.
/// Masks pass.
namespace ktape::nn {

struct DropoutOptions {
  OptionalShape noise_shape =
      {};  ///< the shape of the random decisions; None is the input's extent; by default the input's shape
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// In training, each element is 0 with the probability `rate`, and divided by 1 - rate otherwise. Throws
/// ValueError unless 0 <= rate < 1.
class Dropout : public Layer {
 public:
  explicit Dropout(double rate, const DropoutOptions& options = {});
};

struct SpatialDropoutOptions {
  std::string data_format = {};  ///< K::image_data_format() by default; sequences have their channels last
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// As Dropout, for whole channels: all steps, pixels or voxels of one are dropped together.
class SpatialDropout1D : public Layer {
 public:
  explicit SpatialDropout1D(double rate, const SpatialDropoutOptions& options = {});
};
class SpatialDropout2D : public Layer {
 public:
  explicit SpatialDropout2D(double rate, const SpatialDropoutOptions& options = {});
};
class SpatialDropout3D : public Layer {
 public:
  explicit SpatialDropout3D(double rate, const SpatialDropoutOptions& options = {});
};

struct NoiseOptions {
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// In training, x times normal numbers of mean 1 and variance rate / (1 - rate). Throws ValueError unless
/// 0 <= rate < 1.
class GaussianDropout : public Layer {
 public:
  explicit GaussianDropout(double rate, const NoiseOptions& options = {});
};

/// In training, x plus normal numbers of mean 0. Throws ValueError for a negative deviation.
class GaussianNoise : public Layer {
 public:
  explicit GaussianNoise(double stddev, const NoiseOptions& options = {});
};

struct AlphaDropoutOptions {
  OptionalShape noise_shape = {};  ///< as in Dropout
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// In training, elements become the value at which selu saturates, with the probability `rate`, and all are
/// scaled and moved so that mean 0 and variance 1 stay: for networks of selu. Throws ValueError unless
/// 0 <= rate < 1.
class AlphaDropout : public Layer {
 public:
  explicit AlphaDropout(double rate, const AlphaDropoutOptions& options = {});
};

struct ActivityRegularizationOptions {
  double l1 = 0, l2 = 0;
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Returns its input, and adds l1 * sum(|x|) + l2 * sum(x^2) per sample to the loss.
class ActivityRegularization : public Layer {
 public:
  explicit ActivityRegularization(const ActivityRegularizationOptions& options = {});
};

}  // namespace ktape::nn
