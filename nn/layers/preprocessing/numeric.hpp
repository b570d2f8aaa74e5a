#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/layer.hpp>

/// Preprocessing of numbers: normalization, rescaling, and sorting into bins.
namespace ktape::nn {

struct NormalizationOptions {
  Axes axis = -1;  ///< axes whose indices have separate means; None: one mean for all elements
  ArrayLike mean = {}, variance = {};  ///< known statistics, both or neither; broadcast to `axis`
  bool invert = false;                 ///< compute the inverse: x * sqrt(variance) + mean
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that computes (x - mean) / max(sqrt(variance), 1e-7), in the layer's dtype. If mean and variance
/// are not given, `adapt` computes the mean and the population variance over all axes except `axis`, in
/// double precision over all batches. The layer then has three weights: mean and variance, with the extents
/// of `axis` in ascending order of the axes (0 and 1 before `adapt`), and count, the number of elements of
/// each mean. A vector in a dataset is one sample. The statistics broadcast to inputs of another rank than the data. The
/// output has the mask of the input.
///
/// Throws ValueError for a mean without a variance or a variance without a mean, for a mean and a variance of
/// different shapes or of a shape that does not broadcast, for an axis that the input does not have or whose
/// extent is unknown, and for `adapt` when a mean is given. Mirrors `keras.layers.Normalization`.
///
///     nn::Normalization layer;
///     layer.adapt(K::constant({{1.}, {3.}}));
///     std::cout << layer(K::constant({{1.}, {2.}})) << "\n";
///     nn::Normalization inverse({.mean = 2., .variance = 1., .invert = true});
///     std::cout << inverse(K::constant({{-1.}, {0.}}));
class Normalization : public Layer {
 public:
  explicit Normalization(const NormalizationOptions& options = {});
  Variable mean() const { return weight("mean"); }
  Variable variance() const { return weight("variance"); }
};

/// Options of `Rescaling`.
///
///     nn::Rescaling layer(1 / 127.5, {.offset = -1});
///     std::cout << layer(K::constant({0., 255.}));
struct RescalingOptions {
  ByName by_name = {};
  ArrayLike scale = {};  ///< required: the factor
  ArrayLike offset = 0.0;
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that computes x * scale + offset, in the layer's dtype: `Rescaling(1. / 255)` maps pixels to [0,
/// 1]. Scale and offset are numbers, or arrays that broadcast to x. A one-dimensional array holds a number
/// for each channel, on the channel axis of `K::image_data_format()`. The output has the mask of the input.
/// Mirrors `keras.layers.Rescaling`.
///
///     nn::Rescaling layer(1 / 255.);
///     std::cout << layer(K::constant({51., 255.}));
class Rescaling : public Layer {
 public:
  explicit Rescaling(const RescalingOptions& options);
  template <class = void>
  explicit Rescaling(const ArrayLike& scale, const RescalingOptions& options = {})
      : Rescaling(internal::with(options, &RescalingOptions::scale, scale)) {}
};

struct DiscretizationOptions {
  std::optional<std::vector<double>> bin_boundaries = {};  ///< ascending; instead of num_bins
  std::optional<std::int64_t> num_bins = {};  ///< the number of bins whose boundaries `adapt` finds
  double epsilon = 0.01;  ///< the error of the boundaries that `adapt` finds, as a fraction of the data
  std::string output_mode = "int";  ///< "int", "one_hot", "multi_hot" or "count"
  bool sparse = false;              ///< refused: outputs are dense
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype =
      {};  ///< the dtype of the output; by default int64 for "int", else floatx()
  std::string name = {};
};

/// A layer that maps numbers to bins. The boundaries b1 < b2 < ... define the bins (-inf, b1), [b1, b2), ...;
/// the bin of x is the number of boundaries that are not above x. NaN is in the last bin. "int" returns the
/// bins in the shape of x; the other modes encode the bins like CategoryEncoding.
///
/// `adapt` takes the quantiles 1 / num_bins, 2 / num_bins, ... of all elements as boundaries, computed from a
/// summary of about 1 / epsilon values, as in Keras. The boundaries then become part of the config. Throws
/// ValueError unless exactly one of `bin_boundaries` and `num_bins` is given, for boundaries that do not
/// ascend, for `adapt` without `num_bins`, and for a call before `adapt`. Mirrors
/// `keras.layers.Discretization`.
///
///     nn::Discretization layer({.bin_boundaries = std::vector{0., 1., 2.}});
///     std::cout << layer(K::constant({-0.5, 0.5, 9.}));
class Discretization : public Layer {
 public:
  explicit Discretization(const DiscretizationOptions& options = {});
};

}  // namespace ktape::nn
