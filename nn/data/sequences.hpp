#pragma once
#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/data/dataset.hpp>

#include <string>

/// Preparation of arrays for training: classes as vectors, sequences of equal length, windows of a series.
namespace ktape::data {

/// Returns a tensor of dtype floatx() with a new last axis that is 1 at the class and 0 elsewhere. x holds
/// classes from 0 on, in any dtype; a last axis of extent 1 is dropped. The default of num_classes is the
/// largest class + 1. Throws ValueError for a class out of range, a fraction or NaN.
/// `keras.utils.to_categorical`.
///
///     data::to_categorical(K::constant({0, 2, 1}), 3)       // ((1, 0, 0), (0, 0, 1), (0, 1, 0))
///
/// For example:
///
///     std::cout << data::to_categorical(K::constant({0, 2, 1}), 3);
Tensor to_categorical(const Tensor& x, std::optional<std::int64_t> num_classes = {});

/// Returns x divided by its norm of an order along an axis, (sum |x|^order)^(1 / order); an infinite order
/// takes the largest |x|. Rows of zeros do not change. Integers become floatx(). Throws ValueError unless the
/// order is above 0, and for an axis out of range. `keras.utils.normalize`.
///
///     std::cout << data::normalize(K::constant({{3., 4.}}));
Tensor normalize(const Tensor& x, int axis = -1, double order = 2);

struct PadSequencesOptions {
  std::optional<std::int64_t> maxlen = {};  ///< the length of the longest sequence by default
  DType dtype = DType::Int32;
  std::string padding = "pre";     ///< fills shorter sequences before ("pre") or after ("post") their steps
  std::string truncating = "pre";  ///< cuts longer sequences at the begin ("pre") or the end ("post")
  Scalar value = 0;                ///< the padding value
};

namespace detail {
/// A view of the numbers of a sequence, valid during a call.
struct Sequence {
  const void* numbers;
  std::int64_t count;
};
Tensor pad_sequences(const std::vector<Sequence>& sequences, DType dtype, const PadSequencesOptions& options);
}  // namespace detail

/// Returns sequences of numbers as the rows of a matrix, (sequences, maxlen). Throws ValueError for an
/// unknown `padding` or `truncating` and for a negative maxlen, TypeError for a value that the dtype cannot
/// hold. `keras.utils.pad_sequences`.
///
///     data::pad_sequences({{1, 2}, {3}}, {.padding = "post"})       // ((1, 2), (3, 0))
///
/// For example:
///
///     std::cout << data::pad_sequences({{1, 2}, {3}}, {.padding = "post"});
template <Arithmetic T = int>
requires(!std::same_as<T, bool>) Tensor
    pad_sequences(const std::vector<std::vector<T>>& sequences, const PadSequencesOptions& options = {}) {
  std::vector<detail::Sequence> views;
  for (const std::vector<T>& sequence : sequences) views.push_back({sequence.data(), std::ssize(sequence)});
  return detail::pad_sequences(views, dtype_of<T>(), options);
}

struct TimeseriesOptions {
  std::int64_t sequence_length = 0;              ///< the number of steps of a window; required
  std::int64_t sequence_stride = 1;              ///< the distance between the first steps of windows
  std::int64_t sampling_rate = 1;                ///< the distance between the steps of a window
  std::optional<std::int64_t> batch_size = 128;  ///< the batch size; none for single windows
  bool shuffle = false;                          ///< whether each iteration has a new random order
  std::optional<std::int64_t> seed = {};         ///< the seed of the random order
  std::optional<std::int64_t> start_index = {}, end_index = {};  ///< the part of the data that is used
};

/// Returns the windows of a series of steps (first axis), in batches: (batch, sequence_length, ...), and the
/// targets at the places of the windows' first steps; shift the targets to predict later steps. A window may
/// begin at each of the first `end - start - (sequence_length - 1) * sampling_rate` steps, if there is a
/// target for the window. Throws ValueError for numbers out of range and if no window fits.
/// `keras.utils.timeseries_dataset_from_array`.
///
///     auto windows = data::timeseries_from_array(series, series[{{7}}], {.sequence_length = 7});
///
/// Without targets, or with `Tensor()` as targets, the elements are windows alone.
///
///     auto windows = data::timeseries_from_array(K::arange(6., {.dtype = "float32"}),
///                                                {.sequence_length = 3});
///     for (const data::Element& batch : windows) std::cout << batch[0];
Dataset timeseries_from_array(const Tensor& data, const Tensor& targets, const TimeseriesOptions& options);
Dataset timeseries_from_array(const Tensor& data, const TimeseriesOptions& options);
/// Calls `timeseries_from_array`, under the name of the Keras function.
///
///     Tensor x = K::arange(6., {.dtype = "float32"});
///     auto windows = data::timeseries_dataset_from_array(
///         x, x[{Slice(3, None)}], {.sequence_length = 3, .batch_size = 2});
///     for (const data::Element& batch : windows)
///       std::cout << batch[0] << " " << batch[1] << "\n";
Dataset timeseries_dataset_from_array(const Tensor& data, const Tensor& targets,
                                      const TimeseriesOptions& options);
Dataset timeseries_dataset_from_array(const Tensor& data, const TimeseriesOptions& options);

struct TimeseriesGeneratorOptions {
  std::int64_t sampling_rate = 1;
  std::int64_t stride = 1;
  std::int64_t start_index = 0;
  std::optional<std::int64_t> end_index = {};  ///< the last step that is used
  bool shuffle = false;
  bool reverse = false;  ///< whether the steps of a window are reversed, latest first
  std::int64_t batch_size = 128;
  std::optional<std::int64_t> seed = {};
};

/// Makes a dataset of the `length` steps before each target: steps `i - length, ..., i - 1` for `targets[i]`.
/// Throws ValueError for data and targets that differ in length and if no window fits. Mirrors Keras 2's
/// `TimeseriesGenerator`.
///
///     Tensor x = K::arange(6., {.dtype = "float32"});
///     for (const data::Element& batch : data::TimeseriesGenerator(x, x, 3))
///       std::cout << batch[0] << " " << batch[1] << "\n";
///     for (const data::Element& batch :
///          data::TimeseriesGenerator(x, x, 3, {.stride = 2}))
///       std::cout << batch[0] << " " << batch[1];
Dataset TimeseriesGenerator(const Tensor& data, const Tensor& targets, std::int64_t length,
                            const TimeseriesGeneratorOptions& options = {});

}  // namespace ktape::data
