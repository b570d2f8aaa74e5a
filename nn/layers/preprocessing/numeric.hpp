#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/nn/layers/base/layer.hpp>

/// Numbers on the scale that a model wants: shifted, scaled, or sorted into bins.
namespace ktape::nn {

struct NormalizationOptions {
  Axes axis = -1;                      ///< axes with a mean for each index; None: one mean for all elements
  ArrayLike mean = {}, variance = {};  ///< known beforehand, both or neither; they broadcast to the axes
  bool invert = false;                 ///< the other way: x * sqrt(variance) + mean
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// (x - mean) / max(sqrt(variance), 1e-7), in the layer's dtype. Without a mean and variance, `adapt` finds
/// them: the mean and the population variance over all axes but those of `axis`, in double precision however
/// many batches there are. They are the weights mean and variance, with the extents of `axis` in ascending
/// order (0 and 1 before `adapt`), and count, the number of elements of each mean. Masks pass.
///
/// Throws ValueError for a mean without a variance, for shapes of the two that differ or do not broadcast,
/// for an axis that the input does not have or of unknown extent, and for `adapt` with a mean given. Mirrors
/// `keras.layers.Normalization`.
class Normalization : public Layer {
 public:
  explicit Normalization(const NormalizationOptions& options = {});
  Variable mean() const { return weight("mean"); }
  Variable variance() const { return weight("variance"); }
};

struct RescalingOptions {
  ArrayLike offset = 0.0;
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// x * scale + offset in the layer's dtype: `Rescaling(1. / 255)` brings pixels to [0, 1]. Scale and offset
/// are numbers, or arrays that broadcast to x; a list counts the channels, which are where
/// `K::image_data_format()` says. Masks pass. Mirrors `keras.layers.Rescaling`.
class Rescaling : public Layer {
 public:
  explicit Rescaling(const ArrayLike& scale, const RescalingOptions& options = {});
};

struct DiscretizationOptions {
  std::optional<std::vector<double>> bin_boundaries = {};  ///< ascending; either these or num_bins
  std::optional<std::int64_t> num_bins = {};  ///< the number of bins whose boundaries `adapt` finds
  double epsilon = 0.01;            ///< how far a boundary that `adapt` found may be from its quantile
  std::string output_mode = "int";  ///< "one_hot", "multi_hot" or "count"
  bool sparse = false;              ///< refused: outputs are dense
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};  ///< dtype of the output; by default int64 for "int", else floatx()
};

/// Numbers become numbers of bins: boundaries b1 < b2 < ... make the bins (-inf, b1), [b1, b2), ..., and the
/// bin of x is the number of boundaries not above it (NaN is in the last). What becomes of the bins is as in
/// CategoryEncoding; "int" gives them as they are, in the shape of x.
///
/// `adapt` takes the quantiles 1 / num_bins, 2 / num_bins, ... of all elements as boundaries, from a summary
/// of about 1 / epsilon values, as Keras does. The boundaries are then part of the config. Throws ValueError
/// unless just one of `bin_boundaries` and `num_bins` is given, for boundaries that do not ascend, for
/// `adapt` without `num_bins`, and for a call before `adapt`. Mirrors `keras.layers.Discretization`.
class Discretization : public Layer {
 public:
  explicit Discretization(const DiscretizationOptions& options = {});
};

}  // namespace ktape::nn
